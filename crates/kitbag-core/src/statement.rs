//! Plain statements that people make about themselves, found without a model: `I live in Porto` is
//! `home: Porto`.
//!
//! Precision comes before completeness. A statement stands at the beginning of a clause, in the
//! first person and in the present; questions, wishes, suppositions, reports and quotations state
//! nothing. The words of statements are data, a file for each language. The caller knows who said
//! them and when.

mod asked;
mod beginnings;
mod grammar;
mod letters;
mod lexer;
mod own;
mod own_lines;
mod questions;
mod quoted;
mod said;
mod slot;
mod times;

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub use asked::FactQuestion;
use beginnings::Beginnings;
use grammar::{Grammar, Part, Pattern, begins_with};
use lexer::{Gap, Sentence, Word};
pub use own::OwnSentence;
use questions::Questions;
pub use quoted::Quoted;
pub use said::{SaidSentence, ToldChange};
use slot::{FilledSlot, fill, written};

/// Something that a speaker says about themselves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Statement {
    /// The subject: `home`, or `allergy/peanuts` if there may be several.
    pub key: String,
    /// The value, in the words of the speaker.
    pub value: String,
    /// Set if the value no longer holds; `*` is any value.
    pub retracts: bool,
}

impl Statement {
    /// Creates a value that holds.
    #[must_use]
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            value: value.into(),
            retracts: false,
        }
    }
}

/// The statements of all languages, ready to be searched for.
#[derive(Debug)]
pub struct Statements {
    grammars: Vec<Grammar>,
    /// The patterns of statements by their first word.
    says: BTreeMap<String, PatternsBySecond>,
    beginnings: Beginnings,
    questions: Questions,
    /// The first words of phrases that tell of a change or of what was before, in any language.
    changes: Beginnings,
}

/// Patterns by their second word, or by none if a slot follows the first: language and number of
/// each.
type PatternsBySecond = BTreeMap<Option<String>, Vec<(usize, usize)>>;

/// Longer messages are mostly texts that somebody else wrote.
const LONGEST_MESSAGE: usize = 4_000;
/// The most words before a statement in its clause; in scripts without spaces each character is
/// one.
const LONGEST_LEAD: usize = 8;

const LANGUAGES: [&str; 8] = [
    include_str!("statement/languages/english.txt"),
    include_str!("statement/languages/german.txt"),
    include_str!("statement/languages/french.txt"),
    include_str!("statement/languages/spanish.txt"),
    include_str!("statement/languages/italian.txt"),
    include_str!("statement/languages/portuguese.txt"),
    include_str!("statement/languages/dutch.txt"),
    include_str!("statement/languages/chinese.txt"),
];

impl Statements {
    /// Reads the data of all languages. Made once and used for many messages.
    #[must_use]
    pub fn new() -> Self {
        let grammars: Vec<Grammar> = LANGUAGES.into_iter().map(Grammar::read).collect();
        let mut says: BTreeMap<String, PatternsBySecond> = BTreeMap::new();
        for (language, grammar) in grammars.iter().enumerate() {
            for (number, pattern) in grammar.says.iter().enumerate() {
                for (first, second) in pattern.beginnings(&grammar.times) {
                    let ways = says.entry(first).or_default().entry(second).or_default();
                    ways.push((language, number));
                }
            }
        }
        let pairs = says.iter().flat_map(|(first, by_second)| {
            let seconds = by_second.keys();
            seconds.map(move |second| (first.as_str(), second.as_deref()))
        });
        let changes = grammars.iter().flat_map(|grammar| {
            let past = grammar.past.beginnings();
            grammar.cue.beginnings().chain(past)
        });
        Self {
            changes: Beginnings::of(changes),
            beginnings: Beginnings::of(pairs),
            questions: Questions::of(&grammars),
            grammars,
            says,
        }
    }

