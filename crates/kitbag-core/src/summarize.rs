//! Ends a turn: its words and actions enter the stored conversation, and older ones are compressed.
//!
//! There are two steps, because a model that summarises answers later, or not at all:
//! 1. [`end_turn`] stores the turn. Nothing is shortened yet, and it tells which summaries are due.
//! 2. The caller has each [`Compression`] made by a model, or by rules ([`Compression::extract`]), and
//!    puts it in with [`Compression::apply`]. What is never applied stays as it is, and is due again
//!    at the end of the next turn.
//!
//! [`summarize`] does both at once. No model is called here: the caller passes a function that
//! does.

mod compression;
mod due;
mod extract;
mod grounded;
mod infer;
mod score;
mod sentences;
mod turn_lines;

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

pub use compression::{Compressed, Compression, SummaryProblem};
pub use extract::{Speaker, Utterance, extract};
pub use grounded::is_grounded;
pub(crate) use score::binds;
pub(crate) use sentences::{is_question, sentences};

use crate::conversation::{ConversationTurn, PendingKind, PendingState, RECENT_TURNS};
use crate::entity::{DECISION_LOG_LIMIT, SessionIdRegistry};
use crate::reasoning::{CurationSummary, CurrentTurn, RECENT_SUMMARIES, TurnExecutionSummary};
use crate::stored::ConversationContext;
use crate::tokens::{TokenCounter, Tokens};

/// Ends a turn and makes the summaries that are due: each with `compress`, or by rules if that
/// returns nothing, or a summary that is refused.
///
/// Without a model, `compress` is `|_| None`.
///
/// ```
/// use kitbag_core::stored::ConversationContext;
/// use kitbag_core::summarize::{FinishedTurn, SummarySettings, summarize};
/// use kitbag_core::tokens::Characters;
///
/// let mut stored = ConversationContext::new();
/// for (turn, user) in ["I never eat fish.", "What is there?", "Thanks!"].into_iter().enumerate() {
///     let finished = FinishedTurn::new(turn as u32 + 1, user, "There is soup.");
///     let settings = SummarySettings::in_characters();
///     stored = summarize(stored, finished, &settings, &Characters, |_| None).context;
/// }
/// assert_eq!(stored.recent_turns.len(), 2);
/// assert_eq!(stored.history_summary, "User: I never eat fish.\nAssistant: There is soup.");
/// ```
#[must_use]
pub fn summarize(
    context: ConversationContext,
    finished: FinishedTurn,
    settings: &SummarySettings,
    counter: &dyn TokenCounter,
    mut compress: impl FnMut(&Compression) -> Option<String>,
) -> Summarized {
    let TurnEnd {
        mut context,
        compressions,
    } = end_turn(context, finished, settings, counter);
    let mut problems = Vec::new();
    for compression in compressions {
        let made = compression.is_needed().then(|| compress(&compression));
        let made = made.flatten();
        let taken = made.map(|summary| compression.apply(&mut context, &summary, counter));
        if taken != Some(Ok(())) {
            problems.extend(taken.and_then(Result::err));
            let summary = compression.extract(counter);
            // If not even the extract fits, the records that it would replace stay.
            let taken = compression.put(&mut context, &summary, counter);
            problems.extend(taken.err());
        }
    }
    Summarized { context, problems }
}

/// A conversation after a turn, with its summaries.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Summarized {
    /// The conversation.
    pub context: ConversationContext,
    /// The summaries that were refused, with the reasons. Nothing is lost by them.
    pub problems: Vec<SummaryProblem>,
}

/// Stores a finished turn, and returns the summaries that are due.
///
/// - What user and assistant said becomes the last recent turn, word for word.
/// - The turn's execution summary is completed by rules where fields are empty: the phase, what the
///   user let know, and the curation from the decision log.
/// - What waits for the user is stored if the turn proposed or asked something, and else cleared.
/// - Results of steps that analysed or made something go into the archive.
/// - Entities that were mentioned by ref are touched, but for those that this turn demoted, and the
///   registry's turn ends.
#[must_use]
pub fn end_turn(
    mut context: ConversationContext,
    finished: FinishedTurn,
    settings: &SummarySettings,
    counter: &dyn TokenCounter,
) -> TurnEnd {
    let pending = pending_of(&finished);
    let asked = pending.as_ref().map(|pending| pending.kind.clone());
    archive(&mut context, &finished.current);
    let mut summary = finished.current.summary;
    if summary.conversation_phase.trim().is_empty() {
        let phase = infer::phase(&summary, asked.as_ref(), &finished.user);
        summary.conversation_phase = phase.to_owned();
    }
    if summary.user_expressed.trim().is_empty() {
        summary.user_expressed = infer::expressed(&finished.user);
    }
    if summary.entity_curation.is_empty() {
        let log = &context.understand_decision_log;
        summary.entity_curation = CurationSummary::logged(log, summary.turn_num);
    }
    let surplus = context.understand_decision_log.len();
    let surplus = surplus.saturating_sub(DECISION_LOG_LIMIT);
    context.understand_decision_log.drain(..surplus);

    touch(
        &mut context.id_registry,
        &summary,
        [&finished.user, &finished.assistant],
    );
    for result in finished.current.results.values() {
        // A row may have been registered after its step was recorded.
        context.id_registry.keep_rows(result);
    }
    context.id_registry.end_turn();

    let mut turn = ConversationTurn::new(finished.user, "");
    turn.asked = asked;
    turn.routing = finished.routing;
    turn.timestamp = finished.timestamp;
    // A short answer is its own summary.
    if counter.count(&finished.assistant) <= settings.answer {
        turn.assistant_summary = finished.assistant;
    } else {
        turn.assistant = Some(finished.assistant);
    }
    context.recent_turns.push(turn);
    context.turn_summaries.push(summary);
    context.pending_clarification = pending;

    let compressions = due::due(&context, settings);
    TurnEnd {
        context,
        compressions,
    }
}

