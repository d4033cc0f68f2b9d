//! The state of a conversation between turns: the three layers, the durable context messages, the
//! throttle, the epoch of the latest prompt with its key, and the compaction.

use kitbag_core::assembly::Epoch;
use kitbag_core::compact::Compaction;
use kitbag_core::inject::{DurableEntries, EntryAction, ThrottleState};
use kitbag_core::problem::Problem;
use kitbag_core::stored::ConversationContext;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::extension::ConversationValues;
use crate::id::ConversationId;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Row, Value};

/// A part of a conversation's state: a type of the core, and the name it is stored under.
pub(crate) trait Part: Serialize + DeserializeOwned + Send + 'static {
    const KIND: &'static str;
}

impl Part for ConversationContext {
    const KIND: &'static str = "layers";
}

impl Part for ThrottleState {
    const KIND: &'static str = "throttle";
}

impl Part for DurableEntries {
    const KIND: &'static str = "entries";
}

impl Part for Epoch {
    const KIND: &'static str = "epoch";
}

impl Part for Compaction {
    const KIND: &'static str = "compaction";
}

/// The security key of the queries in an epoch's prompts. While it stays the same, so do their
/// bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct EpochKey(pub(crate) String);

impl Part for EpochKey {
    const KIND: &'static str = "epoch_key";
}

/// The state that a conversation keeps between turns besides its messages.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ConversationState {
    /// The three layers: entities, history, reasoning.
    pub layers: ConversationContext,
    /// The durable context messages.
    pub entries: DurableEntries,
    /// The steps at which context messages were last injected.
    pub throttle: ThrottleState,
    /// The epoch that the next prompt continues.
    pub epoch: Option<Epoch>,
    /// The security key of that epoch's prompts.
    pub epoch_key: Option<String>,
    /// The older messages in short.
    pub compaction: Compaction,
    /// The parts that could not be read, which are empty here.
    pub problems: Vec<Problem>,
}

impl Store {
    /// The state of a conversation, read at one moment. A damaged part is empty, and named among
    /// the problems.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn state(&self, id: ConversationId) -> Result<ConversationState> {
        self.read(async move |tx| {
            Conversation::get(tx, id).await?;
            load_all(tx, id).await
        })
        .await
    }

    /// The security key of the conversation's epoch, if its prompts have one.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn epoch_key(&self, id: ConversationId) -> Result<Option<String>> {
        let key: Option<EpochKey> = self.part(id).await?;
        Ok(key.map(|key| key.0))
    }

    /// The three layers of a conversation: entities, history, reasoning.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn layers(&self, id: ConversationId) -> Result<ConversationContext> {
        Ok(self.part(id).await?.unwrap_or_default())
    }

    async fn part<P: Part>(&self, id: ConversationId) -> Result<Option<P>> {
        self.read(async move |tx| {
            Conversation::get(tx, id).await?;
            load(tx, id).await
        })
        .await
    }

    /// Replaces the three layers of a conversation.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn set_layers(&self, id: ConversationId, layers: ConversationContext) -> Result<()> {
        let layers = self.secrets().masked_value(layers);
        self.write(async move |tx| {
            Conversation::lock(tx, id).await?;
            save(tx, id, &layers).await
        })
        .await
    }

    /// Changes the durable context messages of a conversation, in order.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn change_entries(
        &self,
        id: ConversationId,
        actions: Vec<EntryAction>,
    ) -> Result<()> {
        let actions = self.secrets().masked_entries(actions);
        self.write(async move |tx| {
            Conversation::lock(tx, id).await?;
            apply(tx, id, actions).await
        })
        .await
    }
}

/// Applies changes to the durable entries. The conversation is locked.
pub(crate) async fn apply(
    tx: &mut Tx<'_>,
    id: ConversationId,
    actions: Vec<EntryAction>,
) -> Result<()> {
    if actions.is_empty() {
        return Ok(());
    }
    let mut entries: DurableEntries = load(tx, id).await?.unwrap_or_default();
    for action in actions {
        entries.apply(action);
    }
    save(tx, id, &entries).await
}

/// Moves the durable entries of a conversation that has ended to the next one: a reminder does not
/// end with a silence. Both conversations are locked.
pub(crate) async fn hand_over_entries(
    tx: &mut Tx<'_>,
    from: ConversationId,
    to: ConversationId,
) -> Result<()> {
    let sql = "UPDATE state SET conversation = $2 \
               WHERE tenant = $1 AND scope = $3 AND conversation = $4 AND kind = $5";
    let values = (to.number, from, DurableEntries::KIND);
    tx.execute(sql, values).await.map(drop)
}

