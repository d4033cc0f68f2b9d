//! The archive of prompts: what each was made of, so that it can be made again.
//!
//! A prompt is not kept itself. Its texts are kept once each by their hash, and beside them the recipe
//! that says where they stood; the hash of what was sent tells whether the same comes out again.

mod recipe;
mod replay;
mod retention;

use jiff::Timestamp;
use kitbag_core::assembly::{Assembly, AssemblySettings, Draft};
use kitbag_core::inject::{DurableEntries, StateChange, ThrottleState};

use crate::conversation::Conversation;
use crate::error::StoreError;
use crate::id::TurnId;
use crate::lease::Lease;
use crate::state;
use crate::store::Store;
use crate::transaction::Tx;
use crate::turn::{Turn, TurnStatus};
use crate::value::Value;

pub(crate) use recipe::Hash;
use recipe::Recipe;
pub use replay::Replayed;
pub use retention::Pruned;
pub(crate) use retention::{drop_taken_texts, take_texts};

/// The lock under which texts are shared: held together by those who add prompts, alone by those who
/// remove texts that no prompt has any more.
pub(crate) const TEXTS: &str = "texts";

/// A prompt whose first byte of an answer has arrived.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SentPrompt {
    /// Counts the prompts of the turn, from 0.
    pub inference: u32,
    /// What it was assembled from.
    pub draft: Draft,
    /// How it was assembled.
    pub settings: AssemblySettings,
    /// The prompt.
    pub assembly: Assembly,
    /// What sending it changes: cooldowns, and entries that are consumed.
    pub change: Option<StateChange>,
}

impl SentPrompt {
    /// The first prompt of a turn.
    #[must_use]
    pub fn new(draft: Draft, settings: AssemblySettings, assembly: Assembly) -> Self {
        Self {
            inference: 0,
            draft,
            settings,
            assembly,
            change: None,
        }
    }

    /// The same as another prompt of the turn.
    #[must_use]
    pub fn inference(mut self, inference: u32) -> Self {
        self.inference = inference;
        self
    }

    /// The same with what the injection plan changes.
    #[must_use]
    pub fn with_change(mut self, change: StateChange) -> Self {
        self.change = Some(change);
        self
    }
}

impl Store {
    /// Second step of a turn, at the first byte of the answer: archives the prompt, counts what was
    /// injected, and consumes what it consumed. The same prompt a second time changes nothing.
    ///
    /// # Errors
    /// When the lease was lost, when the injections were planned on another state, or when the store
    /// fails; then nothing is consumed.
    pub async fn sent(
        &self,
        lease: &Lease,
        prompt: SentPrompt,
        now: Timestamp,
    ) -> Result<Turn, StoreError> {
        let lease = lease.clone();
        let (recipe, texts) = Recipe::new(&prompt.draft, &prompt.settings, &prompt.assembly);
        let hash = Hash::of(&prompt.assembly.body);
        self.write(move |tx| {
            Box::pin(async move {
                // Whoever forgets takes this before any row; so does whoever sends.
                tx.some_at_a_time(TEXTS).await?;
                Conversation::lock(tx, lease.turn.conversation).await?;
                lease.check(tx).await?;
                let mut turn = Turn::get(tx, lease.turn).await?;
                if let Some(before) = sent_hash(tx, lease.turn, prompt.inference).await? {
                    return if before == hash {
                        Ok(turn)
                    } else {
                        Err(wrong(lease.turn, &prompt, "was sent with another prompt"))
                    };
                }
                if turn.status == TurnStatus::Learned {
                    return Err(wrong(lease.turn, &prompt, "came after the answer"));
                }
                if prompt.inference != turn.inferences {
                    return Err(wrong(lease.turn, &prompt, "is not the next one"));
                }
                commit_change(tx, lease.turn, prompt.change.as_ref()).await?;
                state::save(tx, lease.turn.conversation, &prompt.assembly.epoch).await?;
                archive(tx, lease.turn, &prompt, &hash, &recipe, texts, now).await?;
                turn.inferences = turn.inferences.saturating_add(1);
                turn.status = TurnStatus::Sent;
                turn.sent(tx).await?;
                Ok(turn)
            })
        })
        .await
    }
}

fn wrong(turn: TurnId, prompt: &SentPrompt, problem: &str) -> StoreError {
    StoreError::Turn {
        turn: turn.to_string(),
        problem: format!("cannot go on: inference {} {problem}", prompt.inference),
    }
}

async fn sent_hash(
    tx: &mut Tx<'_>,
    turn: TurnId,
    inference: u32,
) -> Result<Option<Hash>, StoreError> {
    let row = tx
        .query_one(
            "SELECT hash FROM prompt WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
             AND turn = $4 AND inference = $5",
            [
                turn.conversation.scope.into(),
                turn.conversation.number.into(),
                turn.number.into(),
                inference.into(),
            ],
        )
        .await?;
    row.map(|mut row| Hash::from_bytes(&row.blob()?))
        .transpose()
}

/// Cooldowns and consumption, with the prompt that they belong to or not at all.
async fn commit_change(
    tx: &mut Tx<'_>,
    turn: TurnId,
    change: Option<&StateChange>,
) -> Result<(), StoreError> {
    let Some(change) = change else { return Ok(()) };
    let id = turn.conversation;
    let mut throttle: ThrottleState = state::load(tx, id).await?.unwrap_or_default();
    throttle.commit(change).map_err(|stale| StoreError::Turn {
        turn: turn.to_string(),
        problem: format!("cannot go on: {stale}"),
    })?;
    state::save(tx, id, &throttle).await?;
    if !change.consumed.is_empty() {
        let mut entries: DurableEntries = state::load(tx, id).await?.unwrap_or_default();
        entries.consume(&change.consumed);
        state::save(tx, id, &entries).await?;
    }
    Ok(())
}

/// Keeps the prompt. The caller holds [`TEXTS`] together with others.
async fn archive(
    tx: &mut Tx<'_>,
    turn: TurnId,
    prompt: &SentPrompt,
    hash: &Hash,
    recipe: &Recipe,
    texts: recipe::Texts,
    now: Timestamp,
) -> Result<(), StoreError> {
    let at: [Value; 4] = [
        turn.conversation.scope.into(),
        turn.conversation.number.into(),
        turn.number.into(),
        prompt.inference.into(),
    ];
    let [scope, conversation, number, inference] = at.clone();
    tx.insert(
        "prompt (tenant, scope, conversation, turn, inference, sent, hash, bytes, tokens, recipe)",
        vec![[
            scope,
            conversation,
            number,
            inference,
            now.as_microsecond().into(),
            hash.to_value(),
            Value::Int(i64::try_from(prompt.assembly.body.len()).unwrap_or(i64::MAX)),
            prompt.assembly.tokens.0.into(),
            Value::Body(recipe.to_json()?),
        ]],
    )
    .await?;
    let rows = texts.origins.iter().map(|(hash, origin)| {
        let [scope, conversation, number, inference] = at.clone();
        [
            scope,
            conversation,
            number,
            inference,
            hash.to_value(),
            origin.as_str().into(),
        ]
    });
    tx.insert(
        "prompt_text (tenant, scope, conversation, turn, inference, hash, origin)",
        rows.collect(),
    )
    .await?;
    let rows = texts.bodies.into_iter();
    let rows = rows.map(|(hash, body)| [hash.to_value(), Value::Body(body)]);
    tx.insert_new("text (tenant, hash, body)", rows.collect())
        .await
}