/// A conversation after a turn, and the summaries that are due.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TurnEnd {
    /// The conversation, in which nothing is shortened.
    pub context: ConversationContext,
    /// The summaries that are due.
    pub compressions: Vec<Compression>,
}

/// A turn that is over.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct FinishedTurn {
    /// Its decisions and actions.
    pub current: CurrentTurn,
    /// The user's words.
    pub user: String,
    /// The assistant's answer, word for word.
    pub assistant: String,
    /// The question that now waits for the user; if none is given, it follows from the decision.
    pub pending: Option<PendingState>,
    /// The router's decision.
    pub routing: Option<Value>,
    /// The time of the turn.
    pub timestamp: String,
}

impl FinishedTurn {
    /// Creates a turn of words alone.
    #[must_use]
    pub fn new(turn_num: u32, user: impl Into<String>, assistant: impl Into<String>) -> Self {
        Self::of(CurrentTurn::new(turn_num), user, assistant)
    }

    /// Creates a turn that decided and did something.
    #[must_use]
    pub fn of(current: CurrentTurn, user: impl Into<String>, assistant: impl Into<String>) -> Self {
        Self {
            current,
            user: user.into(),
            assistant: assistant.into(),
            ..Self::default()
        }
    }
}

/// The amounts that stay as they are, and the lengths of summaries.
///
/// The lengths are in what the counter counts: tokens, or characters with
/// [`Characters`](crate::tokens::Characters).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SummarySettings {
    /// The number of turns that stay word for word; at least one.
    pub recent_turns: usize,
    /// The number of execution summaries that stay whole; at least one.
    pub recent_summaries: usize,
    /// The longest summary of an answer; shorter answers are their own summary.
    pub answer: Tokens,
    /// The longest summary of older turns.
    pub history: Tokens,
    /// The longest summary of the decisions and actions of older turns.
    pub reasoning: Tokens,
    /// The longest summary of the conversation as a whole.
    pub engagement: Tokens,
}

impl Default for SummarySettings {
    fn default() -> Self {
        Self {
            recent_turns: RECENT_TURNS,
            recent_summaries: RECENT_SUMMARIES,
            answer: Tokens(100),
            history: Tokens(400),
            reasoning: Tokens(300),
            engagement: Tokens(60),
        }
    }
}

impl SummarySettings {
    /// Returns the default lengths in characters, four for a token.
    #[must_use]
    pub fn in_characters() -> Self {
        let tokens = Self::default();
        Self {
            answer: Tokens(tokens.answer.0 * 4),
            history: Tokens(tokens.history.0 * 4),
            reasoning: Tokens(tokens.reasoning.0 * 4),
            engagement: Tokens(tokens.engagement.0 * 4),
            ..tokens
        }
    }
}

/// Returns the question that waits for the user after a turn: the caller's, or the one that follows
/// from the decision.
fn pending_of(finished: &FinishedTurn) -> Option<PendingState> {
    if let Some(pending) = &finished.pending {
        // With an empty one the caller says that nothing is open.
        return Some(pending.clone()).filter(|pending| !pending.is_empty());
    }
    let summary = &finished.current.summary;
    let kind = match summary.think_decision.as_str() {
        "propose" => PendingKind::Propose,
        "clarify" => PendingKind::Clarify,
        "ask_user" => PendingKind::AskUser,
        _ => return None,
    };
    let goal = summary.think_goal.trim();
    let context = if goal.is_empty() {
        finished.assistant.as_str()
    } else {
        goal
    };
    let mut pending = PendingState::new(kind, context);
    let asked = sentences(&finished.assistant).into_iter();
    let asked = asked.filter(|sentence| is_question(sentence));
    pending.questions = asked.map(Value::from).collect();
    Some(pending)
}

/// Archives results that no entity holds: those of steps that analysed or made something. The rows
/// that a step read or wrote are the data of its entities.
fn archive(context: &mut ConversationContext, turn: &CurrentTurn) {
    for step in &turn.summary.steps {
        let is_kept = ["read", "write"].contains(&step.step_type.as_str());
        let result = turn.results.get(&step.step_num);
        if let Some(result) = result.filter(|result| !is_kept && !result.is_null()) {
            context.archive(turn.summary.turn_num, step, result.clone());
        }
    }
}

/// Touches the entities that the turn dealt with or named, so that none ages while it is discussed.
fn touch(registry: &mut SessionIdRegistry, turn: &TurnExecutionSummary, said: [&str; 2]) {
    if registry.current_turn() < turn.turn_num {
        // Everything touched from here on belongs to the turn that ends.
        registry.begin_turn(turn.turn_num);
    }
    let told = turn.steps.iter().flat_map(|step| {
        let note = step.note.as_deref().unwrap_or_default();
        [step.outcome.as_str(), note]
    });
    let involved = turn.steps.iter().flat_map(|step| &step.entities_involved);
    let texts: Vec<&str> = told
        .chain(said)
        .chain(involved.map(String::as_str))
        .collect();
    registry.touch_mentioned(&texts.join("\n"));
    // Words about an entity that was set aside do not bring it back.
    for reference in &turn.entity_curation.demoted {
        // An entity that is gone needs no demotion.
        let _gone = registry.demote(reference);
    }
}

#[cfg(test)]
mod tests;
