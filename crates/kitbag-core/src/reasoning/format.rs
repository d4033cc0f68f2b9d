//! Shows a trace at the detail that a node needs.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CurationSummary, ReasoningTrace, StepSummary, TurnExecutionSummary};
use crate::neutral::{indented, json_line, one_line};
use crate::section::Sections;
use crate::view::{Addition, BUILTIN_VIEWS};

/// Shows the trace as one of the built-in nodes sees it.
#[must_use]
pub fn format_reasoning_for_prompt(trace: &ReasoningTrace, node: ReasoningNode) -> String {
    let [_, think, act, reply] = &BUILTIN_VIEWS;
    let view = match node {
        ReasoningNode::Think => think,
        ReasoningNode::Act => act,
        ReasoningNode::Reply => reply,
    };
    format_reasoning_view(trace, &view.reasoning, &view.additions)
}

/// A node that sees the trace of what was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasoningNode {
    /// Plans.
    Think,
    /// Executes a step.
    Act,
    /// Answers the user.
    Reply,
}

impl FromStr for ReasoningNode {
    type Err = UnknownReasoningNode;

    fn from_str(node: &str) -> Result<Self, Self::Err> {
        match node {
            "think" => Ok(Self::Think),
            "act" => Ok(Self::Act),
            "reply" => Ok(Self::Reply),
            _ => Err(UnknownReasoningNode {
                value: node.to_owned(),
            }),
        }
    }
}

/// There is no such node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown node `{value}`, expected think, act or reply")]
pub struct UnknownReasoningNode {
    /// The node asked for.
    pub value: String,
}

/// What is shown of a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ReasoningView {
    /// The steps of past turns. Whatever of them is shown, why a turn was blocked is shown too;
    /// in full, also what was decided and what happened before.
    pub past_steps: StepDetail,
    /// How many past turns; there are never more than two.
    pub past_turns: usize,
    /// The steps of this turn.
    pub current_steps: StepDetail,
    /// What became of the entities.
    pub curation: CurationDetail,
    /// Whether to show where the conversation stands.
    pub phase: bool,
}

/// How much of a step is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepDetail {
    /// Nothing.
    #[default]
    Hidden,
    /// What the plan said.
    Line,
    /// What came out.
    Outcome,
    /// Everything, with the whole result where it is at hand.
    Full,
}

/// How much of the curation is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CurationDetail {
    /// Nothing.
    #[default]
    Hidden,
    /// What became of which ref, in this turn and in the past turns that are shown.
    Summary,
    /// The log of all decisions, for the node that makes them.
    OwnHistory,
}

/// Shows what a view and its additions ask for.
#[must_use]
pub fn format_reasoning_view(
    trace: &ReasoningTrace,
    view: &ReasoningView,
    additions: &[Addition],
) -> String {
    let mut sections = Sections::default();
    past(&mut sections, trace, view);
    if view.curation == CurationDetail::OwnHistory {
        sections.push("### Your earlier decisions", decisions(trace));
    }
    if additions.contains(&Addition::OlderSteps) {
        let steps = trace.older_steps.iter();
        let steps = steps.map(|step| format_step(step, None, StepDetail::Outcome));
        sections.push("### Earlier steps", steps);
    }
    if additions.contains(&Addition::ContentArchive) {
        let entry = |entry: &super::ArchiveEntry| {
            format!(
                "- `{}`: {}",
                one_line(&entry.key),
                one_line(&entry.description)
            )
        };
        let entries = trace.archive.iter().map(entry);
        sections.push("### Archive (ask by key)", entries);
    }
    sections.push("### This turn", this_turn(trace, view, additions));
    sections.push("### Where we are", standing(trace, view, additions));
    sections.finish("Nothing so far.")
}

/// Shows one step as a list item. Empty if hidden.
///
/// Row ids in it are not hidden here: see [`crate::entity::EntityRegistry::hide_row_ids`].
#[must_use]
pub fn format_step(step: &StepSummary, result: Option<&Value>, detail: StepDetail) -> String {
    let kinds = [step.step_type.as_str(), step.subdomain.as_str()];
    let kinds: Vec<_> = kinds
        .into_iter()
        .filter(|kind| !kind.is_empty())
        .map(one_line)
        .collect();
    let head = match kinds.as_slice() {
        [] => format!("- Step {}", step.step_num),
        kinds => format!("- Step {} ({})", step.step_num, kinds.join(" ")),
    };
    let planned = || format!("{head}: {}", one_line(&step.description));
    match detail {
        StepDetail::Hidden => String::new(),
        StepDetail::Line => planned(),
        StepDetail::Outcome => format!("{head}: {}", indented(&step.outcome, 2)),
        StepDetail::Full => {
            let mut item = planned();
            item.push_str(&format!("\n  outcome: {}", indented(&step.outcome, 4)));
            if !step.entities_involved.is_empty() {
                item.push_str(&format!("\n  entities: {}", refs(&step.entities_involved)));
            }
            if let Some(note) = &step.note {
                item.push_str(&format!("\n  note: {}", indented(note, 4)));
            }
            if let Some(result) = result {
                item.push_str(&format!("\n  result: {}", json_line(result)));
            }
            item
        }
    }
}

