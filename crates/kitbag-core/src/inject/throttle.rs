//! The choice of context messages for a prompt: deduplication by key and cooldown, as plan, then
//! commit.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::{Consumed, ContextMessage};
use crate::assembly::Reason;

/// Decides which messages the next inference's prompt holds. Changes nothing: see
/// [`InjectionPlan::change`].
///
/// Of several prompt-injected messages with one key, the last content is emitted at the place of
/// the first. Such a message is emitted when it was never emitted, when its content changed, or
/// when its cooldown is over. Conversation messages bypass both rules. Blank ones are held.
#[must_use]
pub fn plan(
    messages: &[ContextMessage],
    state: &ThrottleState,
    reading: CooldownReading,
) -> InjectionPlan {
    let mut plan = InjectionPlan {
        emitted: Vec::new(),
        held: Vec::new(),
        change: StateChange {
            step: state.step,
            emitted: BTreeMap::new(),
            consumed: Vec::new(),
        },
    };
    for message in deduplicated(messages) {
        // Before the cooldown, so that a blank message never counts as emitted.
        if message.content.trim().is_empty() {
            plan.hold(message, Reason::Empty);
        } else if !message.should_throttle() {
            plan.emitted.push(message.clone());
        } else if let Some(until) = state.held_until(message, reading) {
            plan.hold(message, Reason::Cooldown { until });
        } else {
            plan.emit(message);
        }
    }
    plan
}

/// The decision of [`plan`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InjectionPlan {
    /// The messages in the prompt, in order.
    pub emitted: Vec<ContextMessage>,
    /// The messages that are held back, each with its reason.
    pub held: Vec<Held>,
    /// The effects of sending the prompt.
    pub change: StateChange,
}

impl InjectionPlan {
    fn emit(&mut self, message: &ContextMessage) {
        let hash = ContentHash::of(&message.content);
        self.change.emitted.insert(message.key.clone(), hash);
        if message.consume_after_emit {
            self.change.consumed.push(Consumed::new(message));
        }
        self.emitted.push(message.clone());
    }

    fn hold(&mut self, message: &ContextMessage, reason: Reason) {
        self.held.push(Held {
            key: message.key.clone(),
            reason,
        });
    }
}

/// A context message that is not in the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    pub key: String,
    pub reason: Reason,
}

/// The two readings of `cooldown_turns`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CooldownReading {
    /// The number of inferences that are skipped: with 3, emitted at step 0 and next at step 4.
    #[default]
    Skipped,
    /// The distance between emissions: with 3, emitted at step 0 and next at step 3.
    Distance,
}

/// The latest emissions in one conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThrottleState {
    /// The number of inferences so far.
    pub step: u64,
    /// The latest emission of each key.
    #[serde(default)]
    pub emitted: BTreeMap<String, Emitted>,
}

impl ThrottleState {
    /// Returns the step at which `message` is due again, if it is not due now.
    fn held_until(&self, message: &ContextMessage, reading: CooldownReading) -> Option<u64> {
        let last = self.emitted.get(&message.key)?;
        // Changed content is news: the cooldown of the earlier content does not hold it back.
        if last.content != ContentHash::of(&message.content) || message.cooldown_turns == 0 {
            return None;
        }
        let distance = match reading {
            CooldownReading::Skipped => u64::from(message.cooldown_turns) + 1,
            CooldownReading::Distance => u64::from(message.cooldown_turns),
        };
        let due = last.step.saturating_add(distance);
        (self.step < due).then_some(due)
    }

    /// Applies a plan's change: the prompt was sent.
    ///
    /// # Errors
    /// When the state has moved on since the plan was made. A second commit of the same change is
    /// refused like that too, so that a retry counts once.
    pub fn commit(&mut self, change: &StateChange) -> Result<(), StaleChange> {
        // Another prompt was sent meanwhile, or this one was committed already.
        if self.step != change.step {
            return Err(StaleChange {
                planned: change.step,
                current: self.step,
            });
        }
        for (key, content) in &change.emitted {
            let emitted = Emitted {
                step: change.step,
                content: *content,
            };
            self.emitted.insert(key.clone(), emitted);
        }
        self.step = self.step.saturating_add(1);
        Ok(())
    }
}

/// The latest emission of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emitted {
    pub step: u64,
    content: ContentHash,
}

/// The effects of sending a prompt, to be committed once the provider's first byte has arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StateChange {
    /// The step that the plan was made for.
    pub step: u64,
    emitted: BTreeMap<String, ContentHash>,
    /// The durable entries to remove.
    pub consumed: Vec<Consumed>,
}

/// A change that was planned for another step than the current one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the change was planned at step {planned}, but the conversation is at step {current}")]
pub struct StaleChange {
    /// The plan's step.
    pub planned: u64,
    /// The conversation's step.
    pub current: u64,
}

/// The first 64 bits of a content's BLAKE3 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct ContentHash(u64);

impl ContentHash {
    pub(super) fn of(content: &str) -> Self {
        let hash = blake3::hash(content.as_bytes());
        // The hash has 32 bytes, so the first eight exist.
        let bits = hash
            .as_bytes()
            .first_chunk()
            .map_or(0, |first| u64::from_le_bytes(*first));
        Self(bits)
    }
}

/// Folds messages with one key: the last content, at the first one's place.
fn deduplicated(messages: &[ContextMessage]) -> Vec<&ContextMessage> {
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut kept: Vec<&ContextMessage> = Vec::with_capacity(messages.len());
    for message in messages {
        if message.should_throttle() {
            // At its first place, so that a changed text moves no other.
            let place = *places.entry(&message.key).or_insert(kept.len());
            if let Some(slot) = kept.get_mut(place) {
                *slot = message;
                continue;
            }
        }
        kept.push(message);
    }
    kept
}