/// Lists the parts of conversations that cannot be read.
pub(crate) async fn check(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    let sql = "SELECT scope, conversation, kind, json FROM state WHERE tenant = $1 \
               ORDER BY scope, conversation, kind";
    let mut problems = Vec::new();
    // Plain numbers: one out of range is reported by the check of conversations.
    for (scope, conversation, mut row) in tx.query::<(i64, i64, Row)>(sql, ()).await? {
        let of = format!("conversation {scope}.{conversation}");
        match row.read::<(String, String)>() {
            Ok((kind, json)) => {
                if let Err(error) = ConversationState::default().put(&kind, &json) {
                    problems.push(format!("{kind} of {of}: {error}"));
                }
            }
            Err(_) => problems.push(format!("a part of the state of {of} is not a text")),
        }
    }
    Ok(problems)
}

impl ConversationState {
    /// Reads a part from its JSON. A kind of another version is ignored.
    pub(crate) fn put(&mut self, kind: &str, json: &str) -> serde_json::Result<()> {
        match kind {
            ConversationContext::KIND => self.layers = serde_json::from_str(json)?,
            ThrottleState::KIND => self.throttle = serde_json::from_str(json)?,
            DurableEntries::KIND => self.entries = serde_json::from_str(json)?,
            Epoch::KIND => self.epoch = serde_json::from_str(json).map(Some)?,
            Compaction::KIND => self.compaction = serde_json::from_str(json)?,
            ConversationValues::KIND => drop(serde_json::from_str::<ConversationValues>(json)?),
            EpochKey::KIND => self.epoch_key = serde_json::from_str(json).map(Some)?,
            _ => {}
        }
        Ok(())
    }
}

/// All parts of a conversation's state. A damaged part is empty, and named among the problems.
pub(crate) async fn load_all(tx: &mut Tx<'_>, id: ConversationId) -> Result<ConversationState> {
    let sql = "SELECT kind, json FROM state WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
               ORDER BY kind";
    let mut state = ConversationState::default();
    for (kind, json) in tx.query::<(String, String)>(sql, id).await? {
        if let Err(error) = state.put(&kind, &json) {
            let problem = Problem::failed(&kind, damaged(&kind, id, &error));
            state.problems.push(problem);
        }
    }
    Ok(state)
}

/// The state of a conversation that follows another: its durable entries, and nothing else.
pub(crate) async fn load_handed_over(
    tx: &mut Tx<'_>,
    from: ConversationId,
) -> Result<ConversationState> {
    let before = load_all(tx, from).await?;
    let mut state = ConversationState {
        entries: before.entries,
        problems: before.problems,
        ..ConversationState::default()
    };
    // Problems of the parts that are not taken over do not concern the new conversation.
    let problems = &mut state.problems;
    problems.retain(|problem| problem.source == DurableEntries::KIND);
    Ok(state)
}

fn damaged(kind: &str, id: ConversationId, error: &serde_json::Error) -> StoreError {
    StoreError::damaged("state", format!("{kind} of conversation {id}: {error}"))
}

pub(crate) async fn load<P: Part>(tx: &mut Tx<'_>, id: ConversationId) -> Result<Option<P>> {
    let sql = "SELECT json FROM state \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND kind = $4";
    let json: Option<String> = tx.query_one(sql, (id, P::KIND)).await?;
    let part = json.map(|json| serde_json::from_str(&json)).transpose();
    part.map_err(|error| damaged(P::KIND, id, &error))
}

pub(crate) async fn save<P: Part>(tx: &mut Tx<'_>, id: ConversationId, part: &P) -> Result<()> {
    let kind = P::KIND;
    let json = serde_json::to_string(part).map_err(|error| {
        StoreError::failed(format!(
            "{kind} of conversation {id} cannot be written: {error}"
        ))
    })?;
    let into = "state (tenant, scope, conversation, kind, json)";
    let or = "ON CONFLICT (tenant, scope, conversation, kind) DO UPDATE SET json = excluded.json";
    let row = (id, kind, Value::Body(json));
    tx.insert_or(into, or, [row]).await
}

pub(crate) async fn remove<P: Part>(tx: &mut Tx<'_>, id: ConversationId) -> Result<()> {
    let sql = "DELETE FROM state \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND kind = $4";
    tx.execute(sql, (id, P::KIND)).await.map(drop)
}
