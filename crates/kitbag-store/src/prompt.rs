//! The archive of prompts: the parts of each, so that it can be rebuilt.
//!
//! The text of a prompt is not stored as a whole. Its parts are stored once each by their hash,
//! together with a recipe that says where they stood. The hash of the sent bytes tells if
//! rebuilding gives the same.

mod holders;
mod masked;
mod recipe;
mod replay;
mod retention;

use jiff::Timestamp;
use kitbag_core::assembly::{Assembly, AssemblySettings, Draft, render};
use kitbag_core::compact::ShownCompaction;
use kitbag_core::inject::{ContextMessage, CooldownReading, DurableEntries, ThrottleState, plan};
use kitbag_core::message::Message;

use crate::compacting;
use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::history;
use crate::id::{ConversationId, MessageId, TurnId};
use crate::lease::Lease;
use crate::state::{self, EpochKey};
use crate::store::Store;
use crate::transaction::Tx;
use crate::turn::{StoredTurn, TurnStatus};
use crate::value::Value;

pub(crate) use holders::{PromptKey, holders, let_go};
pub(crate) use recipe::Hash;
use recipe::Recipe;
pub use replay::Replayed;
pub use retention::Pruned;
pub(crate) use retention::{drop_taken_texts, take_texts};

/// The lock for shared texts. Transactions that add prompts share it; those that remove unused
/// texts hold it exclusively.
pub(crate) const TEXTS: &str = "texts";

/// A prompt whose answer has begun to arrive.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SentPrompt {
    /// Its number among the prompts of the turn, from 0.
    pub inference: u32,
    /// The draft that it was assembled from. Its context messages count as emitted, and those that
    /// are consumed by that are consumed.
    pub draft: Draft,
    /// The settings that it was assembled with.
    pub settings: AssemblySettings,
    /// Context messages that stand among its steps for the first time. They count as emitted too.
    pub told: Vec<ContextMessage>,
    /// The prompt.
    pub assembly: Assembly,
    /// The bytes that were sent: the prompt itself if its form is a text, otherwise the JSON made
    /// from it.
    pub body: String,
    /// The fields of the sent request in order; none if it is exactly what the prompt makes, or no
    /// request.
    pub fields: Option<Vec<RequestField>>,
    /// The compaction that it shows and that the conversation does not have yet.
    pub compaction: Option<Box<ShownCompaction>>,
    /// The security key of the queries in it, which the next prompts of the conversation reuse.
    pub key: Option<String>,
}

/// A field of a request that differs from what its prompt makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestField {
    /// Its name.
    pub name: String,
    /// Its value as JSON; none if it is the one that the prompt makes.
    pub json: Option<String>,
}

impl SentPrompt {
    /// Makes the first prompt of a turn, with the bytes that were sent.
    #[must_use]
    pub fn new(
        draft: Draft,
        settings: AssemblySettings,
        assembly: Assembly,
        body: impl Into<String>,
    ) -> Self {
        Self {
            inference: 0,
            draft,
            settings,
            told: Vec::new(),
            assembly,
            body: body.into(),
            fields: None,
            compaction: None,
            key: None,
        }
    }

    /// Sets its number among the prompts of the turn.
    #[must_use]
    pub fn inference(mut self, inference: u32) -> Self {
        self.inference = inference;
        self
    }

    /// Sets the fields of a request that was changed before it was sent.
    #[must_use]
    pub fn with_fields(mut self, fields: Vec<RequestField>) -> Self {
        self.fields = Some(fields);
        self
    }

    /// The same with context messages that stand among its steps for the first time.
    #[must_use]
    pub fn with_told(mut self, told: Vec<ContextMessage>) -> Self {
        self.told = told;
        self
    }

    /// The same with a compaction that the conversation is to keep, unless it has changed since it was read.
    #[must_use]
    pub fn with_compaction(mut self, compaction: Option<Box<ShownCompaction>>) -> Self {
        self.compaction = compaction;
        self
    }

    /// The same with the security key of the queries in it.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Refuses a prompt that was not assembled from its draft: the draft's context messages would
    /// be counted and consumed although no model saw them, and the prompt could not be rebuilt.
    fn check(&self, turn: TurnId) -> Result<()> {
        let Assembly {
            kept, body, blocks, ..
        } = &self.assembly;
        let rendered = render(&self.draft, kept, &self.settings);
        let is_sent = !self.settings.form.is_text() || self.body == *body;
        if is_sent && rendered.body == *body && rendered.blocks == *blocks {
            return Ok(());
        }
        let keys = self.draft.injected.iter().map(|one| one.key.as_str());
        let keys: Vec<&str> = keys.collect();
        let problem = match keys.is_empty() {
            true => "holds another prompt than its draft makes".to_owned(),
            false => format!(
                "holds another prompt than its draft makes, so that `{}` was not sent",
                keys.join("`, `")
            ),
        };
        Err(wrong(turn, self, &problem))
    }
}