    /// Returns the statements of a message, in their order, each key once: with its last statement.
    ///
    /// ```
    /// use kitbag_core::statement::Statements;
    ///
    /// let statements = Statements::new();
    /// let found = statements.of("Hi! I live in Porto, and I am allergic to peanuts. Do I live in Faro?");
    /// let found: Vec<(&str, &str)> = found.iter().map(|one| (one.key.as_str(), one.value.as_str())).collect();
    /// assert_eq!(found, [("home", "Porto"), ("allergy/peanuts", "peanuts")]);
    /// assert!(statements.of("If I lived in Porto, I would swim.").is_empty());
    /// ```
    #[must_use]
    pub fn of(&self, text: &str) -> Vec<Statement> {
        let mut found: Vec<Statement> = Vec::new();
        // Most messages have no word that begins a statement, which is found out at the cost of one
        // pass.
        if text.len() > LONGEST_MESSAGE || !self.beginnings.may_be_in(text) {
            return found;
        }
        let sentences = self.written_sentences(text);
        for sentence in &sentences {
            let mut at = 0;
            while let Some(word) = sentence.words.get(at) {
                let next = sentence.words.get(at + 1);
                if !self
                    .beginnings
                    .may_begin(&word.folded, next.map(|next| next.folded.as_ref()))
                {
                    at += 1;
                    continue;
                }
                at = match self.statement_at(text, sentence, at) {
                    Some((statement, end)) => {
                        add(&mut found, statement);
                        end.max(at + 1)
                    }
                    None => at + 1,
                };
            }
        }
        // A text that is handed over for work says nothing about its sender.
        if !found.is_empty() && sentences.iter().any(|sentence| self.hands_over(sentence)) {
            found.clear();
        }
        found
    }

    /// Returns the statement that begins with a word, and the place behind it.
    fn statement_at(
        &self,
        text: &str,
        sentence: &Sentence<'_>,
        at: usize,
    ) -> Option<(Statement, usize)> {
        let words = &sentence.words;
        let by_second = self.says.get(words.get(at)?.folded.as_ref())?;
        let second = words.get(at + 1).map(|word| word.folded.to_string());
        let ways = second.and_then(|second| by_second.get(&Some(second)));
        let mut ways: Vec<(usize, usize)> = ways
            .into_iter()
            .chain(by_second.get(&None))
            .flatten()
            .copied()
            .collect();
        // The order of the data: of two patterns the first that matches counts.
        ways.sort_unstable();
        let mut begins = None;
        ways.into_iter().find_map(|(language, number)| {
            let grammar = self.grammars.get(language)?;
            let pattern = grammar.says.get(number)?;
            if !pattern.is_anywhere {
                let (of, holds) =
                    *begins.get_or_insert_with(|| (language, begins_clause(grammar, words, at)));
                let holds = if of == language {
                    holds
                } else {
                    begins_clause(grammar, words, at)
                };
                if !holds || (pattern.follows_time && !follows_time(grammar, words, at)) {
                    return None;
                }
            }
            statement(text, sentence, at, grammar, pattern)
        })
    }

    /// Tells whether a sentence asks for work on a text, which then is not what its sender says.
    fn hands_over(&self, sentence: &Sentence<'_>) -> bool {
        self.grammars.iter().any(|grammar| {
            let start = skip_lead(grammar, &sentence.words);
            let words = sentence.words.get(start..).unwrap_or_default();
            grammar.task.length_at(words).is_some()
        })
    }
}

impl Default for Statements {
    fn default() -> Self {
        Self::new()
    }
}

/// Adds a statement in the place of an earlier one of its key. A retraction is left out if the same
/// message states another value.
fn add(found: &mut Vec<Statement>, statement: Statement) {
    let is_other = |earlier: &Statement| {
        earlier.key == statement.key && !earlier.retracts && earlier.value != statement.value
    };
    if statement.retracts && found.iter().any(is_other) {
        return;
    }
    found.retain(|earlier| earlier.key != statement.key);
    found.push(statement);
}

