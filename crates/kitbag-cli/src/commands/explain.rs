//! `kitbag explain`: the reasons for the contents of a prompt, and what would change them.

mod path;
mod table;

use kitbag::pack::explain::explain;
use kitbag::pack::{Decisions, Pack};

use super::pack::{PackArgs, Stdin, fitting, last, packed, place, prepared, summary};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;

/// Explains why a file is in the prompt or not, and what would change that
///
/// With a task, packs it without printing the prompt and shows every decision as a table. With a task
/// and a path, explains that file: its score by part, and which budget, words or pin would bring it in
/// or show more of it. Without a task, shows the last pack of the folder; with only a path, explains
/// that file for the last task.
///
/// If a file is missing or cut, name its path. If the prompt is too large, look at the end of the table for
/// the folders that take most of it. If the task was misunderstood, the table ends with the inferred type,
/// the words that it came from, and the words that were searched for.
///
/// With `--task-file` the one argument is the path. With `--diff` or `--staged`, which need no task, a
/// single argument is taken as the path too, unless it is a sentence.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag explain \"fix the login redirect\" src/session.rs
  kitbag explain \"fix the login redirect\"
  kitbag explain src/session.rs")]
pub(crate) struct Args {
    /// The task
    task: Option<String>,
    /// The file to explain
    path: Option<String>,
    #[command(flatten)]
    pack: PackArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Show at most this many rows of files that are not in the prompt
    #[arg(long, value_name = "ROWS", default_value_t = 20)]
    excluded: usize,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.pack.fetch()?;
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
    progress.stage(fitting(&prepared));
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
    // No runtime: packing computes on threads of its own and waits for nothing else.
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
    // Files first. Only then the names of other chunks, which may look like paths.
    place(args.pack.root(), typed).or_else(|misplaced| {
        let is_kept = pack.assembly.kept.iter().any(|kept| kept.source == typed);
        let mut excluded = pack.decisions.excluded.iter();
        match is_kept || excluded.any(|out| out.source == typed) {
            true => Ok(typed.to_owned()),
            false => Err(suggested(typed, pack).map_or(misplaced, |path| missing(typed, &path))),
        }
    })
}

/// The file that a wrong path most likely means: one with that file name, or the most similar path.
fn suggested(typed: &str, pack: &Pack) -> Option<String> {
    let ranked = pack.decisions.ranked.iter().map(|ranked| &ranked.source);
    let excluded = pack
        .decisions
        .excluded
        .iter()
        .map(|excluded| &excluded.source);
    nearest(typed, ranked.chain(excluded).map(String::as_str))
}

/// The path that is nearest to what was typed. A name that is right in another folder comes first.
fn nearest<'a>(typed: &str, paths: impl Iterator<Item = &'a str>) -> Option<String> {
    let name = |path: &'a str| path.rsplit('/').next().unwrap_or(path);
    let typed_name = typed.rsplit('/').next().unwrap_or(typed);
    let judged = paths.map(|path| {
        let of_name = strsim::osa_distance(typed_name, name(path));
        (of_name, strsim::osa_distance(typed, path), path)
    });
    let best = judged.min()?;
    // More than a third of the letters wrong is another name.
    (best.0 * 3 <= typed_name.chars().count()).then(|| best.2.to_owned())
}

fn missing(typed: &str, nearest: &str) -> Failure {
    let (typed, nearest) = (output::one_line(typed), output::one_line(nearest));
    Failure::usage(format_args!("there is no file `{typed}` below the root"))
        .hint(format_args!("did you mean `{nearest}`?"))
}

/// Tells a word that can only be meant as a path: it has folders, or the ending of a file.
fn looks_like_path(word: &str) -> bool {
    let is_word = !word.is_empty() && !word.contains(char::is_whitespace);
    let (stem, extension) = word.rsplit_once('.').unwrap_or_default();
    let has_extension = !stem.is_empty()
        && (1..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word && (has_extension || word.contains('/') && !word.contains("://"))
}

impl Args {
    /// The task and the path, where the arguments say them.
    fn asked(&self) -> Result<(Option<&str>, Option<&str>), Failure> {
        match (self.task.as_deref(), self.path.as_deref()) {
            (Some(_), Some(_)) if self.pack.has_task_file() => {
                let what = "`--task-file` gives the task already, and there are two arguments";
                Err(Failure::usage(what).hint("give only the path as an argument"))
            }
            // The task is in a file, so the argument can only be the path.
            (Some(only), None) if self.pack.has_task_file() => Ok((None, Some(only))),
            (Some(only), None) if self.pack.has_task() && self.is_path(only) => {
                self.pack.check_revision(Some(only))?;
                Ok((None, Some(only)))
            }
            (Some(only), None) if place(self.pack.root(), only).is_ok() => Ok((None, Some(only))),
            // A mistyped path is no task: the search for its words would find something.
            (Some(only), None) if looks_like_path(only) => Ok((None, Some(only))),
            asked => Ok(asked),
        }
    }

    /// Returns true if an argument that comes with a change is a path: that of a file, or one word.
    fn is_path(&self, argument: &str) -> bool {
        !argument.contains(char::is_whitespace) || place(self.pack.root(), argument).is_ok()
    }
}

/// The last pack of the folder, as it was decided then.
fn recall(args: &Args) -> Result<Decisions, Failure> {
    last::recall(args.pack.root(), args.pack.cache_dir()).ok_or_else(|| {
        let root = args.pack.root().display();
        Failure::new(format_args!("there is no earlier pack of `{root}`"))
            .hint("name the task: `kitbag explain \"…\"`")
    })
}

fn show(args: &Args, decided: &Decisions) -> Result<(), Failure> {
    if args.json {
        return Ok(output::print_json(decided)?);
    }
    Ok(output::print(&table::table(decided, args.excluded))?)
}
