//! Layer 3: decisions and findings, as turns with their steps, and the curation of entities.
//!
//! ```
//! use kitbag_core::reasoning::{
//!     CurrentTurn, format_reasoning_for_prompt, get_own_decision_history, get_reasoning_trace,
//! };
//! use kitbag_core::view::View;
//!
//! let stored = serde_json::from_str(
//!     r#"{"turn_summaries": [{"turn_num": 3, "steps": [{"step_num": 1, "type": "read", "outcome": "5 soups"}]}],
//!         "understand_decision_log": [{"turn": 3, "ref": "recipe_1", "action": "retain", "reason": "chosen"}]}"#,
//! )?;
//! let trace = get_reasoning_trace(&stored, &CurrentTurn::new(4));
//! let text = format_reasoning_for_prompt(&trace, View::builtin("reply").unwrap());
//! assert!(text.contains("5 soups"));
//! assert_eq!(get_own_decision_history(&stored)[0].reason, "chosen");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here runs or compresses anything. Steps are recorded while a turn is under way
//! ([`crate::view::TurnState::finish_step`]); Summarize owns what is stored ([`crate::summarize`]).

mod format;

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use format::{CurationDetail, ReasoningView, StepDetail, format_reasoning_for_prompt};
pub(crate) use format::{NO_TRACE, trace_items};

use crate::entity::DecisionEntry;
use crate::stored::{ConversationContext, null_as_default};
use crate::view::{Addition, View};

/// The number of latest turns whose summaries are kept whole.
pub(crate) const RECENT_SUMMARIES: usize = 2;

/// Returns the trace of a stored conversation and of the turn that is under way.
#[must_use]
pub fn get_reasoning_trace(stored: &ConversationContext, current: &CurrentTurn) -> ReasoningTrace {
    // Records of other writers may hold more turns than Summarize would keep.
    let older = stored.turn_summaries.len().saturating_sub(RECENT_SUMMARIES);
    ReasoningTrace {
        recent_summaries: stored.turn_summaries.iter().skip(older).cloned().collect(),
        reasoning_summary: stored.reasoning_summary.clone(),
        decisions: stored.understand_decision_log.clone(),
        archive: Vec::from_iter(stored.content_archive.iter().map(ArchiveEntry::of)),
        older_steps: stored.step_summaries.iter().map(older_step).collect(),
        current: current.clone(),
    }
}

/// Returns Understand's own decisions about entities, oldest first.
#[must_use]
pub fn get_own_decision_history(stored: &ConversationContext) -> Vec<DecisionEntry> {
    stored.understand_decision_log.clone()
}

/// The decisions and actions of a conversation, the latest in full.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ReasoningTrace {
    /// The latest turns, oldest first.
    pub recent_summaries: Vec<TurnExecutionSummary>,
    /// A summary of everything before them.
    pub reasoning_summary: String,
    /// The decisions about entities, oldest first.
    pub decisions: Vec<DecisionEntry>,
    /// The contents that can be asked for by key.
    pub archive: Vec<ArchiveEntry>,
    /// Steps from before the recent ones, compressed.
    pub older_steps: Vec<StepSummary>,
    /// The turn that is under way.
    pub current: CurrentTurn,
}

impl ReasoningTrace {
    /// Removes everything that a view hides.
    pub(crate) fn seen_as(mut self, view: &View) -> Self {
        let reasoning = &view.reasoning;
        let shows = |addition| view.additions.contains(&addition);
        self.recent_summaries = reasoning.past(&self.recent_summaries).to_vec();
        // The summary covers the same turns as their steps, so it is removed with them.
        if reasoning.past_steps != StepDetail::Full {
            self.reasoning_summary.clear();
        }
        if reasoning.curation != CurationDetail::OwnHistory {
            self.decisions.clear();
        }
        if !shows(Addition::ContentArchive) {
            self.archive.clear();
        }
        if !shows(Addition::OlderSteps) {
            self.older_steps.clear();
        }
        let expressed = shows(Addition::UserExpressed);
        // Steps are cut in place: getters and prompts then agree on what a node sees.
        for turn in &mut self.recent_summaries {
            turn.limit(reasoning, reasoning.past_steps, expressed);
        }
        let current = &mut self.current;
        let detail = reasoning.current_steps;
        current.summary.limit(reasoning, detail, expressed);
        // Whole results are for the node that executes the steps.
        if detail != StepDetail::Full {
            current.results.clear();
        }
        if !shows(Addition::PreviousStepNote) {
            current.prev_step_note = None;
        }
        if !shows(Addition::Accomplished) {
            current.accomplished = None;
        }
        self
    }
}

