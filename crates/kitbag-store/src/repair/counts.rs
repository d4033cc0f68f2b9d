//! Mends the counts that yield the next number, and makes conversations that only their messages
//! tell of.
//!
//! All of this is done in SQL without reading a row, since a number out of range could not be read.
//! A count above the highest number stays, so that no number is given twice.

use super::damaged::LARGEST;
use crate::error::Result;
use crate::transaction::Tx;

/// Mends the number of scopes that the tenant has ever had.
pub(super) async fn of_tenant(tx: &mut Tx<'_>) -> Result<()> {
    tx.insert_or("tenant (tenant, scopes)", "ON CONFLICT DO NOTHING", [0_u32])
        .await?;
    let highest = "coalesce((SELECT max(id) FROM scope WHERE scope.tenant = $1), 0)";
    let sql = format!(
        "UPDATE tenant SET scopes = {highest} \
         WHERE tenant = $1 AND scopes NOT BETWEEN {highest} AND {LARGEST}"
    );
    tx.execute(&sql, ()).await.map(drop)
}

/// Mends the counts of a scope and its conversations, and makes missing conversations.
pub(super) async fn of_scope(tx: &mut Tx<'_>, scope: u32) -> Result<()> {
    // Without its row a conversation's messages would be unreachable: all reading starts from it.
    let missing = "INSERT INTO conversation \
         (tenant, scope, id, began, active, messages, turns) \
         SELECT $1, $2, conversation, coalesce(min(at), 0), coalesce(max(at), 0), max(seq), 0 \
         FROM message WHERE tenant = $1 AND scope = $2 AND conversation NOT IN \
         (SELECT id FROM conversation WHERE tenant = $1 AND scope = $2) GROUP BY conversation";
    tx.execute(missing, scope).await?;
    let of_it = "tenant = $1 AND scope = $2";
    for (column, highest, table) in [
        ("messages", "max(seq)", "message"),
        ("turns", "max(id)", "turn"),
    ] {
        let highest = format!(
            "coalesce((SELECT {highest} FROM {table} WHERE {table}.tenant = $1 \
             AND {table}.scope = $2 AND {table}.conversation = conversation.id), 0)"
        );
        let sql = format!(
            "UPDATE conversation SET {column} = {highest} \
             WHERE {of_it} AND {column} NOT BETWEEN {highest} AND {LARGEST}"
        );
        tx.execute(&sql, scope).await?;
    }
    // Filters on time skip conversations by these two, so they must enclose every message.
    for (column, extreme, comparison) in [("began", "min(at)", "<"), ("active", "max(at)", ">")] {
        let extreme = format!(
            "(SELECT {extreme} FROM message WHERE message.tenant = $1 AND message.scope = $2 \
             AND message.conversation = conversation.id)"
        );
        let sql = format!(
            "UPDATE conversation SET {column} = {extreme} \
             WHERE {of_it} AND {extreme} {comparison} {column}"
        );
        tx.execute(&sql, scope).await?;
    }
    for (column, highest) in [
        (
            "conversations",
            "(SELECT max(id) FROM conversation WHERE tenant = $1 AND scope = $2)",
        ),
        (
            "arrivals",
            "(SELECT max(arrival) FROM message WHERE tenant = $1 AND scope = $2)",
        ),
    ] {
        let sql = format!(
            "UPDATE scope SET {column} = coalesce({highest}, 0) WHERE tenant = $1 AND id = $2 \
             AND {column} NOT BETWEEN coalesce({highest}, 0) AND {LARGEST}"
        );
        tx.execute(&sql, scope).await?;
    }
    // Rebuilding the index counts these again.
    let sql = "UPDATE scope SET blocks = 0, passages = 0, words = 0 \
               WHERE tenant = $1 AND id = $2";
    tx.execute(sql, scope).await.map(drop)
}
