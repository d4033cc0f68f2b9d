//! Shows a trace at the detail that a node needs.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CurationSummary, ReasoningTrace, StepSummary, TurnExecutionSummary};
use crate::chunk::{ChunkType, ContextPriority};
use crate::neutral::{indented, json_line, one_line};
use crate::view::item::{Item, list};
use crate::view::{Addition, BUILTIN_VIEWS};

/// How many of Understand's own decisions are shown where there is no room for all.
const LATEST_DECISIONS: usize = 5;

/// Shows the trace as one of the built-in nodes sees it.
#[must_use]
pub fn format_reasoning_for_prompt(trace: &ReasoningTrace, node: ReasoningNode) -> String {
    let [_, think, act, reply, _] = &BUILTIN_VIEWS;
    let view = match node {
        ReasoningNode::Think => think,
        ReasoningNode::Act => act,
        ReasoningNode::Reply => reply,
    };
    let items = trace_items(trace, &view.reasoning, &view.additions);
    list(&items, NO_TRACE)
}

/// Stands in place of the trace where there is none.
pub(crate) const NO_TRACE: &str = "Nothing so far.";

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

impl ReasoningView {
    /// The past turns that it shows.
    pub(super) fn past<'a>(&self, turns: &'a [TurnExecutionSummary]) -> &'a [TurnExecutionSummary] {
        let shown = match self.past_steps {
            StepDetail::Hidden => 0,
            _ => self.past_turns,
        };
        let hidden = turns.len().saturating_sub(shown);
        turns.get(hidden..).unwrap_or_default()
    }
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

/// What a view and its additions ask for. The additions are critical, and so are this turn's steps
/// for who executes them.
pub(crate) fn trace_items(
    trace: &ReasoningTrace,
    view: &ReasoningView,
    additions: &[Addition],
) -> Vec<Item> {
    let mut items = past(trace, view);
    if view.curation == CurationDetail::OwnHistory {
        items.extend(decisions(trace));
    }
    if additions.contains(&Addition::OlderSteps) {
        let older = trace.older_steps.iter().enumerate();
        items.extend(older.map(|(index, step)| {
            let head = format!("Earlier step {}", step.step_num);
            let text = show(&head, step, None, StepDetail::Outcome);
            let item = Item::new(ChunkType::Step, format!("older_step/{index}"), [text]);
            item.with_priority(ContextPriority::Low)
        }));
    }
    if additions.contains(&Addition::ContentArchive) {
        items.extend(archive(trace));
    }
    items.extend(this_turn(trace, view, additions));
    items.extend(standing(trace, view, additions));
    items
}

fn past(trace: &ReasoningTrace, view: &ReasoningView) -> Vec<Item> {
    let mut items = Vec::new();
    if view.past_steps == StepDetail::Full {
        let earlier = trace.reasoning_summary.as_str();
        let kind = ChunkType::Step;
        items.extend(Item::labelled(
            kind,
            "reasoning_summary",
            "Earlier reasoning",
            earlier,
        ));
    }
    for turn in view.past(&trace.recent_summaries) {
        items.extend(turn_head(turn, view));
        let head = |step: &StepSummary| format!("Turn {}, step {}", turn.turn_num, step.step_num);
        let steps = turn.steps.iter();
        items.extend(
            steps.filter_map(|step| {
                step_item(&head(step), turn.turn_num, step, None, view.past_steps)
            }),
        );
    }
    items
}

/// What a turn decided and what became of it, beyond its steps.
fn turn_head(turn: &TurnExecutionSummary, view: &ReasoningView) -> Option<Item> {
    let decided = decided(turn).filter(|_| view.past_steps == StepDetail::Full);
    let mut head = format!("Turn {}", turn.turn_num);
    if let Some(decided) = &decided {
        head.push_str(&format!(": {decided}"));
    }
    let mut lines = Vec::new();
    if let Some(why) = turn.blocked_reason.as_deref() {
        lines.push(format!("blocked: {}", indented(why, 4)));
    }
    if view.curation == CurationDetail::Summary {
        lines.extend(curated(&turn.entity_curation));
    }
    if lines.is_empty() {
        decided.as_ref()?;
    }
    let whole = with_lines(&head, &lines);
    Some(Item::new(
        ChunkType::Step,
        format!("step/{}", turn.turn_num),
        [whole, head],
    ))
}