/// The decisions and actions of the turn that is under way.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CurrentTurn {
    /// The turn's summary as it grows: number, steps, curation, phase.
    pub summary: TurnExecutionSummary,
    /// The whole result of each step, by its number.
    pub results: BTreeMap<u32, Value>,
    /// The note that the previous step left for the next one.
    pub prev_step_note: Option<String>,
    /// The latest thing that the turn accomplished.
    pub accomplished: Option<String>,
}

impl CurrentTurn {
    /// Creates a turn in which nothing has happened yet.
    #[must_use]
    pub fn new(turn_num: u32) -> Self {
        Self {
            summary: TurnExecutionSummary::new(turn_num),
            ..Self::default()
        }
    }

    /// Records a finished step with its whole result. Its note is for the next step.
    pub(crate) fn finish_step(&mut self, step: StepSummary, result: Value) {
        // Cleared by a step without a note: an older note would be taken for the last one.
        self.prev_step_note.clone_from(&step.note);
        self.results.insert(step.step_num, result);
        self.summary.steps.push(step);
    }
}

/// The decisions and actions of one turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TurnExecutionSummary {
    /// The number of the turn.
    #[serde(deserialize_with = "null_as_default")]
    pub turn_num: u32,
    /// The decision: `plan_direct`, `propose`, `clarify`.
    #[serde(deserialize_with = "null_as_default")]
    pub think_decision: String,
    /// The goal of the decision.
    #[serde(deserialize_with = "null_as_default")]
    pub think_goal: String,
    /// The steps, in order.
    #[serde(deserialize_with = "null_as_default")]
    pub steps: Vec<StepSummary>,
    /// The changes to the entities in context.
    #[serde(deserialize_with = "null_as_default")]
    pub entity_curation: CurationSummary,
    /// The phase of the conversation: `exploring`, `narrowing`, `confirming`.
    #[serde(deserialize_with = "null_as_default")]
    pub conversation_phase: String,
    /// The user's wish: `wants quick meals`.
    #[serde(deserialize_with = "null_as_default")]
    pub user_expressed: String,
    /// The reason why the turn could not be completed, if it could not.
    pub blocked_reason: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl TurnExecutionSummary {
    /// Creates a turn in which nothing has happened yet.
    #[must_use]
    pub fn new(turn_num: u32) -> Self {
        Self {
            turn_num,
            ..Self::default()
        }
    }

    /// Removes everything that a view hides of a turn whose steps it shows at `detail`.
    fn limit(&mut self, view: &ReasoningView, detail: StepDetail, expressed: bool) {
        if detail == StepDetail::Hidden {
            self.steps.clear();
        }
        for step in &mut self.steps {
            match detail {
                StepDetail::Line => step.outcome.clear(),
                StepDetail::Outcome => step.description.clear(),
                StepDetail::Hidden | StepDetail::Full => continue,
            }
            step.note = None;
        }
        // Understand sees its own log instead, which has the same decisions with their reasons.
        if view.curation != CurationDetail::Summary {
            self.entity_curation = CurationSummary::default();
        }
        if !view.phase {
            self.conversation_phase.clear();
        }
        if !expressed {
            self.user_expressed.clear();
        }
    }
}

