//! `kitbag memory refusals`: messages that were refused.

use kitbag::store::Refusal;

use super::cut::{Keep, cut, one_more};
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store::StoreArgs;

/// Lists refused messages, the latest first: time, channel, sender and reason
///
/// `channels: {slack: {senders: [ann, bob]}}` in kitbag.yaml names who may send messages on a channel.
/// Channels that are not listed are open. The text of a refused message is not stored. The latest 10,000
/// refusals are kept.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory refusals -n 10")]
pub(super) struct Args {
    /// Maximum number of entries
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let store = store.open().await?;
    let mut refusals = store.refusals(one_more(args.limit)).await?;
    cut(
        &mut refusals,
        args.limit,
        Keep::First,
        "the latest refusals",
    );
    if args.json {
        return Ok(output::print_json_list("refusals", &refusals)?);
    }
    if refusals.is_empty() {
        output::say("no message was refused");
    }
    let row = |one: &Refusal| {
        [
            format!("{:.0}", one.at),
            one_line(&one.channel),
            one_line(&one.sender),
            one_line(&one.reason),
        ]
    };
    let header = ["at", "channel", "sender", "reason"];
    Ok(output::print(&output::grid(
        &header,
        refusals.iter().map(row),
    ))?)
}
