//! The source of the task and of its attachment.

use std::path::{Path, PathBuf};

use kitbag::pack::Attachment;

use super::args::TASK;
use crate::failure::Failure;
use crate::{input, output};

/// The options for the task and what belongs to it.
#[derive(clap::Args)]
pub(crate) struct TaskArgs {
    /// Read the task from this file; `-` is stdin
    #[arg(long, value_name = "FILE", help_heading = TASK)]
    pub(super) task_file: Option<PathBuf>,
    /// Attach this text to the task, such as a log; `-` reads stdin to its end
    #[arg(long, value_name = "FILE", help_heading = TASK)]
    attach: Option<PathBuf>,
}

/// The role of stdin if no option asks for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// The task, or attached to the one that is given.
    TaskOrAttached,
    /// Attached to the task that is given.
    Attached,
    /// Not read.
    Ignored,
}

impl TaskArgs {
    /// The task, empty if there is none, and its attachment.
    pub(super) fn read(
        &self,
        given: Option<&str>,
        stdin: Stdin,
    ) -> Result<(String, Option<Attachment>), Failure> {
        let attaches_stdin = self.attach.as_deref().is_some_and(input::is_stdin);
        // Stdin can be read only once, so it is either the task or the attachment.
        let may_be_task = stdin == Stdin::TaskOrAttached && !attaches_stdin;
        let task_file = match (given, self.task_file.as_deref()) {
            (Some("-"), _) => Some(Path::new("-")),
            (Some(_), _) => None,
            (None, Some(file)) => Some(file),
            (None, None) if may_be_task && input::is_piped() => Some(Path::new("-")),
            (None, None) => None,
        };
        if attaches_stdin && task_file.is_some_and(input::is_stdin) {
            let message = "stdin cannot be the task and be attached to it";
            return Err(Failure::usage(message).hint("give the task as an argument"));
        }
        let task = match task_file {
            Some(file) => input::read_text(file, "the task")?,
            None => given.unwrap_or_default().to_owned(),
        };
        let is_argument = given.is_some() && task_file.is_none();
        let text = match self.attach.as_deref() {
            Some(file) => Some(input::read_text(file, "the attachment")?),
            None if is_argument && stdin != Stdin::Ignored && input::is_piped() => piped()?,
            None => None,
        };
        let name = match self.attach.as_deref() {
            Some(file) if !attaches_stdin => file.file_name().and_then(|name| name.to_str()),
            _ => Some("stdin"),
        };
        let name = name.unwrap_or("attachment").to_owned();
        // A pipe that only closes, as of a build service, attaches nothing.
        let text = text.filter(|text| !text.trim().is_empty());
        Ok((task, text.map(|text| Attachment { name, text })))
    }
}

/// The text on stdin next to a task. The pipe may be idle, left open by the program that started us.
fn piped() -> Result<Option<String>, Failure> {
    let text = input::read_soon()?;
    if text.is_none() {
        output::say(format_args!(
            "warning: nothing came on stdin within a second, so nothing is attached\n\
             hint: `--attach -` waits for it, `</dev/null` skips the wait"
        ));
    }
    Ok(text)
}
