//! Letters that are pasted into a message: from a greeting line to the line that takes leave.
//!
//! The first line may greet the reader of the message itself. So a letter begins there only if it
//! greets somebody by name and somebody else signs it. On a later line somebody takes leave, or
//! the greeting has a name and a paragraph of its own. Words of thanks end no letter: people thank
//! the reader, too.

use alloc::vec::Vec;

use super::Statements;
use super::grammar::Grammar;
use super::lexer::{Sentence, Word, sentences};

/// The most words in which a line names whom it greets, or who signs; in scripts without spaces
/// each character is one.
const LONGEST_NAME: usize = 6;
/// The most characters of a name without spaces: more of them are a sentence.
const LONGEST_UNSPACED: usize = 3;

impl Statements {
    /// Returns the sentences that the writer of a message wrote, without those of letters in it.
    pub(super) fn written_sentences<'t>(&self, text: &'t str) -> Vec<Sentence<'t>> {
        let all = sentences(text);
        let is_single = all.first().map(|one| one.line) == all.last().map(|one| one.line);
        match is_single {
            true => all,
            false => self.without_letters(text, all),
        }
    }

    fn without_letters<'t>(&self, text: &'t str, all: Vec<Sentence<'t>>) -> Vec<Sentence<'t>> {
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
            let greeted = self.greeted(text, &line);
            let leave = greeted.and_then(|_| behind.iter().position(|one| self.takes_leave(one)));
            let end = match (greeted, leave) {
                (Some(name), Some(at)) => {
                    let is_signed = || self.is_signed(name, behind.get(at..).unwrap_or_default());
                    (!is_first || is_signed()).then_some(at + 1)
                }
                // Without an end the letter goes on to the end of the message.
                (Some([_, ..]), None) if !is_first && begins_paragraph(text, &line) => {
                    Some(behind.len())
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

    /// Returns the name in a line that does nothing but greet somebody: `Hi Tom,`. It may be empty.
    fn greeted<'w, 't>(&self, text: &str, line: &'w [Sentence<'t>]) -> Option<&'w [Word<'t>]> {
        let [sentence] = line else {
            return None;
        };
        if sentence.is_question {
            return None;
        }
        let names = self.grammars.iter().filter_map(|grammar| {
            let length = grammar.greeting.length_at(&sentence.words)?;
            let name = sentence.words.get(length..)?;
            (is_name(grammar, name) && ends_greeting(text, name)).then_some(name)
        });
        // Of several languages the one with the longest greeting: `Dear All` names nobody.
        names.min_by_key(|name| name.len())
    }

    /// Tells whether a line takes leave, with a name or without: `Best, Anna`.
    fn takes_leave(&self, line: &[Sentence<'_>]) -> bool {
        self.grammars
            .iter()
            .any(|grammar| words_behind_leave(grammar, line).is_some())
    }

    /// Tells whether a name stands behind the words that take leave, or on the next line, and is
    /// another one than the name that was greeted.
    fn is_signed(&self, greeted: &[Word<'_>], lines: &[Vec<Sentence<'_>>]) -> bool {
        let Some((leave, behind)) = lines.split_first() else {
            return false;
        };
        let is_other = |name: &[Word<'_>]| {
            let is_greeted = |word: &Word<'_>| greeted.iter().any(|one| one.folded == word.folded);
            !greeted.is_empty() && !name.is_empty() && !name.iter().any(is_greeted)
        };
        self.grammars.iter().any(|grammar| {
            words_behind_leave(grammar, leave).is_some_and(|words| match (words, behind.first()) {
                ([], Some(next)) => {
                    matches!(next.as_slice(), [name] if is_name(grammar, &name.words) && is_other(&name.words))
                }
                (words, _) => is_other(words),
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
    let unspaced = words.iter().filter(|word| word.is_unspaced()).count();
    words.len() <= LONGEST_NAME
        && unspaced <= LONGEST_UNSPACED
        && words.iter().all(is_name)
        // `Hey I'm Anna`, `你好，我叫李明`.
        && !grammar.self_words.is_in(words)
}

/// Tells whether a name ends a greeting. Without spaces and capitals only a sign behind it shows
/// that it is one.
fn ends_greeting(text: &str, name: &[Word<'_>]) -> bool {
    let Some(last) = name.last().filter(|last| last.is_unspaced()) else {
        return true;
    };
    let behind = text.get(last.end()..).unwrap_or_default();
    behind.starts_with([',', '，', ':', '：'])
}

/// Tells whether an empty line stands before a line.
fn begins_paragraph(text: &str, line: &[Sentence<'_>]) -> bool {
    let before = line.first().and_then(|first| text.get(..first.line));
    let before = before.unwrap_or_default();
    let blank = before.chars().rev().take_while(|c| c.is_whitespace());
    blank.filter(|c| *c == '\n').count() > 1
}