/// Matches a pattern from a word of a sentence on. Returns the statement and the word behind it.
fn statement(
    text: &str,
    sentence: &Sentence<'_>,
    at: usize,
    grammar: &Grammar,
    pattern: &Pattern,
) -> Option<(Statement, usize)> {
    let words = &sentence.words;
    let mut slots = Vec::new();
    let end = match_parts(grammar, &pattern.parts, words, at, &mut slots)?;
    if sentence.is_question && !pattern.is_anywhere && !has_more(words, end) {
        return None;
    }
    let next = words.get(end..)?;
    if !pattern.retracts && grammar.gone.length_at(next).is_some() {
        return None;
    }
    // Words about a person who is only mentioned say nothing against the name.
    let behind = match pattern.is_anywhere {
        true => &[],
        false => words.get(end..)?,
    };
    let clause = behind.iter().position(|word| word.gap != Gap::Space);
    let behind = behind.get(..clause.unwrap_or(behind.len()))?;
    if grammar.never.is_in(words.get(..at)?) || grammar.never.is_in(behind) {
        return None;
    }
    let key = fill(&pattern.key, text, words, &slots).to_lowercase();
    let value = match &pattern.value {
        Some(template) => fill(template, text, words, &slots),
        None => slots
            .last()
            .map(|slot| written(text, words, *slot).to_string())?,
    };
    // "Ana's" is about Ana.
    let value = value.trim_end_matches("'s").trim_end_matches("’s");
    let statement = Statement {
        key: key
            .trim_end_matches("'s")
            .trim_end_matches("’s")
            .to_string(),
        value: value.to_string(),
        retracts: pattern.retracts,
    };
    Some((statement, end))
}

