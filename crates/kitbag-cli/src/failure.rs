//! Failures of commands: what was wrong, what to do, and the exit code.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use crate::{interrupt, output};

/// A failure to report.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Empty if everything was said already, or whoever read the output has gone.
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// The command could not do what it was asked.
    pub(crate) fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            code: 1,
        }
    }

    /// The command was asked wrongly.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self {
            code: 2,
            ..Self::new(message)
        }
    }

    /// The command was ended by Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self {
            code: interrupt::EXIT_CODE,
            ..Self::new("interrupted")
        }
    }

    /// Something failed, and was reported when it did.
    pub(crate) fn reported() -> Self {
        Self::new("")
    }

    /// The same failure with what to do about it.
    pub(crate) fn hint(self, hint: impl Display) -> Self {
        self.hint_if(Some(hint))
    }

    /// The same failure with what to do about it, where that is known.
    pub(crate) fn hint_if(mut self, hint: Option<impl Display>) -> Self {
        self.hint = hint.map(|hint| hint.to_string()).or(self.hint);
        self
    }

    /// The same failure of what an option names.
    pub(crate) fn of(mut self, option: &str) -> Self {
        self.message = format!("{option}: {}", self.message);
        self
    }

    /// The same failure with what else it means.
    pub(crate) fn and(mut self, consequence: impl Display) -> Self {
        self.message = format!("{}; {consequence}", self.message);
        self
    }

    /// Tells whether whoever read the output has gone.
    pub(crate) const fn is_closed_pipe(&self) -> bool {
        self.code == 0
    }

    /// The error.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Says it on stderr as a warning, with what happens in spite of it.
    pub(crate) fn warn(self, instead: &str) {
        let hint = self
            .hint
            .map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        output::say(format_args!("warning: {}; {instead}{hint}", self.message));
    }

    /// The failure with what to do about it, on one line.
    pub(crate) fn into_line(self) -> String {
        let hint = self
            .hint
            .map_or_else(String::new, |hint| format!(" ({hint})"));
        output::one_line(&format!("{}{hint}", self.message))
    }

    /// The same failure with an exit code that is no answer: a hook that exits with 2 stops its agent.
    pub(crate) fn harmless(mut self) -> Self {
        self.code = self.code.min(1);
        self
    }

    /// Says it on stderr.
    pub(crate) fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            output::say_error(&self.message, self.hint.as_deref());
        }
        ExitCode::from(self.code)
    }
}

impl From<io::Error> for Failure {
    /// A failure to write the result; a closed pipe is no failure.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self {
                code: 0,
                ..Self::reported()
            },
            _ => Self::new(format_args!("cannot write the result: {error}")),
        }
    }
}
