//! `kitbag expand`: the text behind what a prompt only mentions.

use std::path::PathBuf;

use kitbag::pack::expand::{ExpandError, expand};

use crate::failure::Failure;
use crate::output;

/// Prints the text behind a handle: a file, some of its lines, or a definition in it
///
/// A handle is a path as a prompt shows it, alone or with lines or a name: `src/auth.rs`,
/// `src/auth.rs:10-80`, `src/auth.rs:10-` to the end, `src/auth.rs#login`, `src/auth.rs#User.login`.
/// Secrets are replaced.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The handle
    handle: String,
    /// The folder of the project
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let text = expand(&args.root, &args.handle).map_err(|error| {
        let failure = match error {
            ExpandError::NoRange { .. } => Failure::usage(&error),
            _ => Failure::new(&error),
        };
        failure.hint_if(error.hint())
    })?;
    Ok(output::print_exactly(&text)?)
}
