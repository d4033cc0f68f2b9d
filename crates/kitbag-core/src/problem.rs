//! Problems as data: something did not go as asked, and the rest went on.
//!
//! A problem never stops a prompt; what does is an error. Messages and hints speak of the thing
//! itself and never of a command-line flag: a program that knows flags adds them by the kind.

use alloc::string::String;
use core::fmt;

use serde::{Deserialize, Serialize};

/// Something that did not go as asked.
///
/// ```
/// use kitbag_core::problem::{Problem, ProblemKind};
///
/// let problem = Problem::new("git", ProblemKind::Failed, "the repository has no commits");
/// assert_eq!(problem.to_string(), "git: the repository has no commits");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Problem {
    /// The source that met it: a gatherer, a file, a part of memory. May be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// The kind, for programs.
    pub kind: ProblemKind,
    /// The message, for people: lower case, without a full stop.
    pub message: String,
    /// The remedy, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// A source failed and brought nothing, or less than it has.
    Failed,
    /// Something asked for does not exist, or nothing was found.
    NotFound,
    /// Something was shortened to fit.
    Shortened,
    /// Something was left out.
    LeftOut,
    /// The output's form cannot carry something.
    NotCarried,
    /// Something that was written has no effect.
    Ignored,
    /// A choice costs more than another would: provider caches, mostly.
    Costly,
    /// A text imitates instructions or another speaker, or hides something. It was not refused.
    Suspicious,
    /// The request names no model, and its form needs one.
    NoModel,
}

impl Problem {
    /// Creates a problem of `source`, without a hint.
    #[must_use]
    pub fn new(source: impl Into<String>, kind: ProblemKind, message: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// Creates the failure of a source.
    #[must_use]
    pub fn failed(source: impl Into<String>, error: impl fmt::Display) -> Self {
        Self::new(source, ProblemKind::Failed, alloc::format!("{error}"))
    }

    /// Adds a remedy.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.source.is_empty() {
            write!(f, "{}: ", self.source)?;
        }
        f.write_str(&self.message)
    }
}