fn step_item(
    head: &str,
    turn: u32,
    step: &StepSummary,
    result: Option<&Value>,
    most: StepDetail,
) -> Option<Item> {
    let details: &[StepDetail] = match most {
        StepDetail::Hidden => return None,
        StepDetail::Line => &[StepDetail::Line],
        StepDetail::Outcome => &[StepDetail::Outcome],
        StepDetail::Full => &[StepDetail::Full, StepDetail::Outcome, StepDetail::Line],
    };
    let texts: Vec<String> = details
        .iter()
        .map(|&detail| show(head, step, result, detail))
        .collect();
    let source = format!("step/{turn}.{}", step.step_num);
    Some(Item::new(ChunkType::Step, source, texts))
}

fn show(head: &str, step: &StepSummary, result: Option<&Value>, detail: StepDetail) -> String {
    let kinds = [step.step_type.as_str(), step.subdomain.as_str()];
    let kinds: Vec<_> = kinds
        .into_iter()
        .filter(|kind| !kind.is_empty())
        .map(one_line)
        .collect();
    let head = match kinds.as_slice() {
        [] => head.to_owned(),
        kinds => format!("{head} ({})", kinds.join(" ")),
    };
    let planned = format!("{head}: {}", one_line(&step.description));
    match detail {
        StepDetail::Hidden => String::new(),
        StepDetail::Line => planned,
        StepDetail::Outcome => format!("{head}: {}", indented(&step.outcome, 2)),
        StepDetail::Full => {
            let mut lines = Vec::from([format!("outcome: {}", indented(&step.outcome, 4))]);
            if !step.entities_involved.is_empty() {
                lines.push(format!("entities: {}", refs(&step.entities_involved)));
            }
            if let Some(note) = &step.note {
                lines.push(format!("note: {}", indented(note, 4)));
            }
            if let Some(result) = result {
                lines.push(format!("result: {}", json_line(result)));
            }
            with_lines(&planned, &lines)
        }
    }
}

fn decisions(trace: &ReasoningTrace) -> Option<Item> {
    let line = |entry: &crate::entity::DecisionEntry| {
        let about = entry
            .reference
            .as_deref()
            .map(|name| format!(" `{}`", one_line(name)));
        let (turn, action) = (entry.turn, one_line(&entry.action));
        let head = format!("turn {turn}: {action}{}", about.unwrap_or_default());
        match one_line(&entry.reason) {
            reason if reason.is_empty() => head,
            reason => format!("{head}: {reason}"),
        }
    };
    let lines: Vec<String> = trace.decisions.iter().map(line).collect();
    let latest = lines.len().saturating_sub(LATEST_DECISIONS);
    let latest = lines.get(latest..).unwrap_or_default();
    let texts = [
        with_lines("Your earlier decisions:", &lines),
        with_lines("Your latest decisions:", latest),
    ];
    let item = || Item::new(ChunkType::Step, "decisions", texts);
    (!lines.is_empty()).then(|| item().with_priority(ContextPriority::High))
}

fn archive(trace: &ReasoningTrace) -> Option<Item> {
    let entries = trace.archive.iter();
    let lines: Vec<String> = entries
        .map(|entry| {
            let (key, about) = (one_line(&entry.key), one_line(&entry.description));
            format!("`{key}`: {about}")
        })
        .collect();
    let keys: Vec<String> = trace
        .archive
        .iter()
        .map(|entry| entry.key.clone())
        .collect();
    let texts = [
        with_lines("In the archive, to be asked for by key:", &lines),
        format!("In the archive: {}", refs(&keys)),
    ];
    (!lines.is_empty()).then(|| Item::new(ChunkType::Step, "archive", texts).critical())
}

