//! Infers the kind of a task from a request.
//!
//! The first line counts most, and in it the verb that a sentence begins with; the rest is only
//! searched for signs of a fault or a wish. Code, paths and identifiers are not words. Nothing is
//! learned here and only English is understood: a person who knows better names the type.

mod cues;
mod words;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use self::words::Words;
use super::TaskType;

/// The weight of a stack trace, wherever it stands.
const TRACE_WEIGHT: u32 = 6;

/// The most that the text below the title can weigh.
const BODY_LIMIT: u32 = 6;

/// The kind of task that a request seems to be, with the words that say so.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inferred {
    /// The kind of task.
    pub task_type: TaskType,
    /// The words of the request that speak for it, in lower case; none if it is the
    /// default: analyze for a question, otherwise implement.
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
        let (title, body) = title_and_body(request);
        let mut votes = Votes::default();
        let sentences = words::sentences(title);
        for (index, sentence) in sentences.iter().enumerate() {
            votes.hear_sentence(sentence, index == 0);
        }
        votes.hear_body(&words::prose(body));
        if words::shows_a_trace(request) {
            votes.add(Self::Debug, TRACE_WEIGHT, "stack trace");
        }
        let asks = sentences.iter().any(|sentence| sentence.is_question);
        votes.winner(if asks { Self::Analyze } else { Self::Implement })
    }
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

    fn winner(&self, default: TaskType) -> Inferred {
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
        let best = heard.max_by_key(total).unwrap_or(default);
        Inferred {
            task_type: best,
            cues: votes(best).map(|(.., cue)| cue.to_string()).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
