//! Room for what was said: how much of a budget the history may take, and what becomes of the rest.

use std::collections::BTreeSet;

use kitbag_core::assembly::{Draft, Epoch};
use kitbag_core::history::{HistoryRoom, ShortHistory, message_cost, shorten};
use kitbag_core::message::Message;
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::{Contribution, PromptRequest};

impl Contribution {
    /// Shortens the history of a draft to its room. Recalled messages that stand in it anyway are
    /// not shown a second time.
    pub(super) fn add_history(
        &mut self,
        draft: &mut Draft,
        unread: usize,
        request: &PromptRequest,
        counter: &dyn TokenCounter,
        previous: Option<&Epoch>,
    ) {
        let room = room(draft, request, counter);
        let history = std::mem::take(&mut draft.history);
        let ShortHistory {
            messages,
            earlier,
            problem,
            ..
        } = shorten(history, unread, room, previous, &said, counter);
        if let Some(earlier) = earlier {
            self.add(earlier);
        }
        self.problems.extend(problem);
        let shown: BTreeSet<&str> = messages
            .iter()
            .filter_map(|one| one.id.as_deref())
            .collect();
        let is_shown = |source: &str| {
            let message = source.strip_prefix("message/");
            message.is_some_and(|id| shown.contains(id))
        };
        self.chunks.retain(|ranked| !is_shown(&ranked.chunk.source));
        self.redacted.retain(|one| !is_shown(&one.source));
        draft.history = messages;
    }
}

/// The most that the history may take: three quarters of what everything else that must be in
/// leaves, so that what is known besides has room.
pub(super) fn room(
    draft: &Draft,
    request: &PromptRequest,
    counter: &dyn TokenCounter,
) -> HistoryRoom {
    let current = message_cost(&request.current, counter);
    let mut fixed = counter.count(&draft.identity).saturating_add(current);
    for message in &draft.injected {
        fixed = fixed.saturating_add(counter.count(&message.content));
    }
    for tool in &draft.tools {
        let schema = tool.input_schema.to_string();
        for text in [&tool.name, &tool.description, &schema] {
            fixed = fixed.saturating_add(counter.count(text));
        }
    }
    for step in &draft.steps {
        fixed = fixed.saturating_add(message_cost(step, counter));
    }
    let left = request.settings.budget.saturating_sub(fixed);
    HistoryRoom {
        tokens: Tokens(left.0 / 4 * 3),
        messages: request.history_messages,
    }
}

/// The words of a message without the wrapper that it was sent in.
fn said(message: &Message) -> String {
    let text = message.content.text();
    #[cfg(feature = "layouts")]
    if let Some(wrapped) = kitbag_layout::query::Wrapped::parse(&text) {
        // What was a tag in the user's words is none here either.
        return kitbag_layout::reserved::neutralise(&wrapped.query).into_owned();
    }
    text.into_owned()
}
