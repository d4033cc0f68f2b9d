//! Finds rows that belong to missing rows, and numbers that were never given out.
//!
//! Messages and the index of each scope are checked elsewhere, one by one. Numbers are read as
//! plain integers and not as ids: one out of range must be reported here, not end the check.

use crate::error::Result;
use crate::schema;
use crate::transaction::Tx;

/// Looks for rows whose scope, conversation or message is missing, and for wrong counts.
pub(super) async fn check(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    let mut tables = schema::tables();
    tables.sort_by_key(|table| table.name);
    for table in tables.iter().filter(|table| table.has("scope")) {
        problems.extend(without_scope(tx, table.name).await?);
        // Messages without a conversation are reported one by one by `check::scope`.
        if table.has("conversation") && table.name != "message" {
            problems.extend(without_conversation(tx, table.name).await?);
        }
    }
    problems.extend(wrong_counts(tx).await?);
    problems.extend(facts_without_source(tx).await?);
    problems.extend(versions_without_message(tx).await?);
    Ok(problems)
}

async fn without_scope(tx: &mut Tx<'_>, table: &str) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT scope, count(*) FROM {table} WHERE tenant = $1 \
         AND NOT EXISTS (SELECT 1 FROM scope WHERE scope.tenant = $1 AND scope.id = {table}.scope) \
         GROUP BY scope ORDER BY scope"
    );
    let mut problems = Vec::new();
    for (scope, count) in tx.query::<(i64, i64)>(&sql, ()).await? {
        let belong = belong(table, count);
        problems.push(format!("{belong} to scope {scope}, which is not there"));
    }
    Ok(problems)
}

async fn without_conversation(tx: &mut Tx<'_>, table: &str) -> Result<Vec<String>> {
    // A row without its scope was reported already, and is left out.
    let sql = format!(
        "SELECT scope, conversation, count(*) FROM {table} WHERE tenant = $1 \
         AND EXISTS (SELECT 1 FROM scope WHERE scope.tenant = $1 AND scope.id = {table}.scope) \
         AND NOT EXISTS (SELECT 1 FROM conversation WHERE conversation.tenant = $1 \
         AND conversation.scope = {table}.scope AND conversation.id = {table}.conversation) \
         GROUP BY scope, conversation ORDER BY scope, conversation"
    );
    let mut problems = Vec::new();
    for (scope, number, count) in tx.query::<(i64, i64, i64)>(&sql, ()).await? {
        let belong = belong(table, count);
        problems.push(format!(
            "{belong} to conversation {scope}.{number}, which is not there"
        ));
    }
    Ok(problems)
}

fn belong(table: &str, count: i64) -> String {
    match count {
        1 => format!("a row of {table} belongs"),
        _ => format!("{count} rows of {table} belong"),
    }
}

/// Counts that are too low. A count yields the next number, so such a one would be given out twice.
async fn wrong_counts(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let mut problems = Vec::new();
    // A negative count marks an unfinished copy, which the copy itself reports.
    let scopes = "SELECT scope.id FROM scope JOIN tenant ON tenant.tenant = scope.tenant \
                  WHERE scope.tenant = $1 AND tenant.scopes >= 0 AND scope.id > tenant.scopes \
                  ORDER BY scope.id";
    for scope in tx.query::<i64>(scopes, ()).await? {
        problems.push(format!("scope {scope} has a number that was never given"));
    }
    let conversations = "SELECT scope.id, conversation.id FROM scope JOIN conversation \
                         ON conversation.tenant = scope.tenant AND conversation.scope = scope.id \
                         WHERE scope.tenant = $1 AND conversation.id > scope.conversations \
                         ORDER BY scope.id, conversation.id";
    for (scope, number) in tx.query::<(i64, i64)>(conversations, ()).await? {
        problems.push(format!(
            "conversation {scope}.{number} has a number that was never given"
        ));
    }
    let turns = "SELECT turn.scope, turn.conversation, turn.id FROM turn JOIN conversation \
                 ON conversation.tenant = turn.tenant AND conversation.scope = turn.scope \
                 AND conversation.id = turn.conversation \
                 WHERE turn.tenant = $1 AND turn.id NOT BETWEEN 1 AND conversation.turns \
                 ORDER BY turn.scope, turn.conversation, turn.id";
    for (scope, conversation, turn) in tx.query::<(i64, i64, i64)>(turns, ()).await? {
        problems.push(format!(
            "turn {scope}.{conversation}.{turn} is not counted in its conversation"
        ));
    }
    Ok(problems)
}

async fn facts_without_source(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let sql = "SELECT sender, key, source_scope, source_conversation, source_seq FROM fact \
               WHERE tenant = $1 AND source_scope IS NOT NULL \
               AND NOT EXISTS (SELECT 1 FROM message WHERE message.tenant = $1 \
               AND message.scope = source_scope AND message.conversation = source_conversation \
               AND message.seq = source_seq) ORDER BY sender, key, version";
    let mut problems = Vec::new();
    type Source = (i64, i64, i64);
    for (sender, key, source) in tx.query::<(String, String, Source)>(sql, ()).await? {
        let (scope, conversation, seq) = source;
        problems.push(format!(
            "fact `{key}` of `{sender}` comes from message {scope}.{conversation}#{seq}, \
             which is not there"
        ));
    }
    Ok(problems)
}

async fn versions_without_message(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let sql = "SELECT DISTINCT scope, conversation, seq FROM message_version \
               WHERE tenant = $1 AND NOT EXISTS (SELECT 1 FROM message \
               WHERE message.tenant = $1 AND message.scope = message_version.scope \
               AND message.conversation = message_version.conversation \
               AND message.seq = message_version.seq) ORDER BY scope, conversation, seq";
    let mut problems = Vec::new();
    for (scope, conversation, seq) in tx.query::<(i64, i64, i64)>(sql, ()).await? {
        problems.push(format!(
            "an older content belongs to message {scope}.{conversation}#{seq}, which is not there"
        ));
    }
    Ok(problems)
}
