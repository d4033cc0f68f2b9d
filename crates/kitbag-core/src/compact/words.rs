//! The user's own words: the part of each of the user's messages that survives when it is no longer
//! shown.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::neutral::one_line;
use crate::summarize::{Speaker, Utterance, binds, extract, is_question, sentences};
use crate::tokens::{TokenCounter, Tokens};

/// The longest message that survives word for word.
const SHORT: Tokens = Tokens(48);

/// The most tokens that a longer message keeps besides its binding sentences.
const TELLING: Tokens = Tokens(40);

/// The part of a user's message that survives: all of it if it is short, else its sentences that
/// decide, oblige, forbid or are still to be answered, and the most telling of the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct UserWords {
    /// The words, in the order in which they were said.
    pub text: String,
    /// Set if they oblige, forbid or ask: these leave last.
    pub binding: bool,
}

impl UserWords {
    /// Selects the words of a message that survive. `open` says that nobody has answered it.
    pub(super) fn of(said: &str, open: bool, counter: &dyn TokenCounter) -> Self {
        let said = said.trim();
        let must_stay = binding(said, open);
        let binding = !must_stay.is_empty();
        if counter.count(said) <= SHORT {
            let text = said.to_owned();
            return Self { text, binding };
        }
        let whole = [Utterance::new(Speaker::Summary, said)];
        let telling = extract(&whole, &[], TELLING, counter);
        // In the order in which it was said, a selection reads as it was meant.
        let stays = |sentence: &&str| must_stay.contains(sentence) || telling.contains(*sentence);
        let chosen: Vec<&str> = sentences(said).into_iter().filter(stays).collect();
        let text = match chosen.is_empty() {
            // A sentence that is too long for its room comes in parts, none of which is a sentence.
            true => telling,
            false => chosen.join(" … "),
        };
        Self { text, binding }
    }

    /// Drops all but the sentences that bind, and tells if anything went.
    pub(super) fn keep_binding(&mut self) -> bool {
        // Nobody can tell any more if a question was answered: it stays.
        let kept = binding(&self.text, true).join(" … ");
        let is_shorter = !kept.is_empty() && kept.len() < self.text.len();
        if is_shorter {
            self.text = kept;
        }
        is_shorter
    }

    /// Tells whether these words may replace a message.
    pub(super) fn stand_for(&self, said: &str, open: bool, counter: &dyn TokenCounter) -> bool {
        let said = said.trim();
        if counter.count(said) <= SHORT {
            return self.text == said;
        }
        let all = binding(said, open).into_iter();
        let mut all = all.filter(|sentence| !self.text.contains(sentence));
        !self.text.trim().is_empty() && all.next().is_none()
    }

    /// Returns their line for the prompt.
    pub(super) fn line(&self) -> String {
        format!("\n- {}", one_line(&self.text))
    }
}

/// Returns the sentences that must not be lost.
fn binding(said: &str, open: bool) -> Vec<&str> {
    // A question that was answered does not bind anybody.
    let asks = |sentence: &str| open && is_question(sentence);
    let all = sentences(said).into_iter();
    all.filter(|sentence| binds(sentence) || asks(sentence))
        .collect()
}
