//! Failures of commands: the message, the hint, and the exit code.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use crate::interrupt::Interrupt;
use crate::output;

/// A failure to report.
#[derive(Debug)]
pub(crate) struct Failure {
    /// Empty if everything was reported already, or if the reader of the output has gone.
    message: String,
    hint: Option<String>,
    code: u8,
}

impl Failure {
    /// A failure of the command, with exit code 1.
    pub(crate) fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            code: 1,
        }
    }

    /// A mistake in the arguments, with exit code 2.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self {
            code: 2,
            ..Self::new(message)
        }
    }

    /// The end of a command by a signal.
    pub(crate) fn interrupted(by: Interrupt) -> Self {
        Self {
            code: by.exit_code(),
            ..Self::new("interrupted")
        }
    }

    /// A failure that was reported when it happened.
    pub(crate) fn reported() -> Self {
        Self::new("")
    }

    /// The same failure with a hint.
    pub(crate) fn hint(self, hint: impl Display) -> Self {
        self.hint_if(Some(hint))
    }

    /// The same failure with a hint, if there is one.
    pub(crate) fn hint_if(mut self, hint: Option<impl Display>) -> Self {
        // A missing hint keeps an earlier one.
        self.hint = hint.map(|hint| hint.to_string()).or(self.hint);
        self
    }

    /// The same failure with more advice behind its hint.
    pub(crate) fn hint_also(mut self, more: &str) -> Self {
        self.hint = Some(match self.hint {
            Some(hint) => format!("{hint}; {more}"),
            None => more.to_owned(),
        });
        self
    }

    /// The same failure, of the value of an option.
    pub(crate) fn of(mut self, option: &str) -> Self {
        self.message = format!("{option}: {}", self.message);
        self
    }

    /// The same failure with a consequence.
    pub(crate) fn and(mut self, consequence: impl Display) -> Self {
        self.message = format!("{}; {consequence}", self.message);
        self
    }

    /// Tells whether the reader of the output has gone.
    pub(crate) const fn is_closed_pipe(&self) -> bool {
        self.code == 0
    }

    /// The error.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Prints it on stderr as a warning, with what happens instead.
    pub(crate) fn warn(self, instead: &str) {
        let hint = self
            .hint
            .map_or_else(String::new, |hint| format!("\nhint: {hint}"));
        output::say(format_args!("warning: {}; {instead}{hint}", self.message));
    }

    /// The failure with its hint, on one line.
    pub(crate) fn into_line(self) -> String {
        let hint = self
            .hint
            .map_or_else(String::new, |hint| format!(" ({hint})"));
        output::one_line(&format!("{}{hint}", self.message))
    }

    /// The same failure with an exit code without a meaning for agents: a hook that exits with 2 stops its
    /// agent.
    pub(crate) fn harmless(mut self) -> Self {
        self.code = self.code.min(1);
        self
    }

    /// Prints it on stderr.
    pub(crate) fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            output::say_error(&self.message, self.hint.as_deref());
        }
        ExitCode::from(self.code)
    }
}

impl From<io::Error> for Failure {
    /// A failure to write the result. A closed pipe, as of `head`, is no failure.
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
