//! What was recalled, as it is printed in JSON, and as much of it as fits.

use kitbag::core::rank::ScorePart;
use kitbag::core::role::Role;
use kitbag::core::tokens::{TokenCounter, Tokens};
use kitbag::store::{MessageId, MessageTime, Recalled};
use serde::Serialize;

use super::shown;

/// The answer to a query.
#[derive(Serialize)]
pub(super) struct Found {
    /// The messages, best first.
    pub(super) ranked: Vec<Hit>,
    /// The tokens of the printed text, where there is a budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<Tokens>,
    /// What did not fit, if nothing did.
    #[serde(skip)]
    pub(super) misfit: Option<Misfit>,
}

/// Messages that were found, and none of which fits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Misfit {
    pub(super) messages: usize,
    /// What the best of them needs.
    pub(super) needed: Tokens,
}

/// A message that was recalled.
#[derive(Serialize)]
pub(super) struct Hit {
    /// The name that it came with.
    #[serde(rename = "ref")]
    reference: Option<String>,
    pub(super) score: i64,
    /// The store's own name for it.
    pub(super) id: MessageId,
    conversation: String,
    pub(super) at: Option<MessageTime>,
    pub(super) role: Role,
    pub(super) speaker: Option<String>,
    /// The part of the message that says most.
    pub(super) text: String,
    /// Whether there is more of it.
    is_part: bool,
    /// Messages that say nearly the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    duplicates: Vec<MessageId>,
    /// What the score is made of, if that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parts: Option<Vec<ScorePart>>,
}

impl Found {
    /// The messages, with what their scores are made of if that is asked for.
    pub(super) fn new(recalled: Vec<Recalled>, is_explained: bool) -> Self {
        let hit = |recalled: Recalled| Hit {
            text: recalled.text().into_owned(),
            is_part: recalled.text().len() < recalled.message.text().len(),
            reference: recalled.message.reference,
            score: recalled.score.total(),
            id: recalled.message.id,
            conversation: recalled.message.id.conversation().to_string(),
            at: recalled.message.at,
            role: recalled.message.message.role,
            speaker: recalled.message.message.name,
            duplicates: recalled.duplicates,
            parts: is_explained.then(|| recalled.score.parts().to_vec()),
        };
        Self {
            ranked: recalled.into_iter().map(hit).collect(),
            tokens: None,
            misfit: None,
        }
    }

    /// Keeps the longest beginning that fits in `budget` as it is printed.
    pub(super) fn cut(&mut self, budget: Tokens, counter: &impl TokenCounter) {
        let mut text = String::new();
        let mut fits = (0, Tokens(0));
        for (index, hit) in self.ranked.iter().enumerate() {
            // Counts do not add up across joins: the whole is counted each time.
            shown::add(&mut text, hit);
            let tokens = counter.count(&text);
            if tokens > budget {
                self.misfit = (index == 0).then_some(Misfit {
                    messages: self.ranked.len(),
                    needed: tokens,
                });
                break;
            }
            fits = (index + 1, tokens);
        }
        self.ranked.truncate(fits.0);
        self.tokens = Some(fits.1);
    }
}
