//! Finds the words that speak for a kind of task.

mod phrases;

use core::iter::successors;

use self::phrases::{
    CLAUSES, COMPLAINTS, CREATED_WEIGHT, CREATES, DOCUMENTS, ENDS, IN_BODY, IN_TITLE, LEADS,
    NOUN_LIKE, OBSERVED_WEIGHT, POLITE, STATES, TEST_PARTS, TESTS, WISHES,
};
use super::words::Words;
use crate::envelope::TaskType;

/// A kind of task, a weight, and a phrase that speaks for it.
type Cue = (TaskType, u32, &'static str);

/// Returns the cue in the words that a sentence opens with.
pub(super) fn lead(sentence: &Words) -> Option<Cue> {
    let shorter = |words: &Words| {
        let rest = each(POLITE).find_map(|polite| words.after(polite));
        rest.filter(|rest| rest.iter().next().is_some())
    };
    // Courtesies come in a row: "hello, could you please fix …".
    let rest = successors(shorter(sentence), shorter).last();
    let words = rest.as_ref().unwrap_or(sentence);

    if let Some(cue) = created(words) {
        return Some(cue);
    }
    let (task_type, weight, phrase) = cues(LEADS)
        .filter(|(_, _, phrase)| words.after(phrase).is_some())
        .max_by_key(|(_, _, phrase)| phrase.len())?;
    // "Test runner crashes" names a thing, where "test the runner" asks for something.
    let is_noun = is_one_of(phrase, NOUN_LIKE)
        && (statement(words, STATES).is_some() || statement(words, WISHES).is_some());
    (!is_noun).then_some((task_type, weight, phrase))
}

/// Returns the cues in a title.
pub(super) fn in_title(sentence: &Words) -> impl Iterator<Item = Cue> {
    found(IN_TITLE, sentence).chain(observed(sentence))
}

/// Returns the cues below a title.
pub(super) fn in_body(body: &Words) -> impl Iterator<Item = Cue> {
    found(IN_BODY, body)
}

/// Recognises requests for tests or documentation. "Add a test for …" is about tests, "add a test
/// runner" is not: the word of interest must end the name of the thing to add.
fn created(words: &Words) -> Option<Cue> {
    let mut words = words.iter().peekable();
    words.next().filter(|verb| is_one_of(verb, CREATES))?;
    while let Some(word) = words.next() {
        if is_one_of(word, ENDS) {
            return None;
        }
        let mut next = words.peek().copied();
        if is_one_of(word, TESTS) && next.is_some_and(|next| is_one_of(next, TEST_PARTS)) {
            words.next();
            next = words.peek().copied();
        }
        if next.is_some_and(|next| !is_one_of(next, ENDS)) {
            continue;
        }
        if is_one_of(word, TESTS) {
            return Some((TaskType::Test, CREATED_WEIGHT, "tests"));
        }
        if is_one_of(word, DOCUMENTS) {
            return Some((TaskType::Analyze, CREATED_WEIGHT, "documentation"));
        }
    }
    None
}

/// Recognises a complaint: a title that asks for nothing and states how something behaves.
fn observed(sentence: &Words) -> Option<Cue> {
    let asks = sentence.is_question || lead(sentence).is_some();
    let begins = each(COMPLAINTS).find(|verb| sentence.after(verb).is_some());
    let verb = statement(sentence, STATES).or(begins).filter(|_| !asks)?;
    Some((TaskType::Debug, OBSERVED_WEIGHT, verb))
}

/// Returns the verb by which the words state something about a thing named before it.
fn statement(words: &Words, verbs: &'static str) -> Option<&'static str> {
    let first_of = |list: &'static str| {
        let positions = each(list).map(|phrase| (words.position(phrase), phrase));
        let inside = positions.filter_map(|(at, phrase)| Some((at.filter(|at| *at > 0)?, phrase)));
        inside.min()
    };
    let (at, verb) = first_of(verbs)?;
    // "Add a check when the file is missing" states nothing of the whole.
    let clause = first_of(CLAUSES).map_or(usize::MAX, |(at, _)| at);
    (at < clause).then_some(verb)
}

fn found(table: &'static str, words: &Words) -> impl Iterator<Item = Cue> {
    cues(table).filter(|(_, _, phrase)| words.contains(phrase))
}

/// Returns the cues of a table.
fn cues(table: &'static str) -> impl Iterator<Item = Cue> {
    table
        .lines()
        .filter_map(head)
        .flat_map(|(task_type, weight, list)| {
            each(list).map(move |phrase| (task_type, weight, phrase))
        })
}

/// Reads a line such as `debug 10: fix, mend`.
pub(super) fn head(line: &'static str) -> Option<Cue> {
    let (head, list) = line.split_once(": ")?;
    let (task_type, weight) = head.split_once(' ')?;
    Some((task_type.parse().ok()?, weight.parse().ok()?, list))
}

fn each(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(", ")
}

fn is_one_of(word: &str, list: &'static str) -> bool {
    each(list).any(|known| known == word)
}
