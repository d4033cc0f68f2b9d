//! Texts that were added to the requests of clients which keep their conversations themselves.
//!
//! Such a client never learns what was added, so it is remembered by the hash of all that was said up to its
//! place, and put back there in each later request: else a provider would have to read everything behind it
//! again. Nothing here is said by anybody. It is not recalled, and is gone as soon as anything of its
//! sender's is forgotten, since it quotes messages and facts.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::error::{Result, StoreError};
use crate::scope::Scope;
use crate::store::Store;
use crate::transaction::{Tx, placeholders};
use crate::value::Value;

/// Older ones are of conversations that no provider's cache holds any more.
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The most keys in one query.
const TOGETHER: usize = 500;

/// A text that was added to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Splice {
    /// The text, as it was added.
    pub text: String,
    /// When it was first added.
    pub made: Timestamp,
}

impl Store {
    /// The texts that were added at some places of a sender's conversations.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn splices(
        &self,
        channel: &str,
        sender: &str,
        anchors: &[[u8; 32]],
    ) -> Result<BTreeMap<[u8; 32], Splice>> {
        let (channel, sender, anchors) = (channel.to_owned(), sender.to_owned(), anchors.to_vec());
        self.read(async move |tx| {
            let mut found = BTreeMap::new();
            let Some(scope) = Scope::find(tx, &channel, &sender).await? else {
                return Ok(found);
            };
            for some in anchors.chunks(TOGETHER) {
                let sql = format!(
                    "SELECT anchor, body, made FROM splice WHERE tenant = $1 AND scope = $2 \
                     AND anchor IN ({})",
                    placeholders(3, some.len())
                );
                let some: Vec<Value> = some.iter().map(anchor_value).collect();
                let rows = tx.query::<(Vec<u8>, String, Timestamp)>(&sql, (scope.id, some));
                for (anchor, text, made) in rows.await? {
                    found.insert(hash(anchor)?, Splice { text, made });
                }
            }
            Ok(found)
        })
        .await
    }

    /// Adds a text at a place, and returns the one to add: that of another request, if that was added there
    /// since `fresh`. Secrets are masked.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn splice(
        &self,
        (channel, sender): (&str, &str),
        anchor: [u8; 32],
        text: String,
        (fresh, now): (Timestamp, Timestamp),
    ) -> Result<String> {
        let (channel, sender) = (channel.to_owned(), sender.to_owned());
        let text = self.secrets().masked(text);
        self.write(async move |tx| {
            let scope = Scope::lock_or_make(tx, &channel, &sender).await?;
            let sql = "SELECT body FROM splice WHERE tenant = $1 AND scope = $2 AND anchor = $3 \
                       AND made >= $4";
            let there = (scope.id, anchor_value(&anchor), fresh);
            if let Some(there) = tx.query_one(sql, there).await? {
                return Ok(there);
            }
            let old = now.checked_sub(KEPT).unwrap_or(Timestamp::MIN);
            let sql = "DELETE FROM splice WHERE tenant = $1 AND scope = $2 AND made < $3";
            tx.execute(sql, (scope.id, old)).await?;
            let or = "ON CONFLICT (tenant, scope, anchor) DO UPDATE SET made = excluded.made, \
                      body = excluded.body";
            let row = (
                scope.id,
                (anchor_value(&anchor), now, Value::Body(text.clone())),
            );
            tx.insert_or("splice (tenant, scope, anchor, made, body)", or, [row])
                .await?;
            Ok(text)
        })
        .await
    }
}

/// Removes the texts of some scopes.
pub(crate) async fn forget(tx: &mut Tx<'_>, scopes: &[u32]) -> Result<()> {
    for scope in scopes {
        let sql = "DELETE FROM splice WHERE tenant = $1 AND scope = $2";
        tx.execute(sql, *scope).await?;
    }
    Ok(())
}

fn anchor_value(anchor: &[u8; 32]) -> Value {
    Value::Blob(anchor.to_vec())
}

fn hash(anchor: Vec<u8>) -> Result<[u8; 32]> {
    let hash = anchor.try_into();
    hash.map_err(|_| StoreError::damaged("splice", "an anchor has not 32 bytes"))
}
