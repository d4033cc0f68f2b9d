//! The sentences of a message that are its writer's own.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::lexer::{Sentence, Word};
use super::{LONGEST_MESSAGE, Statements};

/// A sentence in its writer's own words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OwnSentence {
    /// The sentence, with an ellipsis in the place of each quotation.
    pub text: String,
    /// Its words, in lower case and without accents.
    pub words: Vec<String>,
    /// Set if it asks.
    pub is_question: bool,
}

impl Statements {
    /// Returns the sentences that are the writer's own: without code, quoted lines, quotations
    /// and letters.
    /// A message that hands a text over ("translate this: …") has none, and neither has one so long
    /// that somebody else wrote most of it.
    ///
    /// ```
    /// use kitbag_core::statement::Statements;
    ///
    /// let own = Statements::new().own_sentences("He wrote \"I am vegan\" to me.\n> I live in Rome\nI eat all.");
    /// let own: Vec<&str> = own.iter().map(|sentence| sentence.text.as_str()).collect();
    /// assert_eq!(own, ["He wrote … to me", "I eat all"]);
    /// ```
    #[must_use]
    pub fn own_sentences(&self, text: &str) -> Vec<OwnSentence> {
        let all = self.written_sentences(text);
        if text.len() > LONGEST_MESSAGE || all.iter().any(|one| self.hands_over(one)) {
            return Vec::new();
        }
        all.iter().map(|sentence| own(text, sentence)).collect()
    }
}

fn own(text: &str, sentence: &Sentence<'_>) -> OwnSentence {
    let mut shown = String::new();
    let mut before: Option<&Word<'_>> = None;
    for word in &sentence.words {
        if let Some(before) = before {
            let between = text.get(before.end()..word.start).unwrap_or_default();
            // Letters between two words of the lexer are a quotation that it left out.
            let is_whole = !between.contains(char::is_alphanumeric);
            shown.push_str(if is_whole { between } else { " … " });
        }
        shown.push_str(word.written);
        before = Some(word);
    }
    OwnSentence {
        text: shown,
        words: sentence
            .words
            .iter()
            .map(|word| word.folded.to_string())
            .collect(),
        is_question: sentence.is_question,
    }
}
