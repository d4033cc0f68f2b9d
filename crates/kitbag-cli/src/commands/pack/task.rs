//! Where the task comes from, and what is attached to it.

use std::fs::File;
use std::path::{Path, PathBuf};

use kitbag::pack::Attachment;

use crate::failure::Failure;
use crate::{output, stdin};

/// The options for the task and what belongs to it.
#[derive(clap::Args)]
pub(crate) struct TaskArgs {
    /// Reads the task from this file; `-` is stdin
    #[arg(long, value_name = "FILE")]
    pub(super) task_file: Option<PathBuf>,
    /// Attaches this text to the task, such as a log; `-` is stdin, and waits for its end
    #[arg(long, value_name = "FILE")]
    attach: Option<PathBuf>,
}

/// What stdin may be where no option asks for it.
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
    /// The task and what is attached to it. Where there is no task it is empty.
    pub(super) fn read(
        &self,
        given: Option<&str>,
        stdin: Stdin,
    ) -> Result<(String, Option<Attachment>), Failure> {
        let is_dash = |file: &Path| file.as_os_str() == "-";
        let attaches_stdin = self.attach.as_deref().is_some_and(is_dash);
        let may_be_task = stdin == Stdin::TaskOrAttached && !attaches_stdin;
        let source = match (given, self.task_file.as_deref()) {
            (Some("-"), _) => Source::Stdin,
            (Some(task), _) => Source::Given(task),
            (None, Some(file)) if is_dash(file) => Source::Stdin,
            (None, Some(file)) => Source::File(file),
            (None, None) if may_be_task && stdin::is_piped() => Source::Stdin,
            (None, None) => Source::Nowhere,
        };
        if attaches_stdin && matches!(source, Source::Stdin) {
            let message = "stdin cannot be the task and be attached to it";
            return Err(Failure::usage(message).hint("give the task as an argument"));
        }
        let is_argument = matches!(source, Source::Given(_));
        let task = match source {
            Source::Given(task) => task.to_owned(),
            Source::Stdin => stdin::read("the task")?,
            Source::File(file) => read_file(file, "the task")?,
            Source::Nowhere => String::new(),
        };
        let attached = match self.attach.as_deref() {
            Some(file) if is_dash(file) => Some(("stdin", stdin::read("the attachment")?)),
            Some(file) => {
                let name = file.file_name().and_then(|name| name.to_str());
                Some((
                    name.unwrap_or("attachment"),
                    read_file(file, "the attachment")?,
                ))
            }
            None if is_argument && stdin != Stdin::Ignored && stdin::is_piped() => {
                piped()?.map(|text| ("stdin", text))
            }
            None => None,
        };
        let attachment =
            attached
                .filter(|(_, text)| !text.trim().is_empty())
                .map(|(name, text)| Attachment {
                    name: name.to_owned(),
                    text,
                });
        Ok((task, attachment))
    }
}

enum Source<'a> {
    Given(&'a str),
    File(&'a Path),
    Stdin,
    Nowhere,
}

/// What is piped in beside a task. Nobody may have meant to pipe anything in.
fn piped() -> Result<Option<String>, Failure> {
    let text = stdin::read_soon()?;
    if text.is_none() {
        output::say(format_args!(
            "warning: nothing came on stdin within a second, and nothing is attached; `--attach -` \
             waits for it, `</dev/null` does not"
        ));
    }
    Ok(text)
}

fn read_file(file: &Path, what: &str) -> Result<String, Failure> {
    let name = format!("{what} from `{}`", file.display());
    let file = File::open(file)
        .map_err(|error| Failure::new(format_args!("cannot read {name}: {error}")))?;
    stdin::read_text(file, &name)
}
