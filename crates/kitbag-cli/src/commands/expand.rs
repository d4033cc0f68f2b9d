//! `kitbag expand`: the text behind a handle that a prompt only mentions.

use std::path::PathBuf;

use kitbag::pack::expand::references::references;
use kitbag::pack::expand::{ExpandError, expand};
use kitbag::store::ResultId;

use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store::{self, StoreArgs};

/// Prints the text behind a handle: a file, lines of it, a definition, or a tool's result
///
/// A handle is a path as a prompt shows it, alone or with lines or a name: `src/auth.rs`,
/// `src/auth.rs:10-80`, `src/auth.rs:10-` to the end, `src/auth.rs#login`, `src/auth.rs#User.login`. A
/// tool's result that was cut names its handle, such as `7.12.3/1`. Secrets are replaced.
///
/// With `--references`, prints the lines that use the definition, such as its callers, each with its file,
/// its line number and the definition around it. Uses are found by name alone.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag expand src/auth.rs#login
  kitbag expand src/auth.rs:10-80
  kitbag expand src/auth.rs#login --references")]
pub(crate) struct Args {
    /// The handle, such as src/auth.rs#login
    handle: String,
    /// The folder of the project
    #[arg(short = 'C', long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
    /// Print the lines that use the definition, such as its callers
    #[arg(long)]
    references: bool,
    /// Print the references as JSON
    #[arg(long, requires = "references")]
    json: bool,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    if args.references {
        return print_references(args);
    }
    // A result before a file: hardly any file is named like 7.12.3/1.
    if let Ok(id) = args.handle.parse::<ResultId>() {
        let text = store::run(async { Ok(place.open().await?.result(id).await?) })?;
        let text = text.ok_or_else(|| {
            Failure::new(format_args!("there is no result `{id}`"))
                .hint("it may have been forgotten, with its conversation or a message of it")
        })?;
        return Ok(output::print_exactly(&text)?);
    }
    let text = expand(&args.root, &args.handle).map_err(failure)?;
    Ok(output::print_exactly(&text)?)
}

fn failure(error: ExpandError) -> Failure {
    let failure = match error {
        ExpandError::NoRange { .. } | ExpandError::NoName { .. } => Failure::usage(&error),
        _ => Failure::new(&error),
    };
    failure.hint_if(error.hint())
}

fn print_references(args: &Args) -> Result<(), Failure> {
    let found = references(&args.root, &args.handle).map_err(failure)?;
    if args.json {
        return Ok(output::print_json_list("references", &found)?);
    }
    if found.is_empty() {
        output::say("note: nothing below the root uses this name");
    }
    let lines = found.iter().map(|found| {
        let place = format!("{}:{}", one_line(&found.path), found.line);
        let inside = match found.inside.is_empty() {
            true => String::new(),
            false => format!(" in {}", one_line(&found.inside)),
        };
        format!("{place}{inside}: {}", found.text)
    });
    let lines: Vec<String> = lines.collect();
    Ok(output::print(&lines.join("\n"))?)
}
