//! Fills a slot of a pattern: the words that may stand in it, and its end.

use alloc::string::{String, ToString};

use super::grammar::Grammar;
use super::lexer::{Gap, Word};

/// A stretch of words that fills a slot.
#[derive(Debug, Clone, Copy)]
pub(super) struct FilledSlot {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The longest value, in words; twice as many characters in scripts without spaces.
const LONGEST: usize = 6;
/// The longest value in the middle of a pattern, likewise.
const LONGEST_INSIDE: usize = 3;

/// Returns the longest stretch from a word on that may be the last slot of a pattern.
pub(super) fn last(
    grammar: &Grammar,
    kind: &str,
    words: &[Word<'_>],
    at: usize,
) -> Option<FilledSlot> {
    // Names that contain a word which ends values elsewhere.
    let known = grammar.lists.get("known");
    let mut end = at;
    while let Some(word) = words.get(end) {
        let rest = words.get(end..).unwrap_or_default();
        let is_behind = end > at;
        // An acronym may read like a word that ends a value: `IT`, `US`.
        let is_stop = || !word.is_acronym() && grammar.stop.length_at(rest).is_some();
        if is_behind && word.gap != Gap::Space {
            break;
        }
        if let Some(length) = known.and_then(|known| known.length_at(rest)) {
            end += length;
            continue;
        }
        if is_behind && is_stop() {
            break;
        }
        end += 1;
    }
    // These kinds end only where their clause does, or before a word of these lists: what else
    // follows changes the meaning.
    let followed_by = match kind {
        "thing" => Some("end"),
        "plain" | "activity" => Some("close"),
        _ => None,
    };
    if followed_by.is_some_and(|list| !is_whole(grammar, list, words, end)) {
        return None;
    }
    let is_name = matches!(kind, "place" | "name");
    let (start, end) = match is_name {
        true => name(grammar, words, at, end)?,
        false => (at, end),
    };
    let filled = FilledSlot { start, end };
    is_valid(grammar, kind, words.get(start..end)?).then_some(filled)
}

/// Returns the stretches from a word on that may be a slot inside a pattern, short ones first.
pub(super) fn inside<'g>(
    grammar: &'g Grammar,
    kind: &'g str,
    words: &'g [Word<'_>],
    at: usize,
) -> impl Iterator<Item = FilledSlot> + 'g {
    let is_unspaced = words.get(at).is_some_and(Word::is_unspaced);
    let longest = if is_unspaced {
        2 * LONGEST_INSIDE
    } else {
        LONGEST_INSIDE
    };
    let ends = (at + 1..=at + longest).take_while(move |end| {
        let last = words.get(end - 1);
        last.is_some_and(|word| end - 1 == at || word.gap == Gap::Space)
    });
    ends.filter_map(move |end| {
        let stretch = words.get(at..end)?;
        let capitals = !matches!(kind, "place" | "name") || stretch.iter().all(is_nameable);
        (capitals && is_valid(grammar, kind, stretch)).then_some(FilledSlot { start: at, end })
    })
}

/// Tells whether a value is complete: its clause ends, or a word of a list follows.
fn is_whole(grammar: &Grammar, list: &str, words: &[Word<'_>], end: usize) -> bool {
    let behind = words.get(end..).unwrap_or_default();
    let ends = grammar.lists.get(list);
    behind.first().is_none_or(|word| word.gap != Gap::Space)
        || ends.is_some_and(|ends| ends.length_at(behind).is_some())
}

/// Finds a name in a stretch: its capitalised words, with what may stand before and between them.
fn name(grammar: &Grammar, words: &[Word<'_>], from: usize, to: usize) -> Option<(usize, usize)> {
    let is_in = |list: &str, at: usize| {
        let list = grammar.lists.get(list);
        list.is_some_and(|list| {
            words
                .get(at..)
                .and_then(|words| list.length_at(words))
                .is_some()
        })
    };
    let mut start = from;
    // "the Netherlands" is a name behind an article, "The Hague" a name with one.
    while start < to && is_in("article", start) && !words.get(start)?.is_capitalised() {
        start += 1;
    }
    let mut end = start;
    let mut at = start;
    while at < to {
        if is_nameable(words.get(at)?) {
            end = at + 1;
        } else if !is_in("connector", at) || end == start {
            break;
        }
        at += 1;
    }
    (end > start).then_some((start, end))
}

fn is_nameable(word: &Word<'_>) -> bool {
    word.is_capitalised() || word.is_unspaced()
}

/// Tells whether words can be a value of a kind.
fn is_valid(grammar: &Grammar, kind: &str, words: &[Word<'_>]) -> bool {
    let Some(first) = words.first() else {
        return false;
    };
    let is_unspaced = first.is_unspaced();
    let most = match kind {
        "name" | "activity" | "number" | "topic" => 3,
        "plain" => 2,
        _ => LONGEST,
    };
    let most = if is_unspaced { 2 * most } else { most };
    if words.len() > most || grammar.bad.length_at(words).is_some() {
        return false;
    }
    let listed = |name: &str| grammar.lists.get(name);
    let is_excluded = |name: &str| listed(name).is_some_and(|list| list.is_in(words));
    let has_digit = || {
        words
            .iter()
            .any(|word| word.written.contains(|c: char| c.is_ascii_digit()))
    };
    match kind {
        "place" | "name" => {
            let is_short = is_unspaced && words.len() < 2;
            !is_excluded("noname") && !is_short && !has_digit()
        }
        "thing" => !is_excluded("pronoun"),
        "plain" => {
            !is_excluded("pronoun")
                && !first.is_capitalised()
                && !is_excluded("article")
                // "I am leaving" says what somebody does and not what they are.
                && !first.folded.ends_with("ing")
        }
        "topic" => !is_excluded("notopic"),
        "org" => {
            first.is_capitalised()
                || is_unspaced
                || listed("article").is_some_and(|list| list.length_at(words).is_some())
        }
        "word" => words.len() <= 3,
        "number" => has_digit() || listed("number").is_some_and(|list| list.is(words)),
        "date" => has_digit() || is_excluded("day"),
        "digits" => words
            .iter()
            .all(|word| word.written.chars().all(|c| c.is_ascii_digit() || c == '.')),
        "email" => words.iter().any(|word| word.written.contains('@')),
        "occupation" => is_excluded("occupation") && words.len() <= 4,
        "activity" => {
            first.folded.ends_with("ing") && first.folded.len() > 4 && !is_excluded("pronoun")
        }
        other => listed(other).is_some_and(|list| list.is(words)),
    }
}

/// Returns the words of a slot as they stand in the text.
pub(super) fn written<'t>(text: &'t str, words: &[Word<'_>], slot: FilledSlot) -> &'t str {
    let (first, last) = (
        words.get(slot.start),
        slot.end.checked_sub(1).and_then(|end| words.get(end)),
    );
    let range = first.zip(last).map(|(first, last)| first.start..last.end());
    range.and_then(|range| text.get(range)).unwrap_or_default()
}

/// Fills a template with the slots that it names.
pub(super) fn fill(template: &str, text: &str, words: &[Word<'_>], slots: &[FilledSlot]) -> String {
    let mut filled = template.to_string();
    for (number, slot) in (1..).zip(slots) {
        let name = alloc::format!("{{{number}}}");
        filled = filled.replace(&name, written(text, words, *slot));
    }
    filled
}
