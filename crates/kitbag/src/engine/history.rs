//! The history's share of a budget, and the fate of the messages beyond it.

use std::collections::BTreeSet;

use kitbag_core::assembly::Epoch;
use kitbag_core::compact::Compaction;
use kitbag_core::content::Content;
use kitbag_core::history::{HistoryRoom, ShortHistory, message_cost};
use kitbag_core::message::Message;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::role::Role;
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::{Contribution, DraftParts, PromptRequest};
use crate::shorten::shorten;

impl Contribution {
    /// Shortens the history to its room, which it returns. Recalled messages that stand in it anyway are
    /// not shown a second time.
    pub(super) fn shorten_history(
        &mut self,
        request: &PromptRequest,
        fixed: Tokens,
        counter: &dyn TokenCounter,
        previous: Option<&Epoch>,
    ) -> HistoryRoom {
        let room = room_beside(fixed, self.draft.compaction.as_ref(), request, counter);
        let mut history = std::mem::take(&mut self.draft.history);
        let unread = self.draft.unread;
        let result = largest_result(request.settings.budget);
        let cut = cut_long(&mut history, room, result, counter);
        let ShortHistory {
            messages,
            earlier,
            problem,
            ..
        } = kitbag_core::history::shorten(history, unread, room, previous, &said, counter);
        let compaction = self.draft.compaction.as_ref();
        // A compaction already says what was left out; the plain count of messages would repeat it.
        let in_short = compaction.and_then(|one| one.chunk(earlier.as_ref()));
        if let Some(earlier) = in_short.or(earlier) {
            self.add(earlier);
        }
        self.problems.extend(problem);
        let shown: BTreeSet<&str> = messages
            .iter()
            .filter_map(|one| one.id.as_deref())
            .collect();
        let cut = shown.iter().filter(|id| cut.contains(**id)).count();
        self.problems.extend(long_messages(cut));
        let is_shown = |source: &str| {
            let message = source.strip_prefix("message/");
            message.is_some_and(|id| shown.contains(id))
        };
        self.chunks.retain(|ranked| !is_shown(&ranked.chunk.source));
        // The same message in the history brings its own redactions.
        self.redacted.retain(|one| !is_shown(&one.source));
        self.draft.history = messages;
        room
    }
}

/// The most tokens of the history: three quarters of the budget that everything else in the prompt leaves,
/// so that facts and recalled messages have room.
#[cfg(feature = "store")]
pub(super) fn room(
    parts: &DraftParts,
    request: &PromptRequest,
    counter: &dyn TokenCounter,
) -> HistoryRoom {
    let fixed = fixed(parts, request, counter);
    room_beside(fixed, parts.compaction.as_ref(), request, counter)
}

/// The tokens of all that must be in besides the conversation so far.
pub(super) fn fixed(
    parts: &DraftParts,
    request: &PromptRequest,
    counter: &dyn TokenCounter,
) -> Tokens {
    let identity = parts.identity.iter().map(|text| counter.count(text));
    let injected = parts.injected.iter();
    let injected = injected.map(|message| counter.count(&message.content));
    let tools = parts.tools.iter().flat_map(|tool| {
        let schema = tool.input_schema.to_string();
        [&tool.name, &tool.description, &schema].map(|text| counter.count(text))
    });
    let said = parts.steps.iter().chain([&request.current]);
    let said = said.map(|message| message_cost(message, counter));
    identity.chain(injected).chain(tools).chain(said).sum()
}

pub(super) fn room_beside(
    fixed: Tokens,
    compaction: Option<&Compaction>,
    request: &PromptRequest,
    counter: &dyn TokenCounter,
) -> HistoryRoom {
    let compaction = compaction.map(|compaction| counter.count(&compaction.text()));
    let fixed = fixed.saturating_add(compaction.unwrap_or_default());
    let left = request.settings.budget.saturating_sub(fixed);
    HistoryRoom {
        // In a small budget a quarter may be less than the line that counts hidden messages.
        tokens: share(left).min(left.saturating_sub(LINE)),
        messages: request.history_messages,
    }
}

/// The most tokens of a tool's result in a prompt of this budget. History shortens no such result further,
/// so that it stays as it was recorded.
pub(crate) const fn largest_result(budget: Tokens) -> Tokens {
    Tokens(budget.0 / 2)
}

/// The history's share of the remaining budget: three quarters.
pub(crate) const fn share(left: Tokens) -> Tokens {
    Tokens(left.0 / 4 * 3)
}

/// Room for the line that counts messages which are not shown, in any form.
const LINE: Tokens = Tokens(64);

/// Leaves the beginning and the end of remembered messages that would take more than half of the room
/// alone: everything before such a message would be left out for its sake. Gives the ids of those.
/// `result` is the most that a tool's result has when it is recorded.
fn cut_long(
    history: &mut [Message],
    room: HistoryRoom,
    result: Tokens,
    counter: &dyn TokenCounter,
) -> BTreeSet<String> {
    // Rounded down to a power of two: a limit that moves with the room would change the text every turn,
    // and with it the cached prefix.
    let most = Tokens(1 << (room.tokens.0 / 2).max(1).ilog2());
    let mut cut = BTreeSet::new();
    for message in history {
        // The result of a tool was cut when it was recorded, and stays as it was sent.
        let most = match message.role {
            Role::Tool => most.max(result),
            _ => most,
        };
        // Only stored messages have an id, by which the full text can be found again.
        if let (Some(id), Content::Text(text)) = (&message.id, &mut message.content)
            && let Some(short) = shorten(text, most, counter)
        {
            *text = short;
            cut.insert(id.clone());
        }
    }
    cut
}

fn long_messages(count: usize) -> Option<Problem> {
    let message = match count {
        0 => return None,
        1 => "of a long message only the beginning and the end are shown".to_owned(),
        _ => format!("of {count} long messages only the beginning and the end are shown"),
    };
    let problem = Problem::new("history", ProblemKind::Shortened, message);
    Some(problem.with_hint("a larger budget shows more of them"))
}

/// The words of a message without the wrapper that it was sent in.
pub(crate) fn said(message: &Message) -> String {
    let text = message.content.text();
    #[cfg(feature = "layouts")]
    if let Some(wrapped) = kitbag_layout::query::Wrapped::parse(&text) {
        // Tags in the user's words were escaped inside the wrapper, and must be escaped outside of it too.
        return kitbag_layout::reserved::neutralise(&wrapped.query).into_owned();
    }
    text.into_owned()
}
