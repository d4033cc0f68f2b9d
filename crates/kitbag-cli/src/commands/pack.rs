//! `kitbag pack`: the prompt for a task, from the folder you are in.

mod args;
pub(crate) mod envelope;
pub(crate) mod last;
mod list;
mod own_output;
mod pins;
mod place;
mod remote;
pub(crate) mod summary;
mod task;

use std::path::{Path, PathBuf};

use kitbag::core::tokens::TokenCounter;
use kitbag::pack::{Pack, PackError, PackRequest, Prepared, prepare};
use kitbag::tokens::Counter;

pub(crate) use args::{PackArgs, StrategyArg};
pub(crate) use place::place;
pub(crate) use task::Stdin;

use crate::clipboard;
use crate::counter::say_exactness;
use crate::failure::Failure;
use crate::output::{counted, grouped};
use crate::progress::Progress;
use crate::{flags, output};

/// Prints the prompt for a task: the code that it needs, within a token budget
///
/// Ranks all files below the root for the task, and shows the best of them whole, in parts or in outline,
/// as the budget allows. Without a task it gives an overview of the project.
///
/// Stdin is the task if no other is given. Otherwise a text that is piped in is attached to the task, such
/// as the log of a failure. If stderr is a terminal, kitbag waits for the pipe and says so. Otherwise it waits
/// one second for the first byte, then continues without it and warns; `--attach -` always waits.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag pack \"fix the login redirect\" --copy
  kitbag pack \"add a retry\" -b 16k -p src/http.rs -x 'tests/'
  kitbag pack --diff=main --format markdown -o review.md
  cargo test 2>&1 | kitbag pack \"why does this fail?\" --attach -
  kitbag pack \"how does it parse?\" --remote owner/name")]
pub(crate) struct Args {
    /// The task, in your words; `-` reads it from stdin
    #[arg(conflicts_with = "task_file")]
    task: Option<String>,
    #[command(flatten)]
    pack: PackArgs,
    /// Print the prompt and every decision as JSON
    #[arg(long)]
    json: bool,
    /// Print a tree of what the prompt shows, with levels and tokens, instead of the prompt
    #[arg(long, conflicts_with_all = ["json", "output", "copy"])]
    list: bool,
    /// Write the prompt to this file instead of stdout; `-` is stdout. The file itself is not packed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Copy the prompt to the clipboard instead of printing it
    #[arg(short, long, conflicts_with = "output")]
    copy: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.pack.fetch()?;
    let (counter, mut request) = args
        .pack
        .request(args.task.as_deref(), Stdin::TaskOrAttached)?;
    // The prompt of the run before must not become part of this one.
    let own = own_output::patterns(&request.survey.root, args.output_file());
    request.survey.exclude.extend(own);
    // The vocabulary takes a tenth of a second to load: beside the survey that is free.
    let loading = counter.clone();
    let loaded = std::thread::spawn(move || loading.load());
    let progress = Progress::start("looking at the workspace");
    let prepared = prepared(&request)?;
    progress.stage(fitting(&prepared));
    // A vocabulary that cannot be loaded is loaded again, and fails, where it is used.
    let _ = loaded.join();
    let pack = packed(&prepared, &request, &counter)?;
    drop(progress);
    // Before printing, so that `kitbag explain` works even if the reader closes the pipe.
    last::remember(&request, &pack);

    if args.list {
        say_exactness(&counter);
        output::print(&list::text(&pack))?;
        summary::say_problems(&pack.decisions.problems);
        return Ok(());
    }
    if args.json {
        if args.output_file().is_none() && !args.copy {
            return Ok(output::print_json(&pack)?);
        }
        return deliver(args, &output::json(&pack).map_err(Failure::new)?);
    }
    say_exactness(&counter);
    deliver(args, &ended(&pack, &counter))?;
    summary::say(&pack, &prepared, request.options.model.as_deref());
    // The program ends here, which frees all of it at once.
    std::mem::forget((prepared, pack));
    Ok(())
}

impl Args {
    fn output_file(&self) -> Option<&Path> {
        self.output
            .as_deref()
            .filter(|file| file.as_os_str() != "-")
    }
}

/// Surveys the workspace.
pub(crate) fn prepared(request: &PackRequest) -> Result<Prepared, Failure> {
    Ok(pollster::block_on(prepare(&request.survey))?)
}

/// The line of progress while chunks are chosen: how much there is to choose from.
pub(crate) fn fitting(prepared: &Prepared) -> String {
    let looked_at = prepared.survey().candidates.len() as u64;
    let files = prepared.workspace().files().len() as u64;
    let (looked_at, files) = (grouped(looked_at), counted(files, "file", "files"));
    format!("fitting {looked_at} of {files}")
}

/// Packs what was surveyed.
pub(crate) fn packed(
    prepared: &Prepared,
    request: &PackRequest,
    counter: &Counter,
) -> Result<Pack, Failure> {
    let pack = prepared.pack(&request.options, counter)?;
    // A pin that is silently missing would be worse than no prompt.
    pins::check(prepared, &pack)?;
    if prepared.workspace().files().is_empty() && !request.survey.include.is_empty() {
        summary::say_problems(prepared.workspace().problems());
        return Err(nothing_included(request));
    }
    Ok(pack)
}

/// A prompt without a file is hardly what was meant by a pattern.
fn nothing_included(request: &PackRequest) -> Failure {
    let survey = &request.survey;
    let patterns = survey.include.iter();
    let patterns: Vec<String> = patterns.map(|p| format!("`--include {p}`")).collect();
    let (root, patterns) = (survey.root.display(), patterns.join(" or "));
    Failure::new(format_args!("no file below `{root}` matches {patterns}")).hint(
        "patterns are written as in a .gitignore file, such as `src/` or `*.rs`; to show a file that \
         is ignored, use `--pin`",
    )
}

impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        let failure = match &error {
            // `pins::pin` found the file, so that it is one that is never listed.
            PackError::NoSuchPin { path } => return pins::not_found(path),
            PackError::NoRepository => Self::usage(&error),
            _ => Self::new(&error),
        };
        failure.hint_if(flags::pack_hint(&error))
    }
}

fn deliver(args: &Args, text: &str) -> Result<(), Failure> {
    match args.output_file() {
        Some(file) => output::write_file(file, text),
        None if args.copy => clipboard::copy(text),
        None => Ok(output::print_exactly(text)?),
    }
}

/// The prompt, with a newline at its end unless that were a token too many: the budget is the size
/// of what is printed.
fn ended(pack: &Pack, counter: &Counter) -> String {
    let ended = format!("{}\n", pack.prompt());
    match pack.prompt().ends_with('\n') || counter.count(&ended) > pack.decisions.budget {
        true => pack.prompt().to_owned(),
        false => ended,
    }
}
