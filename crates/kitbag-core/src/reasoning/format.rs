//! Shows a trace at the detail that a node needs.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ArchiveEntry, CurationSummary, CurrentTurn, RECENT_SUMMARIES, ReasoningTrace, StepSummary,
    TurnExecutionSummary,
};
use crate::chunk::{ChunkType, ContextPriority};
use crate::entity::DecisionEntry;
use crate::neutral::{indented, json_line, one_line};
use crate::view::item::{Item, list, quoted};
use crate::view::{Addition, View, number_of_turns};

/// The number of Understand's own decisions that are shown when there is no room for all.
const LATEST_DECISIONS: usize = 5;

/// Shows the trace as the node of a view sees it: `View::builtin("think")`, `act`, `reply`, or a node of
/// the user's own.
#[must_use]
pub fn format_reasoning_for_prompt(trace: &ReasoningTrace, node: &View) -> String {
    list(&trace_items(trace, node), NO_TRACE)
}

/// The text shown when there is no trace.
pub(crate) const NO_TRACE: &str = "Nothing so far.";

/// The visible parts of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReasoningView {
    /// The steps of past turns. At any visible detail, the reason why a turn was blocked is shown,
    /// too; in full, also the decisions and the summary of earlier turns.
    pub past_steps: StepDetail,
    /// The number of past turns; there are never more than two.
    #[serde(deserialize_with = "number_of_turns")]
    pub past_turns: usize,
    /// The steps of this turn.
    pub current_steps: StepDetail,
    /// The changes to the entities in context.
    pub curation: CurationDetail,
    /// Set to show the phase of the conversation.
    pub phase: bool,
}

impl Default for ReasoningView {
    fn default() -> Self {
        Self::HIDDEN
    }
}

impl ReasoningView {
    /// A view that shows nothing.
    pub(crate) const HIDDEN: Self = Self {
        past_steps: StepDetail::Hidden,
        past_turns: RECENT_SUMMARIES,
        current_steps: StepDetail::Hidden,
        curation: CurationDetail::Hidden,
        phase: false,
    };

    /// Returns the past turns that it shows.
    pub(super) fn past<'a>(&self, turns: &'a [TurnExecutionSummary]) -> &'a [TurnExecutionSummary] {
        let shown = match self.past_steps {
            StepDetail::Hidden => 0,
            _ => self.past_turns,
        };
        let hidden = turns.len().saturating_sub(shown);
        turns.get(hidden..).unwrap_or_default()
    }
}

/// The detail at which a step is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepDetail {
    /// Nothing.
    #[default]
    Hidden,
    /// The words of the plan.
    Line,
    /// The outcome.
    Outcome,
    /// Everything, with the whole result if it is at hand.
    Full,
}

/// The detail at which curation is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CurationDetail {
    /// Nothing.
    #[default]
    Hidden,
    /// The changes by ref, in this turn and in the past turns that are shown.
    Summary,
    /// The log of all decisions, for the node that makes them.
    OwnHistory,
}

/// Returns the items of a view and its additions. The additions are critical, and so are this
/// turn's steps for the node that executes them.
pub(crate) fn trace_items(trace: &ReasoningTrace, view: &View) -> Vec<Item> {
    let mut items = past(trace, &view.reasoning);
    if view.reasoning.curation == CurationDetail::OwnHistory {
        items.extend(decisions(trace));
    }
    if view.additions.contains(&Addition::OlderSteps) {
        let older = trace.older_steps.iter().enumerate();
        items.extend(older.map(|(index, step)| {
            let head = format!("Earlier step {}", step.step_num);
            let text = show(&head, step, None, StepDetail::Outcome);
            let item = Item::new(ChunkType::Step, format!("older_step/{index}"), [text]);
            item.with_priority(ContextPriority::Low)
        }));
    }
    if view.additions.contains(&Addition::ContentArchive) {
        items.extend(archive(trace));
    }
    items.extend(this_turn(&trace.current, &view.reasoning));
    items.extend(additions(trace, view));
    items
}

