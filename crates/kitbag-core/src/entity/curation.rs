//! Applies a decision about which entities to keep, and logs it.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::registry::SessionIdRegistry;
use crate::reasoning::CurationSummary;
use crate::stored::null_as_default;

/// The number of entries that the decision log keeps.
pub(crate) const DECISION_LOG_LIMIT: usize = 20;

/// Applies a decision to the registry and appends it to the log, which keeps its last
/// [`DECISION_LOG_LIMIT`] entries.
///
/// Retains, then demotes, then drops, so that of two contradicting wishes for one ref the stronger
/// stands. With `clear_all` everything goes and the rest of the decision is moot. Refs that do not
/// exist are returned and not logged.
pub(crate) fn apply_curation(
    registry: &mut SessionIdRegistry,
    log: &mut Vec<DecisionEntry>,
    decision: &CurationDecision,
) -> CurationApplied {
    let turn = registry.current_turn();
    let why = decision.curation_summary.as_deref().unwrap_or_default();
    let entry = |reference: Option<&String>, action: &str, reason: &str| DecisionEntry {
        turn,
        reference: reference.cloned(),
        action: action.to_owned(),
        reason: reason.to_owned(),
        other: Map::new(),
    };
    let mut applied = CurationApplied::default();
    if decision.clear_all {
        applied.summary.dropped = registry.clear_all();
        log.push(entry(None, "clear_all", why));
    } else {
        let retain = decision.retain_active.iter();
        let retain = retain.map(|one| (Action::Retain, &one.reference, one.reason.as_str()));
        let demote = decision.demote.iter();
        let demote = demote.map(|one| (Action::Demote, one, why));
        let drop = decision.drop.iter().map(|one| (Action::Drop, one, why));
        let mut done = Vec::new();
        for (action, reference, reason) in retain.chain(demote).chain(drop) {
            let changed = match action {
                Action::Retain => registry.retain(reference, reason),
                Action::Demote => registry.demote(reference),
                Action::Drop => registry.drop_ref(reference),
            };
            match changed {
                // Only decisions that could be carried out are logged.
                Ok(()) => done.push(entry(Some(reference), action.as_str(), reason)),
                Err(_) => applied.unknown_refs.push(reference.clone()),
            }
        }
        // Summed up from the log's own entries, so that the two cannot differ.
        applied.summary = CurationSummary::logged(&done, turn);
        log.extend(done);
    }
    let surplus = log.len().saturating_sub(DECISION_LOG_LIMIT);
    log.drain(..surplus);
    applied
}

/// A wish for one ref.
#[derive(Clone, Copy)]
enum Action {
    Retain,
    Demote,
    Drop,
}

impl Action {
    /// The name in the log.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Retain => "retain",
            Self::Demote => "demote",
            Self::Drop => "drop",
        }
    }
}

/// A decision on the entities to keep, to set aside and to remove.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CurationDecision {
    /// Keep these, each for a reason.
    pub retain_active: Vec<Retention>,
    /// Take these out of the context.
    pub demote: Vec<String>,
    /// Remove these from the registry.
    pub drop: Vec<String>,
    /// Remove everything.
    pub clear_all: bool,
    /// The reason, in a sentence.
    pub curation_summary: Option<String>,
}

/// A ref to keep, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// The ref.
    #[serde(rename = "ref")]
    pub reference: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub reason: String,
}

impl Retention {
    /// Keeps `reference` because of `reason`.
    #[must_use]
    pub fn new(reference: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            reference: reference.into(),
            reason: reason.into(),
        }
    }
}

/// The effects of a decision.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CurationApplied {
    /// The refs that were retained, demoted and dropped.
    pub summary: CurationSummary,
    /// Refs in the decision that no entity has.
    pub unknown_refs: Vec<String>,
}

/// An entry of the decision log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DecisionEntry {
    #[serde(default, deserialize_with = "null_as_default")]
    pub turn: u32,
    /// The ref it is about; none if it is about all.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// `retain`, `demote`, `drop` or `clear_all`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub action: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub reason: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}