fn this_turn(trace: &ReasoningTrace, view: &ReasoningView, additions: &[Addition]) -> Vec<Item> {
    let current = &trace.current;
    let number = current.summary.turn_num;
    let mut items = Vec::new();
    if view.curation == CurationDetail::Summary {
        let lines = curated(&current.summary.entity_curation);
        if !lines.is_empty() {
            let text = with_lines("Decided about entities in this turn:", &lines);
            items.push(Item::new(ChunkType::Step, "curation", [text]).critical());
        }
    }
    for step in &current.summary.steps {
        let head = format!("This turn, step {}", step.step_num);
        let result = current.results.get(&step.step_num);
        let item = step_item(&head, number, step, result, view.current_steps);
        let priority = match view.current_steps {
            StepDetail::Full => ContextPriority::Critical,
            _ => ContextPriority::High,
        };
        items.extend(item.map(|item| item.with_priority(priority)));
    }
    let mut add = |source: &str, label: &str, text: Option<&str>| {
        let text = text.unwrap_or_default();
        let item = Item::labelled(ChunkType::Step, source, label, text);
        items.extend(item.map(Item::critical));
    };
    if view.current_steps != StepDetail::Hidden {
        let why = current.summary.blocked_reason.as_deref();
        add(&format!("step/{number}"), "This turn is blocked", why);
    }
    if additions.contains(&Addition::PreviousStepNote) {
        let note = current.prev_step_note.as_deref();
        add("note", "Note from the previous step", note);
    }
    if additions.contains(&Addition::Accomplished) {
        let outcomes = current
            .accomplished
            .is_none()
            .then(|| outcomes(&current.summary).join("; "));
        let accomplished = current.accomplished.as_deref().or(outcomes.as_deref());
        add("accomplished", "Just accomplished", accomplished);
    }
    items
}

/// Where the conversation stands: this turn's word, or the last one's.
fn standing(trace: &ReasoningTrace, view: &ReasoningView, additions: &[Addition]) -> Vec<Item> {
    let last = trace.recent_summaries.last();
    let latest = |field: fn(&TurnExecutionSummary) -> &str| {
        let turns = [Some(&trace.current.summary), last];
        let mut texts = turns.into_iter().flatten().map(field);
        texts.find(|text| !text.trim().is_empty())
    };
    let mut items = Vec::new();
    let mut add = |source: &str, label: &str, text: &str| {
        let item = Item::labelled(ChunkType::Step, source, label, text);
        items.extend(item.map(Item::critical));
    };
    if additions.contains(&Addition::LastTurnLine) {
        add(
            "last_turn",
            "Last turn",
            &last.map(events).unwrap_or_default(),
        );
    }
    if view.phase {
        let phase = latest(|turn| &turn.conversation_phase);
        add("phase", "Conversation phase", phase.unwrap_or_default());
    }
    if additions.contains(&Addition::UserExpressed) {
        let wish = latest(|turn| &turn.user_expressed);
        add("user_expressed", "User expressed", wish.unwrap_or_default());
    }
    items
}

/// A turn in a line: what came out of its steps and why it stopped, else what it decided.
fn events(turn: &TurnExecutionSummary) -> String {
    let mut events = outcomes(turn);
    let why = turn.blocked_reason.as_deref().map(one_line);
    events.extend(why.map(|why| format!("blocked: {why}")));
    if events.is_empty() {
        return decided(turn).unwrap_or_default();
    }
    events.join("; ")
}

fn outcomes(turn: &TurnExecutionSummary) -> Vec<String> {
    let steps = turn
        .steps
        .iter()
        .filter(|step| !step.outcome.trim().is_empty());
    steps
        .map(|step| one_line(&step.outcome).into_owned())
        .collect()
}

fn decided(turn: &TurnExecutionSummary) -> Option<String> {
    let parts = [one_line(&turn.think_decision), one_line(&turn.think_goal)];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn curated(curation: &CurationSummary) -> Vec<String> {
    let mut items = Vec::new();
    let kinds = [
        ("kept", &curation.retained),
        ("set aside", &curation.demoted),
        ("dropped", &curation.dropped),
    ];
    for (action, references) in kinds {
        for reference in references {
            let name = one_line(reference);
            items.push(match curation.reasons.get(reference) {
                Some(reason) => format!("{action} `{name}`: {}", one_line(reason)),
                None => format!("{action} `{name}`"),
            });
        }
    }
    items
}

fn with_lines(head: &str, lines: &[String]) -> String {
    let mut text = head.to_owned();
    for line in lines {
        text.push_str(&format!("\n  {line}"));
    }
    text
}

fn refs(references: &[String]) -> String {
    let quoted = references
        .iter()
        .map(|reference| format!("`{}`", one_line(reference)));
    quoted.collect::<Vec<_>>().join(", ")
}
