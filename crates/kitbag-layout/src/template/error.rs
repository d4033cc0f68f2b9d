//! What can be wrong with a template, and where.

use std::fmt;

use thiserror::Error;

/// Where in a template something is.
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
    /// The place of the byte `at` in a template.
    pub(super) fn of(template: &str, source: &str, at: usize) -> Self {
        let (mut line, mut column) = (1, 1);
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
    /// The problem there.
    pub problem: TemplateProblem,
}

/// A problem of a template.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TemplateProblem {
    /// The source is not a template.
    #[error("found {found} where {expected} was expected")]
    Syntax {
        /// What stands there.
        found: String,
        /// What may stand there.
        expected: String,
    },
    /// A block is closed by the name of another. Its place is where it was opened.
    #[error("the block `{opened}` is closed by `{closed}`")]
    Unbalanced {
        /// The name that it was opened with.
        opened: String,
        /// The name that it is closed with.
        closed: String,
    },
    /// A helper is called that does not exist.
    #[error("there is no helper `{0}`")]
    UnknownHelper(String),
    /// A partial is called that does not exist.
    #[error("there is no partial `{0}`")]
    UnknownPartial(String),
    /// A path leads to nothing, where that is refused.
    #[error("`{0}` leads to nothing")]
    Missing(String),
    /// A helper is called with what it cannot take.
    #[error("`{helper}` {problem}")]
    Argument {
        /// The name of the helper.
        helper: String,
        /// What is wrong, as the rest of a sentence that begins with the helper.
        problem: String,
    },
    /// A limit is reached.
    #[error("more than {limit} {what}")]
    Limit {
        /// What there is too much of.
        what: Limited,
        /// How much of it there may be.
        limit: u64,
    },
}

/// What there is a limit of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limited {
    /// The size of a template.
    Source,
    /// The size of what is rendered.
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
    /// What to do about it, where that is not plain.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        use TemplateProblem::{Limit, Missing, Syntax, UnknownHelper};
        match &self.problem {
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

/// Why rendering stopped.
#[derive(Debug, Error)]
#[error(transparent)]
pub(super) enum Halt {
    /// A problem with the tag or the expression that is being rendered.
    Here(#[from] TemplateProblem),
    /// A problem further inside, whose place is known.
    Inside(#[from] TemplateError),
}

impl Halt {
    /// The error, with the place of what was being rendered unless it is known better.
    pub(super) fn at(self, place: impl FnOnce() -> Place) -> TemplateError {
        match self {
            Self::Here(problem) => TemplateError {
                place: place(),
                problem,
            },
            Self::Inside(error) => error,
        }
    }
}

/// Whether what was found is the number in `{{list.0}}`, which is the end of no path.
fn starts_with_digit(found: &str) -> bool {
    let mut chars = found.trim_start_matches('`').chars();
    chars.next().is_some_and(|first| first.is_ascii_digit())
}
