//! Problems of templates, with their places.

use std::fmt;

use thiserror::Error;

/// A place in a template.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Place {
    /// The name that the template was parsed under.
    pub template: String,
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

impl Place {
    /// The place of the byte `at` in a template. It counts from the start, which only errors have
    /// to pay for.
    pub(super) fn of(template: &str, source: &str, at: usize) -> Self {
        let (mut line, mut column) = (1, 1);
        // Characters and not bytes: editors count them that way.
        for (_, char) in source.char_indices().take_while(|(start, _)| *start < at) {
            if char == '\n' {
                line += 1;
                column = 1;
            } else {
                column += 1;
            }
        }
        Self {
            template: template.to_owned(),
            line,
            column,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.template, self.line, self.column)
    }
}

/// A template that cannot be parsed or rendered.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place}: {problem}")]
#[non_exhaustive]
pub struct TemplateError {
    /// The place in the source.
    pub place: Place,
    pub problem: TemplateProblem,
}

/// A problem of a template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TemplateProblem {
    /// The source is not a template.
    #[error("found {found} where {expected} was expected")]
    Syntax {
        /// The text found there.
        found: String,
        /// The text expected there.
        expected: String,
    },
    /// A block is closed by another name. The place is that of its opening.
    #[error("the block `{opened}` is closed by `{closed}`")]
    Unbalanced {
        /// The name that it was opened with.
        opened: String,
        closed: String,
    },
    /// A helper is called that does not exist.
    #[error("there is no helper `{0}`")]
    UnknownHelper(String),
    /// A partial is called that does not exist.
    #[error("there is no partial `{0}`")]
    UnknownPartial(String),
    /// A path leads to nothing, and the settings refuse that.
    #[error("`{0}` leads to nothing")]
    Missing(String),
    /// A helper is called with an argument that it does not accept.
    #[error("`{helper}` {problem}")]
    Argument {
        helper: String,
        /// The problem, as the rest of a sentence that begins with the helper.
        problem: String,
    },
    /// A limit is reached.
    #[error("more than {limit} {what}")]
    Limit {
        /// The limited quantity.
        what: Limited,
        limit: u64,
    },
}

/// The quantities with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limited {
    /// The size of a template.
    Source,
    /// The size of the output.
    Output,
    /// The work that rendering takes.
    Steps,
    /// Blocks, partials and sub-expressions within each other.
    Depth,
    /// Lists and objects within each other in the values.
    Data,
}

impl fmt::Display for Limited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "bytes of template",
            Self::Output => "bytes of output",
            Self::Steps => "steps of rendering",
            Self::Depth => "blocks, partials and sub-expressions within each other",
            Self::Data => "lists and objects within each other",
        })
    }
}

impl TemplateError {
    /// A remedy, if it is not obvious.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        use TemplateProblem::{Limit, Missing, Syntax, UnknownHelper};
        match &self.problem {
            // The most common mistake of people who know other template languages.
            Syntax { found, .. } if starts_with_digit(found) => {
                Some("an index stands in brackets: `list.[0]`".to_owned())
            }
            UnknownHelper(name) => Some(format!(
                "only a helper takes arguments; if `{name}` is a field, leave them out"
            )),
            Missing(path) => Some(format!(
                "give it a value, or ask first: `{{{{#if {path}}}}}`"
            )),
            Limit { what, .. } => match what {
                Limited::Depth => Some("a partial may be calling itself".to_owned()),
                Limited::Steps => Some("a loop may stand within another".to_owned()),
                Limited::Source | Limited::Output | Limited::Data => None,
            },
            _ => None,
        }
    }
}

impl TemplateProblem {
    pub(super) fn limit(what: Limited, limit: u64) -> Self {
        Self::Limit { what, limit }
    }
}

/// The reason why rendering stopped.
#[derive(Debug, Error)]
#[error(transparent)]
pub(super) enum Halt {
    /// A problem with the current tag or expression, whose place the caller adds.
    Here(#[from] TemplateProblem),
    /// A problem further inside, with its place.
    Inside(#[from] TemplateError),
}

impl Halt {
    /// The error, with the given place unless a more precise one is known.
    pub(super) fn at(self, place: impl FnOnce() -> Place) -> TemplateError {
        match self {
            Self::Here(problem) => TemplateError {
                place: place(),
                problem,
            },
            // The innermost place is the one that the author has to look at.
            Self::Inside(error) => error,
        }
    }
}

/// Returns true for the number in `{{list.0}}`, which cannot end a path.
fn starts_with_digit(found: &str) -> bool {
    let mut chars = found.trim_start_matches('`').chars();
    chars.next().is_some_and(|first| first.is_ascii_digit())
}
