//! The facts that a model claims to have found, each accepted or refused.

use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::statement::Quoted;
use kitbag_core::text::{Language, fold};
use kitbag_secrets::redact;
use kitbag_store::{Fact, NewFact};
use serde::Deserialize;

use super::{MOST, STATEMENTS, UserMessage};
use crate::receive::asks_to_disregard;

const LONGEST_KEY: usize = 40;
const LONGEST_VALUE: usize = 200;

/// Keys that are no facts about a person: the conversation itself, its tasks, and words to its reader.
const NO_FACTS: [&str; 20] = [
    "answer",
    "assistant",
    "command",
    "conversation",
    "fact",
    "goal",
    "instruction",
    "instructions",
    "intent",
    "message",
    "prompt",
    "query",
    "question",
    "request",
    "rule",
    "rules",
    "summary",
    "system",
    "task",
    "topic",
];

/// Values that say that nothing is known.
const NOTHING: [&str; 12] = [
    "empty",
    "n a",
    "na",
    "nil",
    "none",
    "not given",
    "not known",
    "not mentioned",
    "not specified",
    "null",
    "undefined",
    "unknown",
];

/// The facts of an answer that hold, and the reasons why others were refused.
pub(super) struct FoundFacts {
    pub(super) kept: Vec<NewFact>,
    refused: Vec<String>,
}

impl FoundFacts {
    /// A problem that names the first refused fact and counts the others.
    pub(super) fn problem(&self) -> Option<Problem> {
        let first = self.refused.first()?;
        let message = match self.refused.len() {
            1 => format!("a fact of the model was not kept: {first}"),
            count => format!("{count} facts of the model were not kept; the first: {first}"),
        };
        Some(Problem::new("learning", ProblemKind::Ignored, message))
    }
}

/// Reads the answer of a model, and holds each fact against what was said.
pub(super) fn found(
    answer: &str,
    part: &[UserMessage],
    known: &[Fact],
) -> Result<FoundFacts, serde_json::Error> {
    let Answer { facts } = serde_json::from_str(without_fence(answer))?;
    let mut found = FoundFacts {
        kept: Vec::new(),
        refused: Vec::new(),
    };
    for (index, claim) in facts.into_iter().enumerate() {
        let checked = match index < MOST {
            // A limit by position and not by facts kept: refused claims use it up too.
            true => claim.check(part, known),
            false => Err("there are more than were asked for"),
        };
        match checked {
            Ok(Some(fact)) => found.kept.push(fact),
            // It is known already.
            Ok(None) => {}
            Err(reason) => {
                let key: String = claim.key.chars().take(LONGEST_KEY).collect();
                found
                    .refused
                    .push(format!("`{}` {reason}", key.escape_debug()));
            }
        }
    }
    Ok(found)
}

/// The answer without a code fence: models like to put JSON into one, whatever the prompt says.
fn without_fence(answer: &str) -> &str {
    let answer = answer.trim();
    let inner = answer
        .strip_prefix("```json")
        .or(answer.strip_prefix("```"));
    let inner = inner.and_then(|inner| inner.strip_suffix("```"));
    inner.unwrap_or(answer).trim()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    facts: Vec<Claim>,
}

/// A fact, as a model claims it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claim {
    key: String,
    value: String,
    message: usize,
    quote: String,
}

impl Claim {
    /// The fact, or `None` if it is known already, or the reason to refuse it.
    fn check(&self, part: &[UserMessage], known: &[Fact]) -> Result<Option<NewFact>, &'static str> {
        let key = self.key.trim().replace('_', " ");
        let value = self.value.trim();
        // A key stands unquoted in later prompts, so that nothing in it may look like markup or a sentence.
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "/- ".contains(c);
        if !key.starts_with(|c: char| c.is_ascii_lowercase()) || !key.chars().all(is_plain) {
            return Err("is no key of plain words");
        }
        if key.chars().count() > LONGEST_KEY || value.chars().count() > LONGEST_VALUE {
            return Err("is too long");
        }
        if value.contains(char::is_control) {
            return Err("has control characters");
        }
        let words = words(value);
        if words.is_empty() || NOTHING.contains(&words.join(" ").as_str()) {
            return Err("says nothing");
        }
        let mut parts = key.split([' ', '/', '-']);
        if parts.any(|part| NO_FACTS.contains(&part)) {
            return Err("is no fact about a person");
        }
        // Stored messages are redacted: a value with such a mark is what is left of a secret.
        if value.contains("[REDACTED") || !redact(value, "").found.is_empty() {
            return Err("looks like a secret");
        }
        let claim = format!("{key} {value}");
        // A fact is shown in every later prompt: an injected instruction must not get there.
        if asks_to_disregard(&claim) || asks_to_disregard(&self.quote) {
            return Err("asks to disregard instructions");
        }
        // Messages are numbered from 1 in the question.
        let said = self.message.checked_sub(1).and_then(|at| part.get(at));
        let said = said.ok_or("names a message that there is not")?;
        self.check_quote(said, value, &words)?;
        let folded = |text: &str| fold(&text.to_lowercase());
        let is_known = |fact: &Fact| {
            said.key_of(fact) == Some(key.as_str()) && folded(&fact.value) == folded(value)
        };
        if known.iter().any(is_known) {
            return Ok(None);
        }
        Ok(Some(NewFact::new(key, value).from_message(said.id)))
    }

    /// Checks that the words of the value are in the quotation, and the quotation among the user's
    /// statements: a model may invent either.
    fn check_quote(
        &self,
        said: &UserMessage,
        value: &str,
        words_of_value: &[String],
    ) -> Result<(), &'static str> {
        let quote = words(&self.quote);
        let is_grammar = |word: &&String| Language::English.is_stop_word(word);
        if words_of_value.iter().all(|word| is_grammar(&word)) {
            return Err("says nothing");
        }
        let mut telling = words_of_value.iter().filter(|word| !is_grammar(word));
        if !telling.all(|word| quote.contains(word)) {
            return Err("has a value that its quotation does not have");
        }
        // A single word is found in too many places.
        let quoted = match quote.len() {
            0 | 1 => Quoted::NotSaid,
            _ => STATEMENTS.quoted(&said.whole, &self.quote, value),
        };
        match quoted {
            Quoted::Stated => Ok(()),
            Quoted::Denied => Err("is denied by the user"),
            Quoted::NotActual => Err("is over, or only supposed or reported"),
            _ => Err("has a quotation that the user did not say"),
        }
    }
}

/// The words of a text, in lower case and without accents.
fn words(text: &str) -> Vec<String> {
    let sentences = STATEMENTS.own_sentences(text);
    sentences
        .into_iter()
        .flat_map(|sentence| sentence.words)
        .collect()
}
