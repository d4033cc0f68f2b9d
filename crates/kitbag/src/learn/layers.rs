//! The three layers after a turn: what was said and done enters them where a conversation has them.
//!
//! Summarize alone writes here. A plain conversation has no layers: its history says all that they would.

use kitbag_core::message::{Message, ToolCall};
use kitbag_core::reasoning::{CurrentTurn, StepSummary};
use kitbag_core::stored::ConversationContext;
use kitbag_core::summarize::{FinishedTurn, SummarySettings, TurnEnd, end_turn, summarize};
use kitbag_core::tokens::TokenCounter;
use kitbag_core::view::TurnState;

use crate::provider::Reply;

/// The layers at the end of a turn.
#[derive(Debug, Clone)]
pub(crate) struct ClosedLayers {
    /// With summaries by rules, as they are stored.
    pub(crate) by_rules: ConversationContext,
    /// Without summaries, and those that are due.
    pub(crate) end: TurnEnd,
}

/// The layers as a turn leaves them.
pub(crate) fn layers_after(
    state: TurnState,
    user: &str,
    (steps, reply): (&[Message], &Reply),
    timestamp: String,
    counter: &dyn TokenCounter,
) -> ClosedLayers {
    let mut turn = state.this_turn;
    let made = steps.iter().flat_map(Message::calls);
    add_calls(&mut turn, made, "called");
    add_calls(&mut turn, &reply.tool_calls, "asked for, and not called");
    let mut finished = FinishedTurn::of(turn, user, reply.text());
    finished.timestamp = timestamp;
    let settings = SummarySettings::default();
    let end = end_turn(
        state.conversation.clone(),
        finished.clone(),
        &settings,
        counter,
    );
    let by_rules = summarize(state.conversation, finished, &settings, counter, |_| None);
    ClosedLayers {
        by_rules: by_rules.context,
        end,
    }
}

/// Adds calls as steps.
fn add_calls<'a>(
    turn: &mut CurrentTurn,
    calls: impl IntoIterator<Item = &'a ToolCall>,
    outcome: &str,
) {
    for call in calls {
        let last = turn.summary.steps.iter().map(|step| step.step_num).max();
        let number = last.map_or(1, |last| last.saturating_add(1));
        let step = StepSummary::new(number, "call", "", &call.name, Some(outcome), 0);
        turn.summary.steps.push(step);
    }
}