impl Store {
    /// Second step of a turn, at the first byte of the answer: archives the prompt, counts it as a
    /// step for cooldowns, and consumes those durable context messages in it that are consumed when
    /// they are sent. The turn's message keeps the content that the prompt had in its place.
    /// Sending the same prompt twice changes nothing.
    ///
    /// # Errors
    /// When the lease was lost, the prompt was not made from its draft, or the store fails; then
    /// nothing is consumed.
    pub async fn sent(
        &self,
        lease: &Lease,
        prompt: SentPrompt,
        now: Timestamp,
    ) -> Result<StoredTurn> {
        let lease = lease.clone();
        prompt.check(lease.turn)?;
        let bytes = prompt.body.len();
        // The length of what was sent, taken before masking changes the body.
        let (prompt, masked) = masked::masked(prompt, self.secrets())?;
        let (recipe, texts) = Recipe::new(&prompt, masked)?;
        let body = SentBody {
            hash: Hash::of(&prompt.body),
            bytes,
        };
        self.write(async move |tx| {
            // Before any row, in the same order as forgetting does: otherwise the two could wait
            // for each other.
            tx.lock_shared(TEXTS).await?;
            Conversation::lock(tx, lease.turn.conversation).await?;
            lease.check(tx).await?;
            let mut turn = StoredTurn::get(tx, lease.turn).await?;
            let refuse = |problem| Err(wrong(lease.turn, &prompt, problem));
            let sql = "SELECT hash FROM prompt WHERE tenant = $1 AND scope = $2 \
                       AND conversation = $3 AND turn = $4 AND inference = $5";
            match tx.query_one(sql, (lease.turn, prompt.inference)).await? {
                Some(before) if body.hash == before => return Ok(turn),
                Some(_) => return refuse("was sent with another prompt"),
                None => {}
            }
            if turn.status == TurnStatus::Learned {
                return refuse("came after the answer");
            }
            // A gap would mean that another process has sent a prompt of this turn.
            if prompt.inference != turn.inferences {
                return refuse("is not the next one");
            }
            let id = lease.turn.conversation;
            // Before the epoch is replaced, which tells if anything has changed.
            if let Some(shown) = &prompt.compaction {
                Box::pin(compacting::keep_shown(tx, id, shown)).await?;
            }
            count_step(tx, id, prompt.draft.injected.iter().chain(&prompt.told)).await?;
            state::save(tx, id, &prompt.assembly.epoch).await?;
            if let Some(key) = &prompt.key {
                state::save(tx, id, &EpochKey(key.clone())).await?;
            }
            keep_content(tx, turn.message, &prompt.draft.current).await?;
            archive(tx, lease.turn, &prompt, body, &recipe, texts, now).await?;
            turn.inferences = turn.inferences.saturating_add(1);
            turn.status = TurnStatus::Sent;
            turn.update(tx, None).await?;
            Ok(turn)
        })
        .await
    }
}

/// The hash of the sent bytes without their secrets, and the length of the sent ones.
#[derive(Clone, Copy)]
struct SentBody {
    hash: Hash,
    bytes: usize,
}

fn wrong(turn: TurnId, prompt: &SentPrompt, problem: &str) -> StoreError {
    StoreError::Turn {
        turn: turn.to_string(),
        problem: format!("cannot go on: inference {} {problem}", prompt.inference),
    }
}

/// Counts an inference whose prompt held these context messages. All of them were emitted by it,
/// even those whose cooldown was not over, so cooldowns are set to 0 here.
async fn count_step(
    tx: &mut Tx<'_>,
    id: ConversationId,
    injected: impl Iterator<Item = &ContextMessage>,
) -> Result<()> {
    let held = injected.cloned();
    let held: Vec<ContextMessage> = held.map(|one| one.with_cooldown_turns(0)).collect();
    let mut throttle: ThrottleState = state::load(tx, id).await?.unwrap_or_default();
    let change = plan(&held, &throttle, CooldownReading::default()).change;
    let committed = throttle.commit(&change);
    committed.map_err(|stale| StoreError::failed(stale.to_string()))?;
    state::save(tx, id, &throttle).await?;
    if !change.consumed.is_empty() {
        let mut entries: DurableEntries = state::load(tx, id).await?.unwrap_or_default();
        entries.consume(&change.consumed);
        state::save(tx, id, &entries).await?;
    }
    Ok(())
}

/// Keeps the content that the prompt held in place of the turn's message, if it differs from the
/// message's own.
async fn keep_content(tx: &mut Tx<'_>, id: MessageId, current: &Message) -> Result<()> {
    let Some(stored) = history::get(tx, id).await? else {
        return Ok(()); // It was forgotten meanwhile.
    };
    if stored.sent_as.as_ref().unwrap_or(&stored.message.content) == &current.content {
        return Ok(());
    }
    let json = serde_json::to_string(&current.content).map_err(|error| {
        StoreError::failed(format!(
            "message {id} cannot be written as it was sent: {error}"
        ))
    })?;
    let sql = "UPDATE message SET sent_as = $2 \
               WHERE tenant = $1 AND scope = $3 AND conversation = $4 AND seq = $5";
    tx.execute(sql, (Value::Body(json), id)).await.map(drop)
}

/// Writes the prompt. The caller shares [`TEXTS`].
async fn archive(
    tx: &mut Tx<'_>,
    turn: TurnId,
    prompt: &SentPrompt,
    body: SentBody,
    recipe: &Recipe,
    mut texts: recipe::Texts,
    now: Timestamp,
) -> Result<()> {
    let id = (turn, prompt.inference);
    // Boxed, so that the future of a turn stays small.
    Box::pin(holders::leave_out_known(tx, id, &mut texts)).await?;
    let bytes = i64::try_from(body.bytes).unwrap_or(i64::MAX);
    let recipe = Value::Body(recipe.to_json()?);
    tx.insert(
        "prompt (tenant, scope, conversation, turn, inference, sent, hash, bytes, tokens, recipe)",
        [(id, now, body.hash, bytes, prompt.assembly.tokens.0, recipe)],
    )
    .await?;
    let origins = texts.origins.into_iter();
    tx.insert(
        "prompt_text (tenant, scope, conversation, turn, inference, hash, origin)",
        origins.map(|(hash, origin)| (id, hash, origin)),
    )
    .await?;
    let bodies = texts.bodies.into_iter();
    let bodies = bodies.map(|(hash, body)| (hash, Value::Body(body)));
    // Another conversation may have the same text.
    let new = "ON CONFLICT DO NOTHING";
    tx.insert_or("text (tenant, hash, body)", new, bodies).await
}