/// The summary of one step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct StepSummary {
    /// The number of the step in its turn.
    #[serde(deserialize_with = "null_as_default")]
    pub step_num: u32,
    /// `read`, `analyze`, `generate`, `write`.
    #[serde(rename = "type", deserialize_with = "null_as_default")]
    pub step_type: String,
    /// The part of the domain it worked on.
    #[serde(deserialize_with = "null_as_default")]
    pub subdomain: String,
    /// The words of the plan.
    #[serde(deserialize_with = "null_as_default")]
    pub description: String,
    /// The result in words.
    #[serde(deserialize_with = "null_as_default")]
    pub outcome: String,
    /// The refs it touched.
    #[serde(deserialize_with = "null_as_default")]
    pub entities_involved: Vec<String>,
    /// A note for the next step.
    pub note: Option<String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl StepSummary {
    /// Creates a finished step. Its outcome is its own summary of the result or, if it has none,
    /// the number of records it dealt with.
    ///
    /// ```
    /// use kitbag_core::reasoning::StepSummary;
    ///
    /// let summarised = StepSummary::new(1, "read", "recipes", "Find soups", Some("three soups"), 3);
    /// assert_eq!(summarised.outcome, "three soups");
    /// let counted = StepSummary::new(1, "read", "recipes", "Find soups", None, 3);
    /// assert_eq!(counted.outcome, "read: 3 records");
    /// ```
    #[must_use]
    pub fn new(
        step_num: u32,
        step_type: &str,
        subdomain: &str,
        description: &str,
        result_summary: Option<&str>,
        record_count: usize,
    ) -> Self {
        // A blank summary is none, since nodes often write an empty string for it.
        let own_summary = result_summary
            .map(str::trim)
            .filter(|summary| !summary.is_empty());
        Self {
            step_num,
            step_type: step_type.to_owned(),
            subdomain: subdomain.to_owned(),
            description: description.to_owned(),
            outcome: own_summary
                .map_or_else(|| generic_outcome(step_type, record_count), str::to_owned),
            ..Self::default()
        }
    }

    /// Sets the refs that the step touched.
    #[must_use]
    pub fn with_entities(mut self, refs: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.entities_involved = refs.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the note for the next step.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}

fn generic_outcome(step_type: &str, count: usize) -> String {
    match count {
        0 => format!("{step_type}: no records"),
        1 => format!("{step_type}: 1 record"),
        _ => format!("{step_type}: {count} records"),
    }
}

/// The changes that a turn made to the entities in context.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CurationSummary {
    /// Refs kept on purpose.
    #[serde(deserialize_with = "null_as_default")]
    pub retained: Vec<String>,
    /// Refs no longer active.
    #[serde(deserialize_with = "null_as_default")]
    pub demoted: Vec<String>,
    /// Refs removed.
    #[serde(
        skip_serializing_if = "Vec::is_empty",
        deserialize_with = "null_as_default"
    )]
    pub dropped: Vec<String>,
    /// The reasons, by ref.
    #[serde(deserialize_with = "null_as_default")]
    pub reasons: BTreeMap<String, String>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl CurationSummary {
    /// Tells whether nothing was decided.
    pub(crate) fn is_empty(&self) -> bool {
        self.retained.is_empty() && self.demoted.is_empty() && self.dropped.is_empty()
    }

    /// Sums up the log's entries of a turn.
    pub(crate) fn logged(log: &[DecisionEntry], turn: u32) -> Self {
        let mut curation = Self::default();
        for entry in log.iter().filter(|entry| entry.turn == turn) {
            let Some(reference) = entry.reference.clone() else {
                continue;
            };
            match entry.action.as_str() {
                "retain" => {
                    let why = entry.reason.clone();
                    // Only what is kept needs a reason: what leaves is not shown any more.
                    curation.reasons.insert(reference.clone(), why);
                    curation.retained.push(reference);
                }
                "demote" => curation.demoted.push(reference),
                "drop" => curation.dropped.push(reference),
                // `clear_all` has no ref, and words of other versions are not known here.
                _ => {}
            }
        }
        curation
    }
}

/// An entry of the archive: its key, and a line about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ArchiveEntry {
    /// The key to ask for.
    pub key: String,
    /// The content in a line.
    pub description: String,
}

impl ArchiveEntry {
    fn of((key, content): (&String, &Value)) -> Self {
        let own = content.get("description").and_then(Value::as_str);
        let description = match (own, content) {
            (Some(description), _) => description.to_owned(),
            // Entries of other writers have no description, so that their shape has to do.
            (None, Value::Array(items)) => format!("{} items", items.len()),
            (None, Value::Object(fields)) => {
                let names: Vec<String> = fields.keys().cloned().collect();
                format!("fields {}", names.join(", "))
            }
            (None, Value::String(text)) => format!("text of {} characters", text.chars().count()),
            (None, other) => other.to_string(),
        };
        Self {
            key: key.clone(),
            description,
        }
    }
}

/// Reads a step in the shape of older records: counted from 0, with an index instead of a number.
fn older_step(step: &Value) -> StepSummary {
    let text = |name: &str| {
        step.get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    // Steps of older records are untyped, and a field of another type counts as missing.
    let number = |name: &str| step.get(name).and_then(Value::as_u64);
    let from_index = || number("step_index").map(|index| index.saturating_add(1));
    let step_num = number("step_num").or_else(from_index).unwrap_or_default();
    StepSummary {
        step_num: u32::try_from(step_num).unwrap_or(u32::MAX),
        step_type: text("type"),
        subdomain: text("subdomain"),
        description: text("description"),
        outcome: text("outcome"),
        ..StepSummary::default()
    }
}

#[cfg(test)]
mod tests;
