//! Applies a decision about which entities to keep, and logs it.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::registry::SessionIdRegistry;
use crate::reasoning::CurationSummary;
use crate::stored::null_as_default;

/// How many entries the decision log keeps.
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
    let mut applied = CurationApplied::default();
    let mut note = |reference: Option<&str>, action: &str, reason: &str| {
        log.push(DecisionEntry {
            turn,
            reference: reference.map(str::to_owned),
            action: action.to_owned(),
            reason: reason.to_owned(),
            other: Map::new(),
        });
    };
    let summary = &mut applied.summary;
    if decision.clear_all {
        summary.dropped = registry.clear_all();
        note(None, "clear_all", why);
    } else {
        for Retention { reference, reason } in &decision.retain_active {
            if registry.retain(reference, reason).is_err() {
                applied.unknown_refs.push(reference.clone());
                continue;
            }
            summary.retained.push(reference.clone());
            summary.reasons.insert(reference.clone(), reason.clone());
            note(Some(reference), "retain", reason);
        }
        for reference in &decision.demote {
            if registry.demote(reference).is_err() {
                applied.unknown_refs.push(reference.clone());
                continue;
            }
            summary.demoted.push(reference.clone());
            note(Some(reference), "demote", why);
        }
        for reference in &decision.drop {
            if registry.drop_ref(reference).is_err() {
                applied.unknown_refs.push(reference.clone());
                continue;
            }
            summary.dropped.push(reference.clone());
            note(Some(reference), "drop", why);
        }
    }
    let surplus = log.len().saturating_sub(DECISION_LOG_LIMIT);
    log.drain(..surplus);
    applied
}

/// Which entities to keep, set aside and remove.
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
    /// Why, in a sentence.
    pub curation_summary: Option<String>,
}

/// A ref to keep, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retention {
    /// The ref.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Why it is kept.
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

/// What a decision did.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CurationApplied {
    /// What was retained, demoted and dropped.
    pub summary: CurationSummary,
    /// Refs in the decision that no entity has.
    pub unknown_refs: Vec<String>,
}

/// An entry of the decision log.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DecisionEntry {
    /// The turn of the decision.
    #[serde(default, deserialize_with = "null_as_default")]
    pub turn: u32,
    /// The ref it is about; none if it is about all.
    #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// `retain`, `demote`, `drop` or `clear_all`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub action: String,
    /// Why.
    #[serde(default, deserialize_with = "null_as_default")]
    pub reason: String,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}
