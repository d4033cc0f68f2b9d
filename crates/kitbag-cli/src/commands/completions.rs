//! `kitbag completions`: prints the script that lets a shell complete commands and options.

use clap_complete::Shell;

use crate::failure::Failure;
use crate::output;

/// Prints a script that lets a shell complete commands and options
///
/// For bash put `source <(kitbag completions bash)` into ~/.bashrc, for fish
/// `kitbag completions fish | source` into ~/.config/fish/config.fish. For zsh write the script to a
/// file named _kitbag in a folder of $fpath.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag completions bash > kitbag.bash")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script for `command`, which is all of kitbag.
pub(crate) fn run(args: &Args, mut command: clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "kitbag", &mut script);
    Ok(output::print(&String::from_utf8_lossy(&script))?)
}
