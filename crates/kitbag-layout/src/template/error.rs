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
        let before = source
            .char_indices()
            .take_while(|(start, _)| *start < at)
            .map(|(_, char)| char);
        let (mut line, mut column) = (1, 1);
        for char in before {
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
#[non_exhaustive]
pub enum TemplateError {
    /// The source is not a template.
    #[error("{place}: found {found} where {expected} was expected")]
    Syntax {
        /// Where it is.
        place: Place,
        /// What stands there.
        found: String,
        /// What may stand there.
        expected: String,
    },
    /// A block is closed by the name of another.
    #[error("{place}: the block `{opened}` is closed by `{closed}`")]
    Unbalanced {
        /// Where the block was opened.
        place: Place,
        /// The name that it was opened with.
        opened: String,
        /// The name that it is closed with.
        closed: String,
    },
    /// A helper is called that does not exist.
    #[error("{place}: there is no helper `{name}`")]
    UnknownHelper {
        /// Where it is called.
        place: Place,
        /// The name.
        name: String,
    },
    /// A partial is called that does not exist.
    #[error("{place}: there is no partial `{name}`")]
    UnknownPartial {
        /// Where it is called.
        place: Place,
        /// The name.
        name: String,
    },
    /// A path leads to nothing, where that is refused.
    #[error("{place}: `{path}` leads to nothing")]
    Missing {
        /// Where it is.
        place: Place,
        /// The path, as it is written.
        path: String,
    },
    /// A helper is called with what it cannot take.
    #[error("{place}: `{helper}` {problem}")]
    Argument {
        /// Where it is called.
        place: Place,
        /// The name of the helper.
        helper: String,
        /// What is wrong, as the rest of a sentence that begins with the helper.
        problem: String,
    },
    /// A limit is reached.
    #[error("{place}: more than {limit} {what}")]
    Limit {
        /// Where that was.
        place: Place,
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
    /// Where it is.
    #[must_use]
    pub fn place(&self) -> &Place {
        match self {
            Self::Syntax { place, .. }
            | Self::Unbalanced { place, .. }
            | Self::UnknownHelper { place, .. }
            | Self::UnknownPartial { place, .. }
            | Self::Missing { place, .. }
            | Self::Argument { place, .. }
            | Self::Limit { place, .. } => place,
        }
    }

    /// What to do about it, where that is not plain.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Syntax { found, .. } if starts_with_digit(found) => {
                Some("an index stands in brackets: `list.[0]`".to_owned())
            }
            Self::UnknownHelper { name, .. } => Some(format!(
                "only a helper takes arguments; if `{name}` is a field, leave them out"
            )),
            Self::Missing { path, .. } => Some(format!(
                "give it a value, or ask first: `{{{{#if {path}}}}}`"
            )),
            Self::Limit { what, .. } => match what {
                Limited::Depth => Some("a partial may be calling itself".to_owned()),
                Limited::Steps => Some("a loop may stand within another".to_owned()),
                Limited::Source | Limited::Output | Limited::Data => None,
            },
            Self::Syntax { .. }
            | Self::Unbalanced { .. }
            | Self::UnknownPartial { .. }
            | Self::Argument { .. } => None,
        }
    }
}

/// Whether what was found is the number in `{{list.0}}`, which is the end of no path.
fn starts_with_digit(found: &str) -> bool {
    let mut chars = found.trim_start_matches('`').chars();
    chars.next().is_some_and(|first| first.is_ascii_digit())
}