/// Tells whether a question has another clause behind a statement, which then asks instead of it.
fn has_more(words: &[Word<'_>], end: usize) -> bool {
    let rest = words.get(end..).unwrap_or_default();
    let clause = rest.iter().position(|word| word.gap != Gap::Space);
    // One or two words, such as "isn't it?", only ask for agreement.
    clause.is_some_and(|clause| rest.len() - clause > 2)
}

/// Tells whether only words that lead to a statement stand before a word in its clause.
fn begins_clause(grammar: &Grammar, words: &[Word<'_>], at: usize) -> bool {
    // Every place is tried at which the clause may have begun, the lead in between.
    (at.saturating_sub(LONGEST_LEAD)..=at).any(|start| {
        let Some(between) = words.get(start..at) else {
            return false;
        };
        let unparted = words.get(start + 1..=at).unwrap_or_default();
        let leads = unparted
            .iter()
            .all(|word| matches!(word.gap, Gap::Space | Gap::Comma))
            && skip_lead(grammar, between) == between.len();
        let opens = || {
            start == 0
                || words
                    .get(start)
                    .is_some_and(|word| matches!(word.gap, Gap::Comma | Gap::Clause))
                || is_joined(grammar, words, start)
        };
        leads && opens()
    })
}

/// Tells whether a time ends before a word.
fn follows_time(grammar: &Grammar, words: &[Word<'_>], at: usize) -> bool {
    (at.saturating_sub(LONGEST_LEAD)..at).any(|start| {
        let from = words.get(start..).unwrap_or_default();
        grammar.times.length_at(grammar, from) == Some(at - start)
    })
}

/// Tells whether a word that joins clauses ends before a word.
fn is_joined(grammar: &Grammar, words: &[Word<'_>], at: usize) -> bool {
    (1..=at.min(3)).any(|length| {
        let before = words.get(at - length..at).unwrap_or_default();
        grammar.join.is(before)
    })
}

/// Returns the number of words at the beginning that only lead to a statement.
fn skip_lead(grammar: &Grammar, words: &[Word<'_>]) -> usize {
    let mut at = 0;
    while let Some(rest) = words.get(at..)
        && let Some(length) = grammar
            .times
            .length_at(grammar, rest)
            .max(grammar.lead.length_at(rest))
    {
        at += length;
    }
    at
}

/// Matches the rest of a pattern from a word on, and returns the place behind it.
fn match_parts(
    grammar: &Grammar,
    parts: &[Part],
    words: &[Word<'_>],
    at: usize,
    slots: &mut Vec<FilledSlot>,
) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else {
        return Some(at);
    };
    let word = words.get(at);
    // The first word of a pattern may stand behind any sign.
    let gap = match slots.is_empty() && matches!(part, Part::OneOf(_)) {
        true => Gap::Space,
        false => word.map_or(Gap::Space, |word| word.gap),
    };
    match part {
        Part::Maybe(alternatives) | Part::OneOf(alternatives) => {
            // The first alternative that lets the rest of the pattern match, in the order of the
            // data.
            for alternative in alternatives {
                if is_at(words, at, alternative)
                    && let Some(end) = go_on(grammar, rest, words, at + alternative.len(), slots)
                {
                    return Some(end);
                }
            }
            match part {
                Part::Maybe(_) => match_parts(grammar, rest, words, at, slots),
                _ => None,
            }
        }
        Part::Time => {
            let from = words.get(at..).unwrap_or_default();
            // A time is skipped if the rest matches behind it, and otherwise was a part of the
            // value.
            let length = grammar.times.length_at(grammar, from);
            length
                .and_then(|length| go_on(grammar, rest, words, at + length, slots))
                .or_else(|| match_parts(grammar, rest, words, at, slots))
        }
        Part::Prefix(prefix) => {
            // At least three letters must be left for the slot.
            let is_longer = |word: &&Word<'_>| word.folded.len() > prefix.len() + 2;
            word.filter(is_longer)?
                .folded
                .strip_prefix(prefix.as_str())?;
            slots.push(FilledSlot {
                start: at,
                end: at + 1,
            });
            go_on(grammar, rest, words, at + 1, slots)
        }
        Part::Slot { has_comma, .. } if *has_comma != (gap == Gap::Comma) => None,
        Part::Slot { kind, .. } if rest.is_empty() => {
            let filled = slot::last(grammar, kind, words, at)?;
            slots.push(filled);
            Some(filled.end)
        }
        Part::Slot { kind, .. } => {
            let before = slots.len();
            for filled in slot::inside(grammar, kind, words, at) {
                // Drop the slots of the shorter stretch that failed.
                slots.truncate(before);
                slots.push(filled);
                if let Some(end) = go_on(grammar, rest, words, filled.end, slots) {
                    return Some(end);
                }
            }
            slots.truncate(before);
            None
        }
    }
}

/// Goes on behind a part. A sign there ends the pattern, unless it is a comma that the next part wants.
fn go_on(
    grammar: &Grammar,
    rest: &[Part],
    words: &[Word<'_>],
    at: usize,
    slots: &mut Vec<FilledSlot>,
) -> Option<usize> {
    let is_parted = words.get(at).is_some_and(|word| word.gap != Gap::Space);
    let wants_comma = matches!(
        rest.first(),
        Some(Part::Slot {
            has_comma: true,
            ..
        })
    );
    let may_end = rest
        .iter()
        .all(|part| matches!(part, Part::Maybe(_) | Part::Time));
    match is_parted && !wants_comma {
        true => may_end.then_some(at),
        false => match_parts(grammar, rest, words, at, slots),
    }
}

/// Tells whether a sequence of words stands at a place.
fn is_at(words: &[Word<'_>], at: usize, sequence: &[String]) -> bool {
    let Some((first, others)) = sequence.split_first() else {
        return false;
    };
    let behind = words.get(at + 1..).unwrap_or_default();
    words.get(at).is_some_and(|word| word.folded == *first) && begins_with(behind, others)
}

#[cfg(test)]
mod tests;