fn past(sections: &mut Sections, trace: &ReasoningTrace, view: &ReasoningView) {
    let shown = if view.past_steps == StepDetail::Hidden {
        0
    } else {
        view.past_turns
    };
    if view.past_steps == StepDetail::Full && !trace.reasoning_summary.trim().is_empty() {
        let summary = format!("- {}", indented(&trace.reasoning_summary, 2));
        sections.push("### Earlier reasoning", [summary]);
    }
    let hidden = trace.recent_summaries.len().saturating_sub(shown);
    for turn in trace.recent_summaries.iter().skip(hidden) {
        let mut items = Vec::new();
        if view.past_steps == StepDetail::Full {
            items.extend(decided(turn));
        }
        let steps = turn.steps.iter();
        items.extend(steps.map(|step| format_step(step, None, view.past_steps)));
        items.extend(blocked(turn));
        if view.curation == CurationDetail::Summary {
            items.extend(curated(&turn.entity_curation));
        }
        sections.push(&format!("### Turn {}", turn.turn_num), items);
    }
}

fn this_turn(trace: &ReasoningTrace, view: &ReasoningView, additions: &[Addition]) -> Vec<String> {
    let current = &trace.current;
    let mut items = Vec::new();
    if view.curation == CurationDetail::Summary {
        items.extend(curated(&current.summary.entity_curation));
    }
    if view.current_steps != StepDetail::Hidden {
        items.extend(current.summary.steps.iter().map(|step| {
            format_step(
                step,
                current.results.get(&step.step_num),
                view.current_steps,
            )
        }));
        items.extend(blocked(&current.summary));
    }
    if additions.contains(&Addition::PreviousStepNote) {
        items.extend(said(
            "Note from the previous step",
            current.prev_step_note.as_deref(),
        ));
    }
    if additions.contains(&Addition::Accomplished) {
        items.extend(said("Just accomplished", current.accomplished.as_deref()));
    }
    items
}

/// Where the conversation stands: this turn's word, or the last one's.
fn standing(trace: &ReasoningTrace, view: &ReasoningView, additions: &[Addition]) -> Vec<String> {
    let last = trace.recent_summaries.last();
    let latest = |field: fn(&TurnExecutionSummary) -> &str| {
        let turns = [Some(&trace.current.summary), last];
        turns
            .into_iter()
            .flatten()
            .map(field)
            .find(|text| !text.trim().is_empty())
    };
    let mut items = Vec::new();
    if additions.contains(&Addition::LastTurnLine) {
        items.extend(last.and_then(turn_line));
    }
    if view.phase {
        items.extend(said(
            "Conversation phase",
            latest(|turn| &turn.conversation_phase),
        ));
    }
    if additions.contains(&Addition::UserExpressed) {
        items.extend(said("User expressed", latest(|turn| &turn.user_expressed)));
    }
    items
}

/// A turn in a line: what came out of its steps, and why it stopped.
fn turn_line(turn: &TurnExecutionSummary) -> Option<String> {
    let outcomes = turn
        .steps
        .iter()
        .map(|step| one_line(&step.outcome).into_owned());
    let blocked = turn
        .blocked_reason
        .as_deref()
        .map(|why| format!("blocked: {}", one_line(why)));
    let events: Vec<String> = outcomes
        .chain(blocked)
        .filter(|event| !event.is_empty())
        .collect();
    (!events.is_empty()).then(|| format!("- Last turn: {}", events.join("; ")))
}

fn decided(turn: &TurnExecutionSummary) -> Option<String> {
    let parts = [one_line(&turn.think_decision), one_line(&turn.think_goal)];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| format!("- Decided: {}", parts.join(", ")))
}

fn blocked(turn: &TurnExecutionSummary) -> Option<String> {
    said("Blocked", turn.blocked_reason.as_deref())
}

fn said(what: &str, text: Option<&str>) -> Option<String> {
    let text = text.filter(|text| !text.trim().is_empty())?;
    Some(format!("- {what}: {}", indented(text, 2)))
}

fn curated(curation: &CurationSummary) -> Vec<String> {
    let mut items = Vec::new();
    let kinds = [
        ("Kept", &curation.retained),
        ("Set aside", &curation.demoted),
        ("Dropped", &curation.dropped),
    ];
    for (what, references) in kinds {
        for reference in references {
            let name = one_line(reference);
            items.push(match curation.reasons.get(reference) {
                Some(reason) => format!("- {what} `{name}`: {}", one_line(reason)),
                None => format!("- {what} `{name}`"),
            });
        }
    }
    items
}

fn decisions(trace: &ReasoningTrace) -> Vec<String> {
    let line = |entry: &crate::entity::DecisionEntry| {
        let about = entry
            .reference
            .as_deref()
            .map(|name| format!(" `{}`", one_line(name)));
        let (turn, action) = (entry.turn, one_line(&entry.action));
        let head = format!("- Turn {turn}: {action}{}", about.unwrap_or_default());
        match one_line(&entry.reason) {
            reason if reason.is_empty() => head,
            reason => format!("{head}: {reason}"),
        }
    };
    trace.decisions.iter().map(line).collect()
}

fn refs(references: &[String]) -> String {
    let quoted = references
        .iter()
        .map(|reference| format!("`{}`", one_line(reference)));
    quoted.collect::<Vec<_>>().join(", ")
}
