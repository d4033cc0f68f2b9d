//! What is wrong with a file that somebody wrote, and where.
//!
//! Readers collect problems and go on, so that all of them are shown at once.

use std::cell::RefCell;
use std::fmt;

use serde::Serialize;

use crate::yaml::{Field, Node};

/// One thing that is wrong in a file.
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
    /// How bad it is.
    pub severity: Severity,
    /// The file, as it was named to the reader.
    pub file: String,
    /// The line, from 1; 0 where it is not known.
    pub line: u64,
    /// The column, from 1; 0 where it is not known.
    pub column: u64,
    /// The way to the value, such as `agents[2].inline.layout`; empty for the file as a whole.
    pub key: String,
    /// What is wrong, with which value, and what was expected.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The severity of a [`FileProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// What was written has no effect, or one that its author may not expect.
    Warning,
    /// What was written cannot be used.
    Error,
}

impl FileProblem {
    /// Something that cannot be used.
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

    /// Something that is probably not meant so.
    #[must_use]
    pub fn warning(file: &str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(file, message)
        }
    }

    /// The same, at a place.
    #[must_use]
    pub fn at(self, line: u64, column: u64) -> Self {
        Self {
            line,
            column,
            ..self
        }
    }

    /// The same, about the value under a key.
    #[must_use]
    pub fn of(self, key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            ..self
        }
    }

    /// The same, with what to do about it.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// Whether what was written cannot be used.
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

/// The problems of one file, as they are found.
#[derive(Debug)]
pub(crate) struct Problems {
    file: String,
    found: RefCell<Vec<FileProblem>>,
}

impl Problems {
    /// Reads a file with `read`, and collects all that is wrong with it, in the order of the lines.
    /// Nothing is read of a text that is no YAML.
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
                root.warn_of_repeated_keys();
                read(&root)
            }
            Err(problem) => {
                problems.add(problem);
                None
            }
        };
        let mut found = problems.found.into_inner();
        found.sort_by_key(|problem| (problem.line, problem.column));
        (read.unwrap_or_default(), found)
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn add(&self, problem: FileProblem) {
        self.found.borrow_mut().push(problem);
    }

    /// The number of problems up to now.
    pub(crate) fn count(&self) -> usize {
        self.found.borrow().len()
    }

    /// The first error of those that were found after so many.
    pub(crate) fn error_since(&self, count: usize) -> Option<FileProblem> {
        let found = self.found.borrow();
        found.iter().skip(count).find(|it| it.is_error()).cloned()
    }
}
