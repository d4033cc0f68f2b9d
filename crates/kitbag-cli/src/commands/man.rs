//! `kitbag man`: prints the manual page, or writes one for each command.

use std::fs;
use std::path::{Path, PathBuf};

use clap_mangen::Man;

use crate::failure::Failure;
use crate::output;

/// Prints the manual page, or writes one for each command
///
/// To read it, pipe it to `man -l -`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag man | man -l -
  kitbag man --dir ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Write kitbag.1 and a page for each command to this folder
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints or writes the pages of `command`, which is all of kitbag.
pub(crate) fn run(args: &Args, command: clap::Command) -> Result<(), Failure> {
    if let Some(dir) = &args.dir {
        return write(command, dir);
    }
    let mut page = Vec::new();
    Man::new(command).render(&mut page)?;
    // Rendered into memory first: `print` handles a reader that has gone.
    Ok(output::print(&String::from_utf8_lossy(&page))?)
}

fn write(command: clap::Command, dir: &Path) -> Result<(), Failure> {
    fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(command, dir))
        .map_err(|error| {
            let dir = dir.display();
            Failure::new(format_args!("cannot write manual pages to {dir}: {error}"))
        })
}
