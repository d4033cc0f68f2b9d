//! Letters that are pasted into a message: from a greeting line to the line that takes leave.
//!
//! The first line may greet the reader of the message itself. So a letter begins there only if
//! somebody signs it, and on any later line in any case.

use alloc::vec::Vec;

use super::Statements;
use super::grammar::Grammar;
use super::lexer::{Sentence, Word, sentences};

/// The most words in which a line names whom it greets, or who signs; in scripts without spaces
/// each character is one.
const LONGEST_NAME: usize = 6;

impl Statements {
    /// Returns the sentences that the writer of a message wrote, without those of letters in it.
    pub(super) fn written_sentences<'t>(&self, text: &'t str) -> Vec<Sentence<'t>> {
        let all = sentences(text);
        let is_single = all.first().map(|one| one.line) == all.last().map(|one| one.line);
        match is_single {
            true => all,
            false => self.without_letters(all),
        }
    }

    fn without_letters<'t>(&self, all: Vec<Sentence<'t>>) -> Vec<Sentence<'t>> {
        let mut lines: Vec<Vec<Sentence<'t>>> = Vec::new();
        for sentence in all {
            match lines.last_mut() {
                Some(line) if line.first().is_some_and(|one| one.line == sentence.line) => {
                    line.push(sentence);
                }
                _ => lines.push(Vec::from([sentence])),
            }
        }
        let mut own = Vec::new();
        let mut rest = lines.into_iter();
        let mut is_first = true;
        while let Some(line) = rest.next() {
            let behind = rest.as_slice();
            let leave =
                (self.greets(&line)).then(|| behind.iter().position(|one| self.takes_leave(one)));
            let end = match leave {
                // Without an end the letter goes on to the end of the message.
                Some(None) if !is_first => Some(behind.len()),
                Some(Some(at)) => {
                    let is_signed =
                        !is_first || self.is_signed(behind.get(at..).unwrap_or_default());
                    is_signed.then_some(at + 1)
                }
                _ => None,
            };
            is_first = false;
            match end {
                Some(end) => rest.by_ref().take(end).for_each(drop),
                None => own.extend(line),
            }
        }
        own
    }

    /// Tells whether a line does nothing but greet somebody: `Hi Tom,`.
    fn greets(&self, line: &[Sentence<'_>]) -> bool {
        let [sentence] = line else {
            return false;
        };
        !sentence.is_question
            && self.grammars.iter().any(|grammar| {
                let greeting = grammar.greeting.length_at(&sentence.words);
                greeting.is_some_and(|length| {
                    is_name(grammar, sentence.words.get(length..).unwrap_or_default())
                })
            })
    }

    /// Tells whether a line takes leave, with a name or without: `Best, Anna`.
    fn takes_leave(&self, line: &[Sentence<'_>]) -> bool {
        self.grammars
            .iter()
            .any(|grammar| words_behind_leave(grammar, line).is_some())
    }

    /// Tells whether a name stands behind the words that take leave, or on the next line.
    fn is_signed(&self, lines: &[Vec<Sentence<'_>>]) -> bool {
        let Some((leave, behind)) = lines.split_first() else {
            return false;
        };
        self.grammars.iter().any(|grammar| {
            words_behind_leave(grammar, leave).is_some_and(|words| match (words, behind.first()) {
                ([], Some(next)) => {
                    matches!(next.as_slice(), [name] if is_name(grammar, &name.words))
                }
                ([], None) => false,
                _ => true,
            })
        })
    }
}

/// Returns the name behind the words with which a line takes leave.
fn words_behind_leave<'w, 't>(
    grammar: &Grammar,
    line: &'w [Sentence<'t>],
) -> Option<&'w [Word<'t>]> {
    let [sentence] = line else {
        return None;
    };
    let length = grammar.leave.length_at(&sentence.words)?;
    let name = sentence.words.get(length..)?;
    is_name(grammar, name).then_some(name)
}

/// Tells whether some words can be the names of people: `Tom and Anna`. No words can be, too.
fn is_name(grammar: &Grammar, words: &[Word<'_>]) -> bool {
    let is_name = |word: &Word<'_>| {
        let joins = || grammar.join.is(core::slice::from_ref(word));
        word.is_capitalised() || word.is_unspaced() || joins()
    };
    words.len() <= LONGEST_NAME && words.iter().all(is_name)
}
