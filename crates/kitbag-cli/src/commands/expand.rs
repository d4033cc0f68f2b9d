//! `kitbag expand`: the text behind what a prompt only mentions.

use std::path::PathBuf;

use kitbag::pack::expand::{ExpandError, expand};
use kitbag::store::ResultId;

use crate::failure::Failure;
use crate::output;
use crate::store::{self, StoreArgs};

/// Prints the text behind a handle: a file, some of its lines, a definition in it, or a tool's result
///
/// A handle is a path as a prompt shows it, alone or with lines or a name: `src/auth.rs`,
/// `src/auth.rs:10-80`, `src/auth.rs:10-` to the end, `src/auth.rs#login`, `src/auth.rs#User.login`. A
/// tool's result that was cut says its handle itself, such as `7.12.3/1`. Secrets are replaced.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The handle
    handle: String,
    /// The folder of the project
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    if let Ok(id) = args.handle.parse::<ResultId>() {
        let text = store::run(async { Ok(place.open().await?.result(id).await?) })?;
        let text = text.ok_or_else(|| {
            Failure::new(format_args!("there is no result `{id}`"))
                .hint("it may have been forgotten, with its conversation or a message of it")
        })?;
        return Ok(output::print_exactly(&text)?);
    }
    let text = expand(&args.root, &args.handle).map_err(|error| {
        let failure = match error {
            ExpandError::NoRange { .. } => Failure::usage(&error),
            _ => Failure::new(&error),
        };
        failure.hint_if(error.hint())
    })?;
    Ok(output::print_exactly(&text)?)
}
