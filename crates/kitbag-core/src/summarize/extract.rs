//! Summarises without a model: whole sentences, chosen by rules, in the words they were said in.
//!
//! The sentence with the most worth for its length is taken first, again and again, until nothing
//! more fits. The worth of a sentence is its points (see the table in `score.rs`), less what was
//! already said: a sentence whose telling words are all used comes last, unless it decides
//! something, and one that says the very same as a later one does not come at all, nor does mere
//! courtesy. The chosen ones are printed in the order in which they were said, with their speakers.
//!
//! A summary is a text like any other: its sentences take part, with their speakers, when it is
//! summarised again, so that summaries do not grow and do not repeat themselves.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::score::{Place, is_commitment, score, telling_words};
use super::sentences::{is_ended, is_fence, parts, sentences};
use crate::neutral::FOLDED_BREAK;
use crate::tokens::{TokenCounter, Tokens};

/// The number of sentences that may turn out too long, printed with their speakers, before the rest
/// is no longer tried.
const MISSES: u32 = 64;
/// The share of a sentence that counts as new although all of its words were used, in thousandths:
/// it may still combine them in another way.
const LEAST_NEWS: u64 = 10;
/// The same for a decision: a change of mind repeats most words.
const LEAST_NEWS_OF_DECISION: u64 = 500;

/// Returns the most telling sentences of some utterances, within `limit`.
///
/// `names` are known names, such as the labels of entities: sentences with one are worth more. A
/// sentence that does not fit is left out, whole; one that is longer than the limit by itself is
/// cut into parts, with an ellipsis at each cut. The result is empty if nothing fits or nothing was
/// said.
///
/// ```
/// use kitbag_core::summarize::{Speaker, Utterance, extract};
/// use kitbag_core::tokens::{Characters, Tokens};
///
/// let said = [
///     Utterance::new(Speaker::User, "Hi there! We decided on Friday 7 pm at Nora's. How are you?"),
///     Utterance::new(Speaker::Assistant, "I am glad to hear that and happy to help with it."),
/// ];
/// let summary = extract(&said, &[], Tokens(50), &Characters);
/// assert_eq!(summary, "User: We decided on Friday 7 pm at Nora's.");
/// ```
#[must_use]
pub fn extract(
    texts: &[Utterance],
    names: &[String],
    limit: Tokens,
    counter: &dyn TokenCounter,
) -> String {
    let candidates = candidates(texts, names, limit, counter);
    let all: Tokens = candidates.iter().map(|candidate| candidate.cost).sum();
    let count = u32::try_from(candidates.len()).unwrap_or(u32::MAX);
    let usual = Tokens(all.0 / count.max(1));
    let candidates = without_repetitions(candidates);
    let mut open: Vec<(usize, &Candidate)> = candidates.iter().enumerate().collect();
    let mut chosen = BTreeMap::new();
    let mut covered = BTreeSet::new();
    let mut used = Tokens::ZERO;
    let mut misses = 0;
    while misses <= MISSES {
        let room = limit.saturating_sub(used);
        open.retain(|(_, candidate)| candidate.cost <= room);
        let worth = |candidate: &Candidate| candidate.worth(&covered, usual);
        // Of equals the later one, which supersedes the other.
        let best = open.iter().enumerate();
        let best = best.max_by_key(|(_, (index, candidate))| (worth(candidate), *index));
        let Some((at, _)) = best.filter(|(_, (_, best))| worth(best) > 0) else {
            break;
        };
        let (index, candidate) = open.remove(at);
        chosen.insert(index, candidate);
        // The cost of a candidate has neither its label nor what joins it to its neighbours.
        let total = counter.count(&print(chosen.values()));
        if total > limit {
            chosen.remove(&index);
            misses += 1;
            continue;
        }
        used = total;
        covered.extend(candidate.words.iter().cloned());
    }
    print(chosen.values())
}

/// The words of one speaker.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Utterance {
    pub speaker: Speaker,
    /// The words.
    pub text: String,
}

impl Utterance {
    /// Creates an utterance.
    #[must_use]
    pub fn new(speaker: Speaker, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { speaker, text }
    }

    /// Reads a summary line by line, with the speakers that [`extract`] wrote before the lines.
    #[must_use]
    pub fn of_summary(summary: &str) -> Vec<Self> {
        let lines = summary.lines().map(str::trim);
        let utterance = |line: &str| {
            let labelled = Speaker::LABELLED.into_iter().find_map(|speaker| {
                let rest = line.strip_prefix(speaker.label()?)?;
                Some(Self::new(speaker, rest.strip_prefix(": ")?))
            });
            labelled.unwrap_or_else(|| Self::new(Speaker::Summary, line))
        };
        lines
            .filter(|line| !line.is_empty())
            .map(utterance)
            .collect()
    }
}

/// The speaker of an utterance, and the way of speaking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Speaker {
    /// The user.
    User,
    /// The assistant.
    Assistant,
    /// The assistant, about something that it proposes and has not done.
    Proposal,
    /// The assistant, asking the user.
    Question,
    /// A summary in words of its own.
    Summary,
}

impl Speaker {
    const LABELLED: [Self; 4] = [Self::User, Self::Assistant, Self::Proposal, Self::Question];

