//! Room for what was said: how much of a budget the history may take, and what becomes of the rest.

use std::collections::BTreeSet;

use kitbag_core::assembly::{Draft, Epoch};
use kitbag_core::history::{HistoryRoom, ShortHistory, shorten};
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
        self.chunks.retain(|ranked| {
            let message = ranked.chunk.source.strip_prefix("message/");
            message.is_none_or(|id| !shown.contains(id))
        });
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
    let mut fixed = counter
        .count(&draft.identity)
        .saturating_add(counter.count(&request.current.content.text()));
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
        fixed = fixed.saturating_add(counter.count(&step.content.text()));
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
        return wrapped.query;
    }
    text.into_owned()
}
