//! `kitbag memory facts`: the facts about a sender, and their former values.

use clap::Subcommand;
use jiff::Timestamp;
use kitbag::store::{Fact, NewFact, Store};
use serde::Serialize;

use super::cut::{Keep, cut, one_more};
use super::sender::{named_or_only, say_unknown};
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::store::{self, StoreArgs};

/// Lists, sets and ends facts about a sender
///
/// A fact is a key and a value, such as timezone and Europe/Lisbon, and holds on all channels of its
/// sender. A value that is replaced or ended stays in the history until it is forgotten.
///
/// Plain statements in messages, such as "I live in Porto", also become facts, which name the message that
/// they came from. The latest value of a key holds, no matter where it came from.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag memory facts list
  kitbag memory facts set timezone Europe/Lisbon
  kitbag memory facts history diet")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
    /// Sender that the fact is about; required if the store has several
    #[arg(long, global = true, value_name = "NAME")]
    sender: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the facts that hold
    #[command(after_help = "Example: kitbag memory facts list --sender ann")]
    List {
        #[command(flatten)]
        limit: Limit,
    },
    /// Sets a fact; the earlier value stays in the history
    #[command(after_help = "Example: kitbag memory facts set timezone Europe/Lisbon")]
    Set {
        /// Subject of the fact, such as timezone
        key: String,
        /// Its value, such as Europe/Lisbon
        value: String,
    },
    /// Ends a fact; the value stays in the history
    #[command(after_help = "Example: kitbag memory facts unset timezone")]
    Unset {
        /// Subject of the fact, such as timezone
        key: String,
    },
    /// Lists all values that facts have had, oldest first
    #[command(after_help = "Example: kitbag memory facts history diet")]
    History {
        /// Only the values of this fact, such as timezone
        key: Option<String>,
        #[command(flatten)]
        limit: Limit,
    },
}

#[derive(clap::Args)]
struct Limit {
    /// Maximum number of entries; `list` keeps the latest facts, `history` the first values by key
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = match &args.command {
        // Only setting a fact may begin a memory; the others need one that exists.
        Command::Set { .. } => place.open_or_make().await?,
        _ => place.open().await?,
    };
    let sender = named_or_only(&store, args.sender.as_deref()).await?;
    let now = Timestamp::now();
    match &args.command {
        Command::List { limit } => {
            let mut facts = store.facts(&sender, one_more(limit.limit)).await?;
            // First by time, to cut off the oldest, and then by key, to print.
            facts.sort_by(|a, b| (b.since, &a.key).cmp(&(a.since, &b.key)));
            limit.cut(&mut facts, Keep::First, "the facts learned last");
            facts.sort_by(|a, b| a.key.cmp(&b.key));
            print(args, &store, &sender, &facts).await
        }
        Command::History { key, limit } => {
            let facts = store.fact_history(&sender, key.as_deref(), one_more(limit.limit));
            let mut facts = facts.await?;
            match key {
                // Values come oldest first, and the latest are of more use; of several keys the first are kept.
                Some(_) => limit.cut(&mut facts, Keep::Last, "the latest values"),
                None => limit.cut(&mut facts, Keep::First, "the first values by key"),
            }
            print(args, &store, &sender, &facts).await
        }
        Command::Set { key, value } => {
            let fact = NewFact::new(key, value);
            fact.check().map_err(store::wrong)?;
            store.set_facts(&sender, vec![fact], now).await?;
            changed(args, &store, &sender, key, "set").await
        }
        Command::Unset { key } => {
            if !store.unset_fact(&sender, key, now).await? {
                let (key, sender) = (one_line(key), one_line(&sender));
                let what = format_args!("there is no fact `{key}` about {sender}");
                return Err(
                    Failure::new(what).hint("`kitbag memory facts list` lists the facts that hold")
                );
            }
            changed(args, &store, &sender, key, "ended").await
        }
    }
}

impl Limit {
    fn cut(&self, facts: &mut Vec<Fact>, keep: Keep, what: &str) {
        cut(facts, self.limit, keep, what);
    }
}

/// Reports the change of a fact.
async fn changed(
    args: &Args,
    store: &Store,
    sender: &str,
    key: &str,
    what: &str,
) -> Result<(), Failure> {
    if !args.json {
        output::say(format_args!("{what} `{key}` of {sender}"));
        return Ok(());
    }
    // Read back, so that the JSON has the times and the source that the store gave it.
    let last = store.fact_history(sender, Some(key), 1).await?.pop();
    Ok(output::print_json(&last)?)
}

#[derive(Serialize)]
struct Report<'a> {
    sender: &'a str,
    facts: &'a [Fact],
}

async fn print(args: &Args, store: &Store, sender: &str, facts: &[Fact]) -> Result<(), Failure> {
    if facts.is_empty() && !say_unknown(store, Some(sender), None).await? {
        match &args.command {
            Command::History { key: Some(key), .. } => {
                let (key, sender) = (one_line(key), one_line(sender));
                output::say(format_args!("there is no fact `{key}` about {sender}"));
            }
            _ => output::say(format_args!("there are no facts about {sender}")),
        }
    }
    if args.json {
        return Ok(output::print_json(&Report { sender, facts })?);
    }
    let has_history = matches!(args.command, Command::History { .. });
    let row = |fact: &Fact| {
        let until = fact.until.map(|until| format!("{until:.0}"));
        let source = fact.source.map(|source| source.to_string());
        let row = [
            Some(one_line(&fact.key)),
            Some(output::beginning(&fact.value, 80)),
            Some(format!("{:.0}", fact.since)),
            has_history.then(|| until.unwrap_or_default()),
            Some(match fact.drawn {
                true => source.unwrap_or_default() + ", drawn",
                false => source.unwrap_or_default(),
            }),
        ];
        row.into_iter().flatten()
    };
    let header: &[&str] = match has_history {
        true => &["key", "value", "since", "until", "source"],
        false => &["key", "value", "since", "source"],
    };
    Ok(output::print(&output::grid(header, facts.iter().map(row)))?)
}