    /// Returns the label before the speaker's words in a summary, if there is one.
    #[must_use]
    pub const fn label(self) -> Option<&'static str> {
        match self {
            Self::User => Some("User"),
            Self::Assistant => Some("Assistant"),
            Self::Proposal => Some("Assistant proposed"),
            Self::Question => Some("Assistant asked"),
            Self::Summary => None,
        }
    }

    fn is_user(self) -> bool {
        self == Self::User
    }
}

/// A sentence that may be chosen.
struct Candidate {
    utterance: usize,
    speaker: Speaker,
    text: String,
    words: BTreeSet<String>,
    decides: bool,
    points: u32,
    cost: Tokens,
}

impl Candidate {
    /// Returns the points for what is new, per token, in millionths.
    ///
    /// Twice the `usual` cost is added to the sentence's own, so that the shortest do not always
    /// win.
    fn worth(&self, covered: &BTreeSet<String>, usual: Tokens) -> u64 {
        let all = self.words.len();
        let new = self.words.difference(covered).count();
        let share = (new * 1_000 / all.max(1)) as u64;
        let new = if self.decides {
            share.max(LEAST_NEWS_OF_DECISION)
        } else {
            share.max(LEAST_NEWS)
        };
        let cost = self.cost.saturating_add(usual).saturating_add(usual);
        u64::from(self.points) * new * 1_000 / u64::from(cost.0.max(1))
    }
}

fn candidates(
    texts: &[Utterance],
    names: &[String],
    limit: Tokens,
    counter: &dyn TokenCounter,
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for (utterance, said) in texts.iter().enumerate() {
        let speaker = said.speaker;
        let room = limit.saturating_sub(counter.count(speaker.label().unwrap_or_default()));
        let mut later = texts.iter().skip(utterance + 1).map(|said| said.speaker);
        // By the other side, or by anybody once two more utterances came: who speaks may be unknown.
        let is_answered =
            utterance + 2 < texts.len() || later.any(|other| other.is_user() != speaker.is_user());
        let late = utterance.saturating_add(1) * 1_000 / texts.len();
        for (index, sentence) in sentences(&said.text).into_iter().enumerate() {
            let place = Place {
                is_first: index == 0,
                is_answered,
                lateness_permille: u32::try_from(late).unwrap_or(1_000),
            };
            for text in within(&folded(sentence), room, counter) {
                let words = telling_words(&text);
                found.push(Candidate {
                    utterance,
                    speaker,
                    decides: is_commitment(&text),
                    points: score(&text, &words, speaker, &place, names),
                    words,
                    cost: counter.count(&text),
                    text,
                });
            }
        }
    }
    found
}

/// Keeps only the last of sentences that say the very same, and none of those that say nothing.
fn without_repetitions(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    let mut seen = BTreeSet::new();
    let mut all = candidates.iter();
    let says_something = all.any(|candidate| !candidate.words.is_empty());
    candidates.reverse();
    candidates.retain_mut(|candidate| {
        let is_new = seen.insert((candidate.speaker.is_user(), candidate.words.clone()));
        let is_empty = candidate.words.is_empty();
        if is_empty {
            // "Yes, do it" may be all that was said: then it is its own telling word.
            candidate.words.insert(candidate.text.clone());
        }
        is_new && !(is_empty && says_something)
    });
    candidates.reverse();
    candidates
}

/// Returns a sentence, or its parts of half the `room` if it has more tokens than that.
fn within(sentence: &str, room: Tokens, counter: &dyn TokenCounter) -> Vec<String> {
    let tokens = counter.count(sentence);
    if tokens <= room {
        return [sentence.to_owned()].into();
    }
    let length = sentence.chars().count() as u64;
    let length = length * u64::from(room.0 / 2) / u64::from(tokens.0.max(1));
    parts(
        sentence,
        usize::try_from(length).unwrap_or(usize::MAX).max(12),
    )
}

/// Puts a sentence on one line: wrapped prose goes on after a space, code shows where its lines
/// end.
fn folded(sentence: &str) -> String {
    if is_fence(sentence) {
        let lines: Vec<&str> = sentence.lines().map(str::trim_end).collect();
        return lines.join(&String::from(FOLDED_BREAK));
    }
    let words: Vec<&str> = sentence.split_whitespace().collect();
    words.join(" ")
}

/// Prints the chosen sentences, a line for each utterance.
fn print<'c>(chosen: impl Iterator<Item = &'c &'c Candidate>) -> String {
    let mut text = String::new();
    let mut last = None;
    for candidate in chosen {
        let is_same = last == Some(candidate.utterance);
        if is_same {
            // Two items of a list may share our line, so that a mark has to separate them.
            text.push_str(if is_ended(&text) { " " } else { "; " });
        } else {
            if last.is_some() {
                text.push('\n');
            }
            if let Some(label) = candidate.speaker.label() {
                text.push_str(label);
                text.push_str(": ");
            }
        }
        let said = candidate.text.as_str();
        // One ellipsis is enough between two parts of a sentence.
        let after_part = is_same && text.trim_end().ends_with('…');
        text.push_str(
            said.strip_prefix("… ")
                .filter(|_| after_part)
                .unwrap_or(said),
        );
        last = Some(candidate.utterance);
    }
    text
}
