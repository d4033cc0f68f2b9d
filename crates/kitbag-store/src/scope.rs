//! Scopes: the messages of one sender on one channel. Recall and its statistics stay within one.

use kitbag_core::recall::Analysis;

use crate::copy::{UNFINISHED, unfinished};
use crate::error::{Result, StoreError};
use crate::id::ConversationId;
use crate::index::ANALYSIS;
use crate::names;
use crate::transaction::Tx;
use crate::value::{Value, from_row};

/// The row of a scope.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) id: u32,
    /// The conversations it has ever had, counting forgotten ones: the number is never given out
    /// again.
    pub(crate) conversations: u32,
    /// The messages it has ever had.
    pub(crate) arrivals: u32,
    /// The blocks it has ever had.
    pub(crate) blocks: u32,
    /// The passages that can be recalled.
    pub(crate) passages: i64,
    /// The words that they have together.
    pub(crate) words: i64,
    /// The version of the analysis that its words come from.
    pub(crate) analysis: i64,
}

/// The part of a message that can be recalled, as it counts in the scope's totals.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Share {
    passages: i64,
    words: i64,
}

impl Share {
    pub(crate) fn of(analysis: &Analysis) -> Self {
        let mut share = Self::default();
        for passage in analysis.passages.iter().filter(|one| !one.terms.is_empty()) {
            share.passages += 1;
            // Stored lengths have 16 bits; the totals must add up to those.
            share.words += i64::from(passage.words.min(u16::MAX.into()));
        }
        share
    }
}

/// The contents of a scope that a query has to look at besides words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScopeContents {
    /// True if layers of a conversation are kept, which may hold entities.
    pub(crate) layers: bool,
    /// True if any fact is known about the sender.
    pub(crate) facts: bool,
}

from_row!(ScopeContents: layers, facts);

const COLUMNS: &str = "id, conversations, arrivals, blocks, passages, words, analysis";

from_row!(Scope: id, conversations, arrivals, blocks, passages, words, analysis);

/// The query for the scopes of a tenant that meet a condition.
fn select(condition: &str) -> String {
    format!("SELECT {COLUMNS} FROM scope WHERE tenant = $1{condition}")
}

impl Scope {
    /// The scope of a channel and a sender, if they have ever said anything.
    pub(crate) async fn find(tx: &mut Tx<'_>, channel: &str, sender: &str) -> Result<Option<Self>> {
        let sql = select(" AND sender = $2 AND channel = $3");
        tx.query_one(&sql, (sender, channel)).await
    }

    /// The scopes of a sender on all channels, in the order of their numbers.
    pub(crate) async fn all_of(tx: &mut Tx<'_>, sender: &str) -> Result<Vec<Self>> {
        tx.query(&select(" AND sender = $2 ORDER BY id"), sender)
            .await
    }

    /// The scopes of a sender, on one channel or on all, in the order of their numbers, with the
    /// contents that a query has to look at besides words. One statement for all of it: on a server
    /// the round trip costs more than the answer.
    pub(crate) async fn to_recall(
        tx: &mut Tx<'_>,
        sender: &str,
        channel: Option<&str>,
    ) -> Result<Vec<(Self, ScopeContents)>> {
        let on_channel = match channel {
            Some(_) => " AND channel = $3",
            None => "",
        };
        let sql = format!(
            "SELECT {COLUMNS}, EXISTS (SELECT 1 FROM state WHERE state.tenant = $1 \
             AND state.scope = scope.id AND state.kind = 'layers'), \
             EXISTS (SELECT 1 FROM fact WHERE fact.tenant = $1 AND fact.sender = $2 \
             AND fact.until IS NULL) \
             FROM scope WHERE tenant = $1 AND sender = $2{on_channel} ORDER BY id"
        );
        let channel: Vec<Value> = channel.into_iter().map(Value::from).collect();
        tx.query(&sql, (sender, channel)).await
    }

    /// The numbers of all scopes of a scope's sender.
    pub(crate) async fn siblings(tx: &mut Tx<'_>, id: u32) -> Result<Vec<u32>> {
        let sql = "SELECT id FROM scope WHERE tenant = $1 AND sender = \
                   (SELECT sender FROM scope WHERE tenant = $1 AND id = $2) ORDER BY id";
        tx.query(sql, id).await
    }

    /// All scopes of the tenant.
    pub(crate) async fn all(tx: &mut Tx<'_>) -> Result<Vec<Self>> {
        tx.query(&select(" ORDER BY id"), ()).await
    }

