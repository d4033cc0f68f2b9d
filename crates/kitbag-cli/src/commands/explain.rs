//! `kitbag explain`: why a prompt is as it is, and what would change that.

mod path;
mod table;

use kitbag::pack::explain::explain;
use kitbag::pack::{Decisions, Pack};

use super::pack::{PackArgs, Stdin, last, packed, place, prepared, summary};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;

/// Says why a file is in the prompt or not, and what would change that
///
/// With a task, packs it without printing the prompt and shows every decision as a table. With a task
/// and a path, explains that file: its score by part, and which budget, words or pin would bring it in
/// or show more of it. Without a task, shows the last pack of the folder; with only a path, explains
/// that file for the last task.
///
/// A file is missing or cut: name its path. The prompt is too large: the table ends with the folders
/// that take most of it. The task was misunderstood: the table ends with the type that was inferred,
/// from which words, and with the words that were looked for.
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
    /// Print JSON
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
        last = recall(args)?.task;
        let shown = output::one_line(&last);
        output::say(format_args!(
            "note: for the task of the last pack, “{shown}”"
        ));
        Some(last.as_str())
    } else {
        return show(args, &recall(args)?);
    };
    let (counter, request) = args.pack.request(task, Stdin::Ignored)?;
    let progress = Progress::start("looking at the workspace");
    let prepared = prepared(&request)?;
    progress.stage("fitting");
    let pack = packed(&prepared, &request, &counter)?;
    let Some(path) = path else {
        drop(progress);
        if args.json {
            return Ok(output::print_json(&pack)?);
        }
        return show(args, &pack.decisions);
    };
    let path = source(args, path, &pack)?;
    progress.stage("trying other budgets and words");
    let told = explain(&path, &request, &prepared, &pack, &counter);
    let told = pollster::block_on(told);
    drop(progress);
    if args.json {
        return Ok(output::print_json(&told)?);
    }
    summary::say_problems(&pack.decisions.problems);
    Ok(output::print(&path::text(&told))?)
}

/// The source that was typed: the path of a file, or the name of a chunk that is no file, such as
/// `git log`, or of a file that a change deletes.
fn source(args: &Args, typed: &str, pack: &Pack) -> Result<String, Failure> {
    place(args.pack.root(), typed).or_else(|misplaced| {
        let is_kept = pack.assembly.kept.iter().any(|kept| kept.source == typed);
        let mut excluded = pack.decisions.excluded.iter();
        match is_kept || excluded.any(|out| out.source == typed) {
            true => Ok(typed.to_owned()),
            false => Err(misplaced),
        }
    })
}

impl Args {
    /// The task and the path, where the arguments say them.
    fn asked(&self) -> Result<(Option<&str>, Option<&str>), Failure> {
        match (self.task.as_deref(), self.path.as_deref()) {
            (Some(_), Some(_)) if self.pack.has_task_file() => {
                let what = "the task is in the file of `--task-file`, and there are two arguments";
                Err(Failure::usage(what).hint("give the path alone"))
            }
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
fn recall(args: &Args) -> Result<Decisions, Failure> {
    last::recall(args.pack.root(), args.pack.cache_dir()).ok_or_else(|| {
        let root = args.pack.root().display();
        Failure::new(format_args!("nothing was packed yet in `{root}`"))
            .hint("name the task: `kitbag explain \"…\"`")
    })
}

fn show(args: &Args, decided: &Decisions) -> Result<(), Failure> {
    if args.json {
        return Ok(output::print_json(decided)?);
    }
    Ok(output::print(&table::table(decided, args.excluded))?)
}