fn past(trace: &ReasoningTrace, view: &ReasoningView) -> Vec<Item> {
    let mut items = Vec::new();
    // A node that sees outcomes alone gets no account of earlier reasoning either.
    if view.past_steps == StepDetail::Full {
        let (source, label) = ("reasoning_summary", "Earlier reasoning");
        let earlier = Item::labelled(ChunkType::Step, source, label, &trace.reasoning_summary);
        items.extend(earlier);
    }
    for turn in view.past(&trace.recent_summaries) {
        // An item of its own, so that the steps can be left out without the decision.
        items.extend(turn_head(turn, view));
        items.extend(turn.steps.iter().filter_map(|step| {
            let head = format!("Turn {}, step {}", turn.turn_num, step.step_num);
            step_item(&head, turn.turn_num, step, None, view.past_steps)
        }));
    }
    items
}

/// Returns a turn's decision, the reason why it was blocked, and its curation, if there is any of
/// these to show.
fn turn_head(turn: &TurnExecutionSummary, view: &ReasoningView) -> Option<Item> {
    let decided = decided(turn).filter(|_| view.past_steps == StepDetail::Full);
    let mut lines = Vec::new();
    // At every detail: a node that does not know what blocked a turn would try the same again.
    if let Some(why) = turn.blocked_reason.as_deref() {
        lines.push(format!("blocked: {}", indented(why, 4)));
    }
    if view.curation == CurationDetail::Summary {
        lines.extend(curated(&turn.entity_curation));
    }
    if lines.is_empty() {
        decided.as_ref()?;
    }
    let mut head = format!("Turn {}", turn.turn_num);
    if let Some(decided) = decided {
        head.push_str(&format!(": {decided}"));
    }
    let source = format!("step/{}", turn.turn_num);
    // The second is the shorter level, for a budget without room for reasons.
    let texts = [with_lines(&head, &lines), head];
    Some(Item::new(ChunkType::Step, source, texts))
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
    // From the most detailed to the least, as the fitter expects levels.
    let texts = details
        .iter()
        .map(|&detail| show(head, step, result, detail));
    let source = format!("step/{turn}.{}", step.step_num);
    Some(Item::new(
        ChunkType::Step,
        source,
        texts.collect::<Vec<_>>(),
    ))
}

