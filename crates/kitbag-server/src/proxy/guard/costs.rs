//! The tokens of a request, and the cuts that bring it within a budget.

use kitbag::core::history::message_cost;
use kitbag::core::message::Message;
use kitbag::core::role::Role;
use kitbag::core::tokens::{TokenCounter as _, Tokens};
use kitbag::tokens::{Counter, Vocabulary};
use kitbag::wire::{Dialect, Request};

use super::short;
use crate::proxy::said::{ClientMessage, ReadBody};

/// The number of newest results that stay whole at first; then one does, then none.
const NEWEST: [usize; 3] = [3, 1, 0];
/// The tokens of the message that tells how many are left out.
const NOTE: Tokens = Tokens(24);

/// The cuts of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cuts {
    /// The first message whose results stay whole.
    pub(super) first_whole: usize,
    /// The first message that is not left out.
    pub(super) first_shown: usize,
    /// The tokens of the request then.
    pub(super) used: Tokens,
}

/// The tokens of a request.
pub(super) struct Costs {
    /// Those of its instructions and tools.
    fixed: Tokens,
    pub(super) messages: Vec<Cost>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Cost {
    pub(super) whole: Tokens,
    /// The tokens that shortening its results would free.
    freed: Tokens,
}

impl Costs {
    pub(super) fn of(dialect: Dialect, body: &[u8], read: &ReadBody) -> Option<Self> {
        let mut request = Request::parse(std::str::from_utf8(body).ok()?).ok()?;
        request.dialect = dialect;
        let turn = request.turn().ok()?;
        let counter = turn
            .model
            .as_deref()
            .and_then(|model| Counter::for_model(model).ok());
        // An unknown model is counted approximately, which is better than not at all.
        let counter = counter.or_else(|| Counter::for_vocabulary(Vocabulary::O200kBase).ok())?;
        let tools = request
            .fields
            .get("tools")
            .map_or("", |tools| tools.as_str());
        let draft = turn.contribution.draft;
        let identity = draft.identity.unwrap_or_default();
        let mut messages = vec![Cost::default(); read.messages.len()];
        let said = draft
            .history
            .iter()
            .chain([&turn.current])
            .chain(&draft.steps);
        for message in said {
            let place = place(message)?;
            let cost = messages.get_mut(place)?;
            cost.whole = message_cost(message, &counter);
            let results = read.messages.get(place)?.results.iter();
            let freed = results.filter_map(|result| {
                let short = short(&result.text)?;
                Some(
                    counter
                        .count(&result.text)
                        .saturating_sub(counter.count(&short)),
                )
            });
            cost.freed = freed.sum();
        }
        Some(Self {
            fixed: counter
                .count(&identity)
                .saturating_add(counter.count(tools)),
            messages,
        })
    }

    /// Replays the requests of the conversation and makes a cut at each one that exceeded the budget.
    pub(super) fn cuts(&self, messages: &[ClientMessage], budget: Tokens) -> Cuts {
        let mut cuts = Cuts {
            first_whole: 0,
            first_shown: 0,
            used: self.fixed,
        };
        let mut with_results: Vec<usize> = Vec::new();
        let mut newest_question = 0;
        for (index, (message, cost)) in messages.iter().zip(&self.messages).enumerate() {
            cuts.used = cuts.used.saturating_add(cost.whole);
            if is_question(message) {
                newest_question = index;
            }
            if message.has_results {
                with_results.push(index);
            }
            let next = messages.get(index + 1);
            // Only where a request ended: cuts must fall where they fell when that request was sent.
            let was_sent = message.role != Role::Assistant
                && next.is_none_or(|next| next.role == Role::Assistant);
            // First the old results, then nearly all, then all: the newest are what the model works with.
            for newest in NEWEST {
                if !was_sent || cuts.used <= budget {
                    break;
                }
                let old = with_results.len().checked_sub(newest + 1);
                let last = old.and_then(|old| with_results.get(old));
                let first_whole = last.map_or(0, |last| last + 1).max(cuts.first_whole);
                let from = cuts.first_whole.max(cuts.first_shown);
                let freed = self.messages.get(from..first_whole).unwrap_or_default();
                let freed: Tokens = freed.iter().map(|cost| cost.freed).sum();
                cuts.used = cuts.used.saturating_sub(freed);
                cuts.first_whole = first_whole;
            }
            // Before the next question nothing more can leave, and looking for it at each of thousands of results
            // would take the square of their number.
            if was_sent && cuts.used > budget && newest_question > cuts.first_shown {
                self.leave_out(
                    &mut cuts,
                    messages.get(..=index).unwrap_or_default(),
                    budget,
                );
            }
        }
        cuts
    }

    /// Leaves out old exchanges until half of the room is free, or all but the newest.
    fn leave_out(&self, cuts: &mut Cuts, sent: &[ClientMessage], budget: Tokens) {
        let half = Tokens(budget.saturating_sub(self.fixed).0 / 2);
        let rest = cuts.used.saturating_sub(self.fixed);
        let note = if cuts.first_shown == 0 {
            NOTE
        } else {
            Tokens::ZERO
        };
        let mut freed = Tokens::ZERO;
        let all = sent.iter().zip(&self.messages).enumerate();
        for (index, (message, cost)) in all.skip(cuts.first_shown) {
            if is_question(message) && index > cuts.first_shown {
                let left = rest.saturating_sub(freed).saturating_add(note);
                cuts.used = self.fixed.saturating_add(left);
                cuts.first_shown = index;
                if left <= half {
                    return;
                }
            }
            if message.role != Role::System {
                let now = match index < cuts.first_whole {
                    true => cost.whole.saturating_sub(cost.freed),
                    false => cost.whole,
                };
                freed = freed.saturating_add(now);
            }
        }
    }
}

/// Returns whether an exchange begins with a message.
fn is_question(message: &ClientMessage) -> bool {
    message.role == Role::User && !message.has_results && message.at.is_some()
}

/// The place of a message in its request.
fn place(message: &Message) -> Option<usize> {
    message.id.as_ref()?.parse().ok()
}
