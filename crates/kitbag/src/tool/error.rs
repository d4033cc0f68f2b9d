//! The error of a call, in words that a model can act upon.

use std::fmt::Display;

/// The reason why a call gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ToolError {
    /// There is no tool of this name.
    #[error("there is no tool `{name}`; the tools are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The arguments are not those of the tool.
    #[error("the arguments of `{tool}` cannot be used: {problem}")]
    Arguments {
        /// The tool.
        tool: String,
        /// What is wrong with them.
        problem: String,
    },
    /// Something that the arguments name cannot be used.
    #[error("{0}")]
    Invalid(String),
    /// The tool failed.
    #[error("{problem}{}", .hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
    Failed {
        /// Why.
        problem: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The database of the memory failed. Its words may name hosts and users.
    #[error("{0}")]
    Database(String),
}

impl ToolError {
    /// A tool that failed.
    pub fn new(problem: impl Display) -> Self {
        Self::Failed {
            problem: problem.to_string(),
            hint: None,
        }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn hint(mut self, advice: Option<impl Display>) -> Self {
        if let (Self::Failed { hint, .. }, Some(advice)) = (&mut self, advice) {
            *hint = Some(advice.to_string());
        }
        self
    }

    pub(super) fn arguments(tool: &str, problem: impl Display) -> Self {
        Self::Arguments {
            tool: tool.to_owned(),
            problem: problem.to_string(),
        }
    }

    pub(super) fn unknown(name: &str, known: &[&str]) -> Self {
        Self::Unknown {
            name: name.to_owned(),
            known: known.join(", "),
        }
    }
}

#[cfg(feature = "store")]
impl From<kitbag_store::StoreError> for ToolError {
    fn from(error: kitbag_store::StoreError) -> Self {
        if let kitbag_store::StoreError::Invalid { .. } = error {
            return Self::Invalid(error.to_string());
        }
        if error.is_of_database() {
            return Self::Database(match error.hint() {
                Some(hint) => format!("{error}; {hint}"),
                None => error.to_string(),
            });
        }
        Self::new(&error).hint(error.hint())
    }
}

#[cfg(feature = "workspace")]
impl From<crate::pack::PackError> for ToolError {
    fn from(error: crate::pack::PackError) -> Self {
        Self::new(&error).hint(error.hint())
    }
}
