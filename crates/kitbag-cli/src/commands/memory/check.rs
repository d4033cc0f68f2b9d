//! `kitbag memory check`: whether rows and indexes are whole.

use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::progress::Progress;
use crate::store::StoreArgs;

/// Checks rows and indexes, and changes nothing
///
/// Prints each problem on a line of its own, and exits with 1 if there are any.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory check")]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let store = store.open().await?;
    let progress = Progress::start("checking");
    let problems = store.check().await?;
    drop(progress);
    let is_whole = problems.is_empty();
    if args.json {
        output::print_json_list("problems", &problems)?;
    } else if is_whole {
        output::say("no problems found");
    } else {
        let lines: Vec<String> = problems.iter().map(|problem| one_line(problem)).collect();
        output::print(&lines.join("\n"))?;
    }
    match is_whole {
        true => Ok(()),
        // The exit code lets a script notice; the problems are printed already.
        false => Err(Failure::reported()),
    }
}
