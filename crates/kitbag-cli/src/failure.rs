//! Why a command failed: what was wrong, what to do, and the exit code.

use std::fmt::Display;
use std::io;
use std::process::ExitCode;

use crate::output;

/// A failure to report.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    hint: Option<String>,
    kind: Kind,
}

#[derive(Debug, PartialEq)]
enum Kind {
    Failed,
    WrongUsage,
    /// Whoever read the output has gone, or everything was said already.
    Silent {
        code: u8,
    },
}

impl Failure {
    /// The command could not do what it was asked.
    pub(crate) fn new(message: impl Display) -> Self {
        Self {
            message: message.to_string(),
            hint: None,
            kind: Kind::Failed,
        }
    }

    /// The command was asked wrongly.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self {
            kind: Kind::WrongUsage,
            ..Self::new(message)
        }
    }

    /// Something failed, and was reported when it did.
    pub(crate) fn reported() -> Self {
        Self {
            kind: Kind::Silent { code: 1 },
            ..Self::new("")
        }
    }

    /// The same failure with what to do about it.
    pub(crate) fn hint(mut self, hint: impl Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }

    /// The same failure with what else it means.
    pub(crate) fn and(mut self, consequence: impl Display) -> Self {
        self.message = format!("{}; {consequence}", self.message);
        self
    }

    /// Says it on stderr.
    pub(crate) fn report(self) -> ExitCode {
        let code = match self.kind {
            Kind::Silent { code } => return ExitCode::from(code),
            Kind::Failed => 1,
            Kind::WrongUsage => 2,
        };
        output::say_error(&self.message, self.hint.as_deref());
        ExitCode::from(code)
    }
}

impl From<io::Error> for Failure {
    /// A failure to write the result; a closed pipe is no failure.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self {
                kind: Kind::Silent { code: 0 },
                ..Self::new("")
            },
            _ => Self::new(format_args!("cannot write the result: {error}")),
        }
    }
}
