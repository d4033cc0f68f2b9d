//! `kitbag pack`: the prompt for a task, from the folder you are in.

mod args;
pub(crate) mod envelope;
pub(crate) mod last;
mod own_output;
mod pins;
mod place;
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
use crate::progress::Progress;
use crate::{flags, output};

/// Prints the prompt for a task: the code that it needs, within the budget
///
/// Looks at all files below the root, ranks them for the task, and shows the best of them whole, in
/// parts or in outline, as the budget allows. Without a task it gives an overview.
///
/// Stdin is the task when none is given. With a task, text that is piped in is attached to it, such as
/// the log of a failure. In a terminal, kitbag waits for stdin. Otherwise it waits one second, then
/// continues without it and warns; `--attach -` always waits. A terminal and /dev/null are not read.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done; `-` reads it from stdin
    #[arg(conflicts_with = "task_file")]
    task: Option<String>,
    #[command(flatten)]
    pack: PackArgs,
    /// Prints the prompt with everything that was decided, as JSON
    #[arg(long)]
    json: bool,
    /// Writes the prompt to this file instead of stdout; `-` is stdout. The file itself is not packed
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Copy the prompt to the clipboard instead of printing it
    #[arg(long, conflicts_with = "output")]
    copy: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let (counter, mut request) = args
        .pack
        .request(args.task.as_deref(), Stdin::TaskOrAttached)?;
    let own = own_output::patterns(&request.survey.root, args.output_file());
    request.survey.exclude.extend(own);
    // The vocabulary takes a tenth of a second to load: beside the survey that is free.
    let loading = counter.clone();
    let loaded = std::thread::spawn(move || loading.load());
    let progress = Progress::start("looking at the workspace");
    let prepared = prepared(&request)?;
    progress.stage("fitting");
    // A vocabulary that cannot be loaded is loaded again, and fails, where it is used.
    let _ = loaded.join();
    let pack = packed(&prepared, &request, &counter)?;
    drop(progress);
    last::remember(&request, &pack);

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

/// Packs what was surveyed.
pub(crate) fn packed(
    prepared: &Prepared,
    request: &PackRequest,
    counter: &Counter,
) -> Result<Pack, Failure> {
    let pack = prepared.pack(&request.options, counter)?;
    pins::check(request, &pack)?;
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
        "patterns are those of a .gitignore file, such as `src/` or `*.rs`; they do not bring in \
         files that are ignored, `--pin` does",
    )
}

impl From<PackError> for Failure {
    fn from(error: PackError) -> Self {
        let failure = match &error {
            // `pins::pin` found the file, so that it is one that is never listed.
            PackError::NoSuchPin { path } => return pins::never_shown(path),
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
