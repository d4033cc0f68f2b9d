//! Problems in a file that somebody wrote, with their places.
//!
//! Readers collect problems and go on, so that all of them are shown at once.

use std::cell::RefCell;
use std::fmt;

use serde::Serialize;

use crate::yaml::{Field, Node};

/// A problem in a file.
///
/// ```
/// use kitbag_layout::FileProblem;
///
/// let problem = FileProblem::error("kitbag.yaml", "expected a text, got a number")
///     .at(12, 5)
///     .of("agents[2].name");
/// assert_eq!(
///     problem.to_string(),
///     "kitbag.yaml:12:5: agents[2].name: expected a text, got a number"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FileProblem {
    pub severity: Severity,
    /// The file, by the name given to the reader.
    pub file: String,
    /// The line, from 1; 0 if unknown.
    pub line: u64,
    /// The column, from 1; 0 if unknown.
    pub column: u64,
    /// The path to the value, such as `agents[2].inline.layout`; empty for the file as a whole.
    pub key: String,
    /// The problem, with the value and the expectation.
    pub message: String,
    /// A remedy.
    pub hint: Option<String>,
}

/// The severity of a [`FileProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The text has no effect, or one that its author may not expect.
    Warning,
    /// The text cannot be used.
    Error,
}

impl FileProblem {
    /// Makes an error: something that cannot be used.
    #[must_use]
    pub fn error(file: &str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            file: file.to_owned(),
            line: 0,
            column: 0,
            key: String::new(),
            message: message.into(),
            hint: None,
        }
    }

    /// Makes a warning: something that is probably a mistake.
    #[must_use]
    pub fn warning(file: &str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(file, message)
        }
    }

    /// Sets the place.
    #[must_use]
    pub fn at(self, line: u64, column: u64) -> Self {
        Self {
            line,
            column,
            ..self
        }
    }

    /// Sets the path to the value.
    #[must_use]
    pub fn of(self, key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            ..self
        }
    }

    /// Sets a remedy.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Returns true if the text cannot be used.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for FileProblem {}

/// The problems of one file, in the order in which they are found. Readers share it, so it is
/// behind a `RefCell`.
#[derive(Debug)]
pub(crate) struct Problems {
    file: String,
    found: RefCell<Vec<FileProblem>>,
}

impl Problems {
    /// Reads a file with `read`, and returns all problems in the order of lines. A text that is no
    /// YAML is not read at all.
    pub(crate) fn reading<T: Default>(
        file: &str,
        text: &str,
        read: impl FnOnce(&Field<'_>) -> Option<T>,
    ) -> (T, Vec<FileProblem>) {
        let problems = Self {
            file: file.to_owned(),
            found: RefCell::default(),
        };
        let read = match Node::read(file, text) {
            Ok(node) => {
                let root = Field::root(&node, &problems);
                // Before reading: a repeated key may be the reason for what the reader complains of.
                root.warn_of_repeated_keys();
                read(&root)
            }
            Err(problem) => {
                problems.add(problem);
                None
            }
        };
        let mut found = problems.found.into_inner();
        // Readers ask for keys in their own order, and people read a file from the top.
        found.sort_by_key(|problem| (problem.line, problem.column));
        (read.unwrap_or_default(), found)
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn add(&self, problem: FileProblem) {
        self.found.borrow_mut().push(problem);
    }

    /// The number of problems so far.
    pub(crate) fn count(&self) -> usize {
        self.found.borrow().len()
    }

    /// The first error after the first `count` problems.
    pub(crate) fn error_since(&self, count: usize) -> Option<FileProblem> {
        let found = self.found.borrow();
        found.iter().skip(count).find(|it| it.is_error()).cloned()
    }
}