    /// A scope by its number.
    pub(crate) async fn get(tx: &mut Tx<'_>, id: u32) -> Result<Option<Self>> {
        tx.query_one(&select(" AND id = $2"), id).await
    }

    /// The channel and the sender of a conversation.
    pub(crate) async fn place(tx: &mut Tx<'_>, id: ConversationId) -> Result<(String, String)> {
        let sql = "SELECT channel, sender FROM scope WHERE tenant = $1 AND id = $2";
        let place = tx.query_one(sql, id.scope).await?;
        place.ok_or_else(|| StoreError::missing("conversation", id))
    }

    /// The sender of a conversation.
    pub(crate) async fn sender(tx: &mut Tx<'_>, id: ConversationId) -> Result<String> {
        let sql = "SELECT sender FROM scope WHERE tenant = $1 AND id = $2";
        let sender = tx.query_one(sql, id.scope).await?;
        sender.ok_or_else(|| StoreError::missing("conversation", id))
    }

    /// Holds off other transactions that lock several scopes or make one. A caller must not have
    /// locked any scope before, so that no two wait for each other. Returns the number of scopes
    /// that were ever made.
    pub(crate) async fn lock_many(tx: &mut Tx<'_>) -> Result<u32> {
        let new = "ON CONFLICT DO NOTHING";
        tx.insert_or("tenant (tenant, scopes)", new, [0_u32])
            .await?;
        let sql = "SELECT scopes FROM tenant WHERE tenant = $1";
        let damaged = |problem: &str| StoreError::damaged("tenant", problem);
        let count: Option<i64> = tx.lock_one(sql, ()).await?;
        let count = count.ok_or_else(|| damaged("it is missing"))?;
        if count == UNFINISHED {
            return Err(unfinished());
        }
        u32::try_from(count).map_err(|_| damaged("its number of scopes is out of range"))
    }

    /// The scope of a conversation, to be changed.
    pub(crate) async fn lock(tx: &mut Tx<'_>, id: ConversationId) -> Result<Self> {
        let scope = Self::lock_by_number(tx, id.scope).await?;
        scope.ok_or_else(|| StoreError::missing("conversation", id))
    }

    /// A scope by its number, to be changed.
    pub(crate) async fn lock_by_number(tx: &mut Tx<'_>, id: u32) -> Result<Option<Self>> {
        tx.lock_one(&select(" AND id = $2"), id).await
    }

    /// Locks the scope of a channel and a sender to change it, and makes it if it is missing.
    pub(crate) async fn lock_or_make(tx: &mut Tx<'_>, channel: &str, sender: &str) -> Result<Self> {
        names::name("the channel", channel)?;
        names::name("the sender", sender)?;
        let sql = select(" AND sender = $2 AND channel = $3");
        if let Some(scope) = tx.lock_one(&sql, (sender, channel)).await? {
            return Ok(scope);
        }
        // Without this lock two nodes could give out the same number, or make the scope twice.
        let count = Self::lock_many(tx).await?;
        // Another transaction may have made it while this one waited.
        if let Some(scope) = tx.lock_one(&sql, (sender, channel)).await? {
            return Ok(scope);
        }
        let scope = Self {
            id: count.saturating_add(1),
            conversations: 0,
            arrivals: 0,
            blocks: 0,
            passages: 0,
            words: 0,
            analysis: ANALYSIS,
        };
        let sql = "UPDATE tenant SET scopes = $2 WHERE tenant = $1";
        tx.execute(sql, scope.id).await?;
        let into = format!("scope (tenant, sender, channel, {COLUMNS})");
        let counters = (scope.id, 0_u32, 0_u32, 0_u32, 0_u32, 0_u32, ANALYSIS);
        tx.insert(&into, [(sender, channel, counters)]).await?;
        Ok(scope)
    }

    /// Adds a message's share to the totals.
    pub(crate) fn add(&mut self, share: Share) {
        self.passages += share.passages;
        self.words += share.words;
    }

    /// Subtracts a message's share from the totals.
    pub(crate) fn take_off(&mut self, share: Share) {
        self.passages -= share.passages;
        self.words -= share.words;
    }

    /// Writes the counters back.
    pub(crate) async fn save(&self, tx: &mut Tx<'_>) -> Result<()> {
        tx.execute(
            "UPDATE scope SET conversations = $2, arrivals = $3, blocks = $4, \
             passages = $5, words = $6, analysis = $7 WHERE tenant = $1 AND id = $8",
            (
                (self.conversations, self.arrivals, self.blocks),
                (self.passages, self.words, self.analysis, self.id),
            ),
        )
        .await?;
        Ok(())
    }
}
