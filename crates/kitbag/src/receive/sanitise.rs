//! Sanitise: finds text in a message that imitates the operator or another speaker, and hidden
//! characters.
//!
//! The message is stored as it was typed. In the prompt hidden characters are shown by their number, as
//! layouts do; the marks of our own forms are kept from being structure where those are laid out
//! (`kitbag_core::flat`, `kitbag_layout::reserved`). Everything else is only reported, and nothing is refused:
//! a question about prompts looks like an attack on one.

mod marks;
mod overrides;

use std::fmt;

use kitbag_core::content::{Content, ContentBlock};
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_layout::reserved::{as_read, show_hidden};

use crate::engine::{Contribution, TurnRequest};
use crate::words::counted;

/// The most findings that are listed; the others are counted.
const MOST_TOLD: usize = 5;

/// Tells whether a text asks to disregard instructions.
#[cfg(all(feature = "providers", feature = "store"))]
pub(crate) fn asks_to_disregard(text: &str) -> bool {
    !Findings::of(text).overrides.is_empty()
}

/// Findings in a message.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// Marks that name a speaker: the line, and the usual spelling of the mark.
    marks: Vec<(usize, &'static str)>,
    /// Phrases that ask to disregard instructions: the line, and the language.
    overrides: Vec<(usize, &'static str)>,
    /// The number of hidden characters.
    hidden: usize,
}

impl Findings {
    pub(crate) fn of(text: &str) -> Self {
        let lines: Vec<Line<'_>> = text.lines().map(Line::new).collect();
        Self {
            marks: marks::find(&lines),
            overrides: overrides::find(&lines),
            hidden: count_hidden(text),
        }
    }

    /// Examines the message of a turn.
    pub(crate) fn of_turn(turn: &TurnRequest) -> Self {
        Self::of(&turn.prompt.current.content.text())
    }

    /// Shows hidden characters in the message of a turn, and adds the findings to the problems of its
    /// prompt.
    pub(crate) fn sanitise(&self, turn: &mut TurnRequest) {
        let mut contribution = Contribution::default();
        contribution.problems = self.problems();
        if !contribution.problems.is_empty() {
            turn.contributions.push(contribution);
        }
        show_hidden_in(&mut turn.prompt.current.content);
    }

    pub(crate) fn problems(&self) -> Vec<Problem> {
        let marks = self.marks.iter();
        let marks = marks.map(|(line, mark)| format!("line {line} imitates a speaker: {mark}"));
        let overrides = self.overrides.iter().map(|(line, language)| {
            format!("line {line} asks to disregard instructions ({language})")
        });
        let mut told: Vec<String> = marks.chain(overrides).collect();
        let more = told.len().saturating_sub(MOST_TOLD);
        told.truncate(MOST_TOLD);
        if more > 0 {
            told.push(format!(
                "{more} more lines imitate speakers or instructions"
            ));
        }
        if self.hidden > 0 {
            let hidden = counted(
                self.hidden as u64,
                "hidden character is",
                "hidden characters are",
            );
            told.push(format!("{hidden} shown to the model by number"));
        }
        let problem = |text| Problem::new("message", ProblemKind::Suspicious, text);
        told.into_iter().map(problem).collect()
    }
}

/// A line of a message. Normalising it takes most of the time, so it is done once for both searches.
struct Line<'t> {
    text: &'t str,
    /// The text as a reader sees it, in one spelling for letters that look alike.
    read: String,
}

impl<'t> Line<'t> {
    fn new(text: &'t str) -> Self {
        let read = as_read(text);
        Self { text, read }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.marks.len(), "mark of a speaker", "marks of speakers"),
            (self.overrides.len(), "override phrase", "override phrases"),
            (self.hidden, "hidden character", "hidden characters"),
        ];
        let found = counts.iter().filter(|(count, ..)| *count > 0);
        let found: Vec<String> = found
            .map(|&(count, one, several)| counted(count as u64, one, several))
            .collect();
        match found.is_empty() {
            true => f.write_str("nothing found"),
            false => f.write_str(&found.join(", ")),
        }
    }
}

/// Shows the hidden characters in the texts of a message by their number. Other blocks stay.
fn show_hidden_in(content: &mut Content) {
    match content {
        Content::Null => {}
        Content::Text(text) => *text = show_hidden(text).into_owned(),
        Content::Blocks(blocks) => {
            for block in blocks {
                let shown = block.as_text().map(|text| (text, show_hidden(text)));
                if let Some((text, shown)) = shown
                    // An unchanged block keeps its other fields, such as a cache marker of the client.
                    && shown != text
                {
                    *block = ContentBlock::text(shown);
                }
            }
        }
    }
}

/// The number of characters that are shown by their number.
fn count_hidden(text: &str) -> usize {
    let numbers = |text: &str| text.matches("[U+").count();
    // A message may quote such numbers itself.
    numbers(&show_hidden(text)).saturating_sub(numbers(text))
}

#[cfg(test)]
mod tests;
