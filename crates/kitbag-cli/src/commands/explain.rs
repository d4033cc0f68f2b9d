//! `kitbag explain`: why a prompt is as it is, and what would change that.

mod path;
mod table;

use serde_json::Value;

use super::pack::{PackArgs, Stdin, last, packed, place, prepared};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;

/// Says why a file is in the prompt or not, and what would change that
///
/// With a task, packs it without printing the prompt and shows every decision as a table. With a task
/// and a path, tells about that file: its score by part, what displaced it, and which budget or which
/// words would bring it in. Without a task, tells about the last pack of the folder.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done
    #[arg(conflicts_with = "task_file")]
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
    if args.task.is_none() && !args.pack.has_task() {
        return tell_last(args);
    }
    let (counter, request) = args.pack.request(args.task.as_deref(), Stdin::Ignored)?;
    let progress = if args.json {
        Progress::hidden()
    } else {
        Progress::start("looking at the workspace")
    };
    let prepared = prepared(&request)?;
    progress.stage("fitting");
    let pack = packed(&prepared, &request, &counter)?;
    let Some(path) = &args.path else {
        drop(progress);
        let decided = serde_json::to_value(&pack).map_err(Failure::new)?;
        return show(args, &decided);
    };
    let path = place(args.pack.root(), path).unwrap_or_else(|_| path.clone());
    progress.stage("trying other budgets and words");
    let told = path::tell(&path, &request, &prepared, &pack, &counter)?;
    drop(progress);
    if args.json {
        return Ok(output::print_json(&told)?);
    }
    Ok(output::print(&told.to_string())?)
}

/// The last pack of the folder, as it was decided then.
fn tell_last(args: &Args) -> Result<(), Failure> {
    let decided = last::recall(args.pack.root(), args.pack.cache_dir()).ok_or_else(|| {
        let root = args.pack.root().display();
        Failure::new(format_args!("nothing was packed yet in `{root}`"))
            .hint("name the task: `kitbag explain \"…\"`")
    })?;
    show(args, &decided)
}

fn show(args: &Args, decided: &Value) -> Result<(), Failure> {
    if args.json {
        return Ok(output::print_json(decided)?);
    }
    Ok(output::print(&table::table(decided, args.excluded))?)
}
