//! `kitbag explain`: why a prompt is as it is, and what would change that.

mod path;
mod table;
mod trials;

use serde_json::Value;

use super::pack::{PackArgs, Stdin, last, packed, place, prepared, summary};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;

/// Says why a file is in the prompt or not, and what would change that
///
/// With a task, packs it without printing the prompt and shows every decision as a table. With a task
/// and a path, tells about that file: its score by part, what displaced it, and which budget or which
/// words would bring it in. Without a task, tells about the last pack of the folder; a file alone is
/// looked at for the task of that.
///
/// With `--task-file` the only argument is the path. With `--diff` or `--staged`, which need no task,
/// an only argument is the path too, unless it is a sentence.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done
    task: Option<String>,
    /// The file to tell about
    path: Option<String>,
    #[command(flatten)]
    pack: PackArgs,
    /// Prints JSON
    #[arg(long)]
    json: bool,
    /// Shows this many rows of what is not in the prompt
    #[arg(long, value_name = "ROWS", default_value_t = 20)]
    excluded: usize,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (task, path) = args.asked()?;
    let last;
    let task = if task.is_some() || args.pack.has_task() {
        task
    } else if path.is_some() {
        last = last_task(args)?;
        output::say(format_args!(
            "note: for the task of the last pack, “{}”",
            output::one_line(&last)
        ));
        Some(last.as_str())
    } else {
        return show(args, &recall(args)?);
    };
    let (counter, request) = args.pack.request(task, Stdin::Ignored)?;
    let progress = if args.json {
        Progress::hidden()
    } else {
        Progress::start("looking at the workspace")
    };
    let prepared = prepared(&request)?;
    progress.stage("fitting");
    let pack = packed(&prepared, &request, &counter)?;
    let Some(path) = path else {
        drop(progress);
        let decided = serde_json::to_value(&pack).map_err(Failure::new)?;
        return show(args, &decided);
    };
    progress.stage("trying other budgets and words");
    let told = path::tell(path, &request, &prepared, &pack, &counter)?;
    drop(progress);
    if args.json {
        return Ok(output::print_json(&told)?);
    }
    summary::say_problems(&pack.problems);
    Ok(output::print(&told.to_string())?)
}

impl Args {
    /// The task and the path, where the arguments say them.
    fn asked(&self) -> Result<(Option<&str>, Option<&str>), Failure> {
        match (self.task.as_deref(), self.path.as_deref()) {
            (Some(_), Some(_)) if self.pack.has_task_file() => Err(Failure::usage(
                "the task is in the file of `--task-file`, and there are two arguments",
            )
            .hint("give the path alone")),
            (Some(only), None) if self.pack.has_task_file() => Ok((None, Some(only))),
            (Some(only), None) if self.pack.has_task() && self.is_path(only) => {
                self.pack.check_revision(Some(only))?;
                Ok((None, Some(only)))
            }
            (Some(only), None) if place(self.pack.root(), only).is_ok() => Ok((None, Some(only))),
            asked => Ok(asked),
        }
    }

    /// Whether an argument beside a change is a path: that of a file, or one word.
    fn is_path(&self, argument: &str) -> bool {
        !argument.contains(char::is_whitespace) || place(self.pack.root(), argument).is_ok()
    }
}

/// The last pack of the folder, as it was decided then.
fn recall(args: &Args) -> Result<Value, Failure> {
    last::recall(args.pack.root(), args.pack.cache_dir()).ok_or_else(|| {
        let root = args.pack.root().display();
        Failure::new(format_args!("nothing was packed yet in `{root}`"))
            .hint("name the task: `kitbag explain \"…\"`")
    })
}

fn last_task(args: &Args) -> Result<String, Failure> {
    let decided = recall(args)?;
    let task = decided.get("task").and_then(Value::as_str);
    Ok(task.unwrap_or_default().to_owned())
}

fn show(args: &Args, decided: &Value) -> Result<(), Failure> {
    if args.json {
        return Ok(output::print_json(decided)?);
    }
    Ok(output::print(&table::table(decided, args.excluded))?)
}
