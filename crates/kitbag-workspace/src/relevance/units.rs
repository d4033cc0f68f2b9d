//! The score of each unit of a file (a function, a method, a small type) for a task.

use kitbag_core::text::{Bm25, stem, sub_words};

use super::field::Document;
use crate::matcher::Matcher;
use crate::parsed::Parsed;
use crate::query::{Query, Term};
use crate::syntax::{Syntax, Unit};

/// The length of an average unit and of the shortest that counts, in words: below that, length
/// tells nothing.
const AVERAGE: f64 = 250.0;
const SHORTEST: u32 = 60;
const LENGTH_WEIGHT: f64 = 0.5;

/// The extra occurrences that a word counts in the name of a unit or of an enclosing one.
const NAME: u32 = 2;

/// The words that a file has of a query, line by line.
pub(crate) struct Hits {
    /// The line, from 1, and the index of the term, in the order of the text.
    pub(crate) lines: Vec<(u32, u16)>,
}

impl Hits {
    pub(crate) fn of(matcher: &Matcher, text: &str) -> Self {
        let mut found = Vec::new();
        matcher.find(text.as_bytes(), |at, term| {
            found.push((at, u16::try_from(term).unwrap_or(u16::MAX)));
        });
        found.sort_unstable();
        let mut line = 1;
        let mut newlines = memchr::memchr_iter(b'\n', text.as_bytes()).peekable();
        let lines = found.into_iter().map(|(at, term)| {
            while newlines.next_if(|&newline| newline < at).is_some() {
                line += 1;
            }
            (line, term)
        });
        Self {
            lines: lines.collect(),
        }
    }
}

/// The scores of the units of a file, by their words.
pub(crate) fn score(
    query: &Query,
    rarity: &[f64],
    text: &str,
    parsed: &Parsed,
    hits: &Hits,
) -> Vec<f64> {
    let field = Bm25::new(AVERAGE).with_length_weight(LENGTH_WEIGHT);
    let mut hits = hits.lines.iter().peekable();
    let units = &parsed.syntax.units;
    let mut scores = Vec::with_capacity(units.len());
    for (unit, &words) in units.iter().zip(parsed.lengths(text)) {
        let mut document = Document::default();
        // Units and hits are both in the order of the lines: one pass serves all units.
        while hits.next_if(|(line, _)| *line < unit.first).is_some() {}
        while let Some((_, term)) = hits.next_if(|(line, _)| *line <= unit.last) {
            document.add(*term, 1);
        }
        name_words(unit, &query.terms, &mut document);
        // Otherwise a getter of one line with the right word would beat the function that does the
        // work.
        let length = f64::from(words.max(SHORTEST));
        let gain = |&(term, count): &(u16, u32)| {
            let term = usize::from(term);
            let weight = query.terms.get(term).map_or(0.0, |term| term.unit_weight);
            weight
                * rarity.get(term).copied().unwrap_or_default()
                * field.gain(f64::from(count), length)
        };
        document.counts.sort_unstable();
        scores.push(document.counts.iter().map(gain).sum());
    }
    scores
}

/// The number of words in each unit of a text.
pub(crate) fn lengths(text: &str, syntax: &Syntax) -> Vec<u32> {
    let mut lines = text.split_inclusive('\n');
    let units = syntax.units.iter();
    let length = |unit: &Unit| {
        let lines = lines.by_ref().take(unit.len() as usize);
        lines.map(count_words).sum()
    };
    units.map(length).collect()
}

/// The words of a line, those inside identifiers counted one by one, roughly.
fn count_words(line: &str) -> u32 {
    let mut count = 0;
    let mut before = b' ';
    for byte in line.bytes() {
        let begins = byte.is_ascii_alphanumeric()
            && (!before.is_ascii_alphanumeric()
                || byte.is_ascii_uppercase() && before.is_ascii_lowercase());
        count += u32::from(begins);
        before = byte;
    }
    count
}

fn name_words(unit: &Unit, terms: &[Term], document: &mut Document) {
    for name in unit.parents.iter().chain([&unit.name]) {
        for word in sub_words(name) {
            let lower = word.to_lowercase();
            let word = stem(&lower);
            if let Some(term) = position(terms, word, false) {
                document.add(term, NAME);
            }
        }
        if let Some(term) = position(terms, &name.to_lowercase(), true) {
            document.add(term, NAME);
        }
    }
}

/// The index of a term; the terms are sorted.
pub(crate) fn position(terms: &[Term], text: &str, is_whole: bool) -> Option<u16> {
    let found = terms.binary_search_by(|term| {
        let by_text = term.text.as_str().cmp(text);
        by_text.then_with(|| term.is_whole.cmp(&is_whole))
    });
    u16::try_from(found.ok()?).ok()
}
