//! Messages that were refused: who sent them, where, when and why. Nothing of their words is kept.

use jiff::Timestamp;
use serde::Serialize;

use crate::error::Result;
use crate::names;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Value, from_row};

/// So many are kept, the latest: whoever may not send messages must not fill the store with them.
const MOST: i64 = 10_000;

/// A message that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Refusal {
    /// Counts the refusals, from 1.
    pub id: u64,
    /// When it came.
    pub at: Timestamp,
    /// Where it came in.
    pub channel: String,
    /// Who sent it, as the channel says.
    pub sender: String,
    /// Why it was refused.
    pub reason: String,
}

from_row!(Refusal: id, at, channel, sender, reason);

impl Store {
    /// Records a refused message. Of long names the beginning is kept, and of all refusals the
    /// latest 10,000.
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
            // Names of somebody who is refused are checked by nobody.
            Value::Body(text.chars().take(names::LONGEST).collect())
        });
        self.write(async move |tx| {
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