fn show(head: &str, step: &StepSummary, result: Option<&Value>, detail: StepDetail) -> String {
    // On one line each: a description with a line break could look like another item.
    let kinds = [one_line(&step.step_type), one_line(&step.subdomain)].join(" ");
    let head = match kinds.trim() {
        "" => head.to_owned(),
        kinds => format!("{head} ({kinds})"),
    };
    let planned = format!("{head}: {}", one_line(&step.description));
    match detail {
        StepDetail::Hidden => String::new(),
        StepDetail::Line => planned,
        StepDetail::Outcome => format!("{head}: {}", indented(&step.outcome, 2)),
        StepDetail::Full => {
            let mut lines = Vec::from([format!("outcome: {}", indented(&step.outcome, 4))]);
            if !step.entities_involved.is_empty() {
                lines.push(format!("entities: {}", quoted(&step.entities_involved)));
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
    let line = |entry: &DecisionEntry| {
        let mut line = format!("turn {}: {}", entry.turn, one_line(&entry.action));
        if let Some(reference) = &entry.reference {
            line.push_str(&format!(" `{}`", one_line(reference)));
        }
        match one_line(&entry.reason) {
            reason if reason.is_empty() => line,
            reason => format!("{line}: {reason}"),
        }
    };
    let lines: Vec<String> = trace.decisions.iter().map(line).collect();
    // The second level, for when there is no room for all.
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
    let line = |entry: &ArchiveEntry| {
        let (key, about) = (one_line(&entry.key), one_line(&entry.description));
        format!("`{key}`: {about}")
    };
    let lines: Vec<String> = trace.archive.iter().map(line).collect();
    // The shorter level keeps all keys, since a key that is not shown cannot be asked for.
    let keys = quoted(trace.archive.iter().map(|entry| &entry.key));
    let texts = [
        with_lines("In the archive, to be asked for by key:", &lines),
        format!("In the archive: {keys}"),
    ];
    // A node that does not see a key cannot ask for it.
    (!lines.is_empty()).then(|| Item::new(ChunkType::Step, "archive", texts).critical())
}

fn this_turn(current: &CurrentTurn, view: &ReasoningView) -> Vec<Item> {
    let turn = &current.summary;
    let mut items = Vec::new();
    let curated = curated(&turn.entity_curation);
    if view.curation == CurationDetail::Summary && !curated.is_empty() {
        let text = with_lines("Decided about entities in this turn:", &curated);
        items.push(Item::new(ChunkType::Step, "curation", [text]).critical());
    }
    let priority = match view.current_steps {
        // Only the node that executes the steps sees them in full.
        StepDetail::Full => ContextPriority::Critical,
        _ => ContextPriority::High,
    };
    for step in &turn.steps {
        let head = format!("This turn, step {}", step.step_num);
        let result = current.results.get(&step.step_num);
        let item = step_item(&head, turn.turn_num, step, result, view.current_steps);
        items.extend(item.map(|item| item.with_priority(priority)));
    }
    items
}

/// Returns the view's additions, and the phase: that of this turn, or of the last one.
fn additions(trace: &ReasoningTrace, view: &View) -> Vec<Item> {
    let (current, last) = (&trace.current, trace.recent_summaries.last());
    let latest = |field: fn(&TurnExecutionSummary) -> &str| {
        let turns = [Some(&current.summary), last].into_iter().flatten();
        // While this turn has no word, that of the last one holds.
        turns.map(field).find(|text| !text.trim().is_empty())
    };
    let mut items = Vec::new();
    let mut add = |source: &str, label: &str, text: Option<&str>| {
        let item = Item::labelled(ChunkType::Step, source, label, text.unwrap_or_default());
        items.extend(item.map(Item::critical));
    };
    let shows = |addition| view.additions.contains(&addition);
    if view.reasoning.current_steps != StepDetail::Hidden {
        let source = format!("step/{}", current.summary.turn_num);
        let why = current.summary.blocked_reason.as_deref();
        add(&source, "This turn is blocked", why);
    }
    if shows(Addition::PreviousStepNote) {
        let note = current.prev_step_note.as_deref();
        add("note", "Note from the previous step", note);
    }
    if shows(Addition::Accomplished) {
        let outcomes = outcomes(&current.summary).join("; ");
        // A turn that does not say what it accomplished is judged by its steps.
        let accomplished = current.accomplished.as_deref().unwrap_or(&outcomes);
        add("accomplished", "Just accomplished", Some(accomplished));
    }
    if shows(Addition::LastTurnLine) {
        let events = last.map(events);
        add("last_turn", "Last turn", events.as_deref());
    }
    if view.reasoning.phase {
        let phase = latest(|turn| &turn.conversation_phase);
        add("phase", "Conversation phase", phase);
    }
    if shows(Addition::UserExpressed) {
        let wish = latest(|turn| &turn.user_expressed);
        add("user_expressed", "User expressed", wish);
    }
    items
}

/// Sums up a turn in a line: the outcomes of its steps and the reason why it stopped, else its
/// decision.
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
    let outcomes = turn.steps.iter().map(|step| one_line(&step.outcome));
    let outcomes = outcomes.filter(|outcome| !outcome.is_empty());
    outcomes.map(Cow::into_owned).collect()
}

fn decided(turn: &TurnExecutionSummary) -> Option<String> {
    let parts = [one_line(&turn.think_decision), one_line(&turn.think_goal)];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn curated(curation: &CurationSummary) -> Vec<String> {
    let mut lines = Vec::new();
    for (action, references) in [
        ("kept", &curation.retained),
        ("set aside", &curation.demoted),
        ("dropped", &curation.dropped),
    ] {
        lines.extend(references.iter().map(|reference| {
            let done = format!("{action} `{}`", one_line(reference));
            match curation.reasons.get(reference) {
                Some(reason) => format!("{done}: {}", one_line(reason)),
                None => done,
            }
        }));
    }
    lines
}

fn with_lines(head: &str, lines: &[String]) -> String {
    let mut text = head.to_owned();
    for line in lines {
        text.push_str(&format!("\n  {line}"));
    }
    text
}
