//! Records refused messages: sender, channel, time and reason. Their text is not kept.

use jiff::Timestamp;
use serde::Serialize;

use crate::error::Result;
use crate::names;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Value, from_row};

/// The most that are kept, the latest ones: senders who may not send must not be able to fill the
/// store.
const MOST: i64 = 10_000;

/// A message that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Refusal {
    /// Its number among all refusals, from 1.
    pub id: u64,
    /// The time when it came.
    pub at: Timestamp,
    /// The channel it came in by.
    pub channel: String,
    /// The sender, as the channel names it.
    pub sender: String,
    /// The reason for the refusal.
    pub reason: String,
}

from_row!(Refusal: id, at, channel, sender, reason);

impl Store {
    /// Records a refused message. Long names are cut, and only the latest 10,000 refusals are kept.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn refuse(
        &self,
        channel: &str,
        sender: &str,
        reason: &str,
        now: Timestamp,
    ) -> Result<()> {
        let [channel, sender, reason] = [channel, sender, reason].map(|text| {
            // Nobody checks the names of a refused sender, so they are cut here; `Body` because
            // they may hold any character.
            Value::Body(text.chars().take(names::LONGEST).collect())
        });
        self.write(async move |tx| {
            // Numbers are given by the maximum, which two transactions must not read at once.
            tx.lock_exclusive("refusal").await?;
            let last: Option<i64> = tx
                .query_one("SELECT max(id) FROM refusal WHERE tenant = $1", ())
                .await?
                .flatten();
            let id = last.unwrap_or(0) + 1;
            let row = [(id, now, (channel, sender, reason))];
            tx.insert("refusal (tenant, id, at, channel, sender, reason)", row)
                .await?;
            let older = "DELETE FROM refusal WHERE tenant = $1 AND id <= $2";
            tx.execute(older, id - MOST).await.map(drop)
        })
        .await
    }

    /// The messages that were refused, the latest first and at most `limit`.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn refusals(&self, limit: u32) -> Result<Vec<Refusal>> {
        let sql = "SELECT id, at, channel, sender, reason FROM refusal \
                   WHERE tenant = $1 ORDER BY id DESC LIMIT $2";
        self.read(async move |tx| tx.query(sql, limit).await).await
    }
}

/// Deletes the refusals of a sender, and returns their number.
pub(crate) async fn forget(tx: &mut Tx<'_>, sender: &str) -> Result<u64> {
    let sql = "DELETE FROM refusal WHERE tenant = $1 AND sender = $2";
    tx.execute(sql, Value::Body(sender.to_owned())).await
}

/// Deletes the refusals on a channel before a time, and returns their number.
pub(crate) async fn forget_older(
    tx: &mut Tx<'_>,
    channel: String,
    before: Timestamp,
) -> Result<u64> {
    let sql = "DELETE FROM refusal WHERE tenant = $1 AND channel = $2 AND at < $3";
    tx.execute(sql, (Value::Body(channel), before)).await
}
