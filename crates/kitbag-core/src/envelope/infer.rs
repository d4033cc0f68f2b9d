//! Infers the kind of a task from a request.
//!
//! The first line counts most, and in it the verb that a sentence begins with; the rest is only
//! searched for signs of a fault or a wish. Code, paths and identifiers are not words. In other
//! languages than English single words tell (`wording`). Nothing is learned here: a person who knows
//! better names the type.

mod cues;
mod words;

pub(super) use cues::head;
pub(super) use words::Words;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::TaskType;
use super::wording::Wording;

/// The weight of a stack trace, wherever it stands.
const TRACE_WEIGHT: u32 = 6;

/// The most that the text below the title can weigh.
const BODY_LIMIT: u32 = 6;

/// The weight of a question mark if nothing else is found.
const QUESTION_WEIGHT: u32 = 1;

/// The kind of task that a request seems to be, with the words that say so.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inferred {
    /// The kind of task.
    pub task_type: TaskType,
    /// The words of the request that speak for it, in lower case, or the question mark; none if it is
    /// the default, implement.
    pub cues: Vec<String>,
}

impl fmt::Display for Inferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.task_type.as_str())?;
        match self.cues.as_slice() {
            [] => write!(f, ", as nothing in the request says otherwise"),
            cues => write!(f, ", because of `{}`", cues.join("`, `")),
        }
    }
}

impl TaskType {
    /// Infers the kind of a task from a request.
    ///
    /// ```
    /// use kitbag_core::envelope::TaskType;
    ///
    /// let inferred = TaskType::infer("Why does the parser crash on an empty file?");
    /// assert_eq!(inferred.task_type, TaskType::Debug);
    /// assert_eq!(inferred.cues, ["crash"]);
    /// ```
    #[must_use]
    pub fn infer(request: &str) -> Inferred {
        let (title, _) = title_and_body(request);
        let sentences = words::sentences(title);
        let mut votes = Votes::of(request, &sentences);
        let wording = Wording::of(request);
        for sentence in &sentences {
            votes.hear_wording(wording, sentence);
        }
        let asks = sentences.iter().any(|sentence| sentence.is_question);
        if asks && votes.cast.is_empty() {
            votes.add(Self::Analyze, QUESTION_WEIGHT, "?");
        }
        votes.winner()
    }
}

/// Tells if a request asks to look through a change, in any of the languages that tasks are understood in.
/// Where there is no change, to review is to analyze.
///
/// ```
/// use kitbag_core::envelope::asks_for_review;
///
/// assert!(asks_for_review("Überprüfe diese Änderung auf Fehler"));
/// assert!(asks_for_review("please review this"));
/// assert!(!asks_for_review("fix what the review found"));
/// ```
#[must_use]
pub fn asks_for_review(request: &str) -> bool {
    let (title, _) = title_and_body(request);
    let wording = Wording::of(request);
    words::sentences(title).iter().any(|sentence| {
        let mut cues = wording.cues(sentence);
        let is_english = match cues::lead(sentence) {
            Some((.., lead)) => lead.contains("review"),
            None => sentence.has("review"),
        };
        is_english || cues.any(|(task_type, ..)| task_type == TaskType::Review)
    })
}

/// Counts the words of a request that tell its type in English.
pub(super) fn english_cues(request: &str) -> usize {
    let (title, _) = title_and_body(request);
    Votes::of(request, &words::sentences(title)).cast.len()
}

/// Splits a request into its first line with text, and the rest.
fn title_and_body(request: &str) -> (&str, &str) {
    let text = request.trim_start_matches(|c: char| c.is_whitespace() || c == '#');
    text.split_once('\n').unwrap_or((text, ""))
}

#[derive(Default)]
struct Votes<'t> {
    cast: Vec<(TaskType, u32, &'t str)>,
}

impl<'t> Votes<'t> {
    /// The votes of the English words.
    fn of(request: &str, sentences: &[Words]) -> Self {
        let mut votes = Self::default();
        for (index, sentence) in sentences.iter().enumerate() {
            votes.hear_sentence(sentence, index == 0);
        }
        let (_, body) = title_and_body(request);
        votes.hear_body(&words::prose(body));
        if words::shows_a_trace(request) {
            votes.add(TaskType::Debug, TRACE_WEIGHT, "stack trace");
        }
        votes
    }

    /// Hears the words of another language. Who asks wants an answer, whatever the verb is.
    fn hear_wording(&mut self, wording: &Wording, sentence: &Words) {
        for (task_type, weight, cue) in wording.cues(sentence) {
            // Without a change to look through, to review is to analyze.
            let task_type = match task_type {
                TaskType::Review => TaskType::Analyze,
                task_type => task_type,
            };
            let is_told = matches!(task_type, TaskType::Debug | TaskType::Analyze);
            let weight = match sentence.is_question && !is_told {
                true => weight / 2,
                false => weight,
            };
            self.add(task_type, weight, cue);
        }
    }

    /// Counts a cue, unless one that it is a part of, or that is a part of it, weighs as much.
    fn add(&mut self, task_type: TaskType, weight: u32, cue: &'t str) {
        let overlaps = |(other, _, known): &(TaskType, u32, &str)| {
            *other == task_type && (known.contains(cue) || cue.contains(known))
        };
        match self.cast.iter_mut().find(|vote| overlaps(vote)) {
            Some((_, known, _)) if *known >= weight => {}
            Some(lighter) => *lighter = (task_type, weight, cue),
            None => self.cast.push((task_type, weight, cue)),
        }
    }

    fn hear_sentence(&mut self, sentence: &Words, is_first: bool) {
        if let Some((task_type, weight, cue)) = cues::lead(sentence) {
            // A request may open with what is wrong and end with what to do.
            let weight = if is_first { weight } else { weight * 3 / 4 };
            self.add(task_type, weight, cue);
        }
        for (task_type, weight, cue) in cues::in_title(sentence) {
            // "Should it …?" asks, and wishes nothing.
            if sentence.is_question && cues::is_modal(cue) {
                continue;
            }
            self.add(task_type, weight, cue);
        }
    }

    fn hear_body(&mut self, body: &Words) {
        let mut heard = [0; TaskType::ALL.len()];
        for (task_type, weight, cue) in cues::in_body(body) {
            let so_far = heard.get_mut(task_type as usize);
            // A long text must not outvote its title.
            if let Some(so_far) = so_far.filter(|so_far| **so_far < BODY_LIMIT) {
                *so_far += weight;
                self.add(task_type, weight, cue);
            }
        }
    }

    fn winner(&self) -> Inferred {
        let votes = |of: TaskType| {
            let cast = self.cast.iter();
            cast.filter(move |(task_type, ..)| *task_type == of)
        };
        let total = |of: &TaskType| votes(*of).map(|(_, weight, _)| weight).sum::<u32>();
        // Of equals the later one wins, which needs more care.
        let order = [
            TaskType::Analyze,
            TaskType::Implement,
            TaskType::Refactor,
            TaskType::Test,
            TaskType::Debug,
        ];
        let heard = order.into_iter().filter(|one| total(one) > 0);
        let best = heard.max_by_key(total).unwrap_or(TaskType::Implement);
        Inferred {
            task_type: best,
            cues: votes(best).map(|(.., cue)| cue.to_string()).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
