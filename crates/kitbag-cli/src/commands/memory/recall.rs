//! `kitbag memory recall`: the facts and the past messages that a query is about.

mod batch;
mod shown;

use std::path::PathBuf;

use jiff::Zoned;
use kitbag::core::tokens::Tokens;
use kitbag::recall::RecallAnswer;
use kitbag::store::{MessageTime, RecallRequest, Store};
use kitbag::tokens::Counter;

use super::filter::FilterArgs;
use super::sender::{named_or_only, say_unknown, say_unknown_conversations};
use crate::counter::{CounterArgs, say_exactness};
use crate::failure::Failure;
use crate::model::with_chosen_model;
use crate::output::{self, counted, grouped};
use crate::store::StoreArgs;
use batch::Query;

/// Finds facts and past messages for a query, best first
///
/// Facts come first, with their speaker and time; "What do you know about me?" lists all facts. A message
/// whose statement was replaced by a later one is marked as outdated and ranks below it.
///
/// No model is needed: words, their neighbours, speakers and times count. A model that was chosen with
/// `kitbag memory model use` also finds words of similar meaning. Options such as `--since 7d`, `--role
/// user` and `--conversation trip` restrict the messages.
///
/// With `--batch`, each line {"id", "sender", "channel", "query", "now", "limit", "since", "until", "role",
/// "conversation", "where"} of a file is answered with a line {"id", "facts", "ranked"}. Only `query` is
/// required; the options give the values that a line leaves out.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag memory recall \"what did we say about retries?\"
  kitbag memory recall \"where does she work?\" --since 30d --explain
  kitbag memory recall --batch questions.jsonl")]
pub(super) struct Args {
    /// Words that the messages should be about
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    query: Option<String>,
    /// Sender of the messages; required if the store has several
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// Channel of the messages [default: any]
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Maximum number of messages
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Time of the question, which decides what "yesterday" means [default: now]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    now: Option<MessageTime>,
    /// Show the best messages that fit into this many tokens of printed text, such as 2k
    #[arg(short, long, value_name = "TOKENS")]
    budget: Option<Tokens>,
    #[command(flatten)]
    counter: CounterArgs,
    /// Answer each JSON line of this file, or of stdin for `-`, with one line of JSON
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Show the parts of each score
    #[arg(long)]
    explain: bool,
}

pub(super) async fn run(args: &Args, store: &StoreArgs) -> Result<(), Failure> {
    let recall = Recall {
        counter: match args.budget {
            Some(budget) => Some((budget, args.counter.counter()?.0)),
            None => None,
        },
        store: with_chosen_model(store.open().await?),
        args,
    };
    if let Some(file) = &args.batch {
        recall.say_unknown().await?;
        return batch::run(file, &recall).await;
    }
    let query = Query::new(args.query.as_deref().unwrap_or_default());
    let found = recall.find(&query, &mut None).await?;
    // The most specific reason alone: nothing fits, the name is unknown, or nothing is remembered.
    if found.is_empty() && !recall.say_misfit(&found) && !recall.say_unknown().await? {
        output::say("nothing was found");
    }
    if args.json {
        return Ok(output::print_json(&found)?);
    }
    if let Some((_, counter)) = &recall.counter {
        // Only with a budget are tokens counted at all.
        say_exactness(counter);
    }
    let text = match args.explain {
        true => shown::table(&found),
        false => found.text(),
    };
    Ok(output::print(&text)?)
}

/// Settings that all queries of a run share.
struct Recall<'a> {
    args: &'a Args,
    store: Store,
    counter: Option<(Tokens, Counter)>,
}

impl Recall<'_> {
    /// Answers one query. The only sender of the store is looked up once.
    async fn find(
        &self,
        query: &Query,
        only: &mut Option<String>,
    ) -> Result<RecallAnswer, Failure> {
        let args = self.args;
        let named = query.sender.as_ref().or(args.sender.as_ref());
        let sender = match named.or(only.as_ref()) {
            Some(sender) => sender.clone(),
            None => only.insert(named_or_only(&self.store, None).await?).clone(),
        };
        let limit = query.limit.unwrap_or(args.limit);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut request = RecallRequest::new(sender, &query.query).limit(limit);
        request.channel = query.channel.as_ref().or(args.channel.as_ref()).cloned();
        request.filter = query.filter(args.filter.filter());
        request.now = query.now.or(args.now).or_else(present);
        let mut found = RecallAnswer::of(&self.store, &request, args.explain).await?;
        if let Some((budget, counter)) = &self.counter {
            found.cut(*budget, counter);
        }
        Ok(found)
    }

    /// Says so when the budget has no room for any of the messages found.
    fn say_misfit(&self, found: &RecallAnswer) -> bool {
        let (Some(misfit), Some((budget, _))) = (found.misfit, &self.counter) else {
            return false;
        };
        let messages = counted(misfit.messages as u64, "message", "messages");
        output::say(format_args!(
            "found {messages}; the best needs {} tokens, and the budget is {}",
            grouped(misfit.needed.0),
            grouped(budget.0),
        ));
        true
    }

    /// Says so when the store does not know the sender, channel or conversation of the options.
    async fn say_unknown(&self) -> Result<bool, Failure> {
        let args = self.args;
        let (sender, channel) = (args.sender.as_deref(), args.channel.as_deref());
        let conversations = &args.filter.filter().conversations;
        Ok(say_unknown(&self.store, sender, channel).await?
            || say_unknown_conversations(&self.store, conversations).await?)
    }
}

/// The present in the local time zone, which decides what "yesterday" means.
fn present() -> Option<MessageTime> {
    let now = Zoned::now();
    let now = now.timestamp().display_with_offset(now.offset());
    MessageTime::parse(&now.to_string())
}

fn parse_time(text: &str) -> Result<MessageTime, String> {
    MessageTime::parse(text)
        .ok_or_else(|| "expected a time such as 2024-01-15T10:30:00, with a zone or without".into())
}
