//! `kitbag memory close`: ends conversations, and keeps a summary of each.

use jiff::Timestamp;
use kitbag::Engine;
use kitbag::core::tokens::Tokens;
use kitbag::learn::Learning;
use kitbag::store::{
    CloseOutcome, Closing, ConversationId, ExportFilter, IDLE, Store, Summary, SummaryMaker,
};
use kitbag::tokens::{Counter, Vocabulary};
use serde::Serialize;

use super::sender::say_unknown;
use crate::failure::Failure;
use crate::learning;
use crate::output::{self, one_line};
use crate::project::ProjectArgs;
use crate::store::StoreArgs;

/// Closes conversations and keeps a summary of each
///
/// The sender's next message begins another conversation, whose prompts can show the summary. A summary
/// consists of the most informative sentences of the conversation, without internal messages. With --model,
/// a model writes the summary instead and extracts facts about the sender, also for a conversation that was
/// closed before without a model. `kitbag memory facts` lists and ends facts.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag memory close 7.12
  kitbag memory close --silent --model")]
pub(super) struct Args {
    /// The conversations to close, such as 7.12
    #[arg(required_unless_present = "silent", value_name = "CONVERSATION")]
    conversations: Vec<ConversationId>,
    /// Close every open conversation whose last message came at least 30 minutes ago
    #[arg(long, conflicts_with = "conversations")]
    silent: bool,
    /// With --silent: only those of this sender
    #[arg(long, value_name = "NAME", conflicts_with = "conversations")]
    sender: Option<String>,
    /// With --silent: only those on this channel
    #[arg(long, value_name = "NAME", conflicts_with = "conversations")]
    channel: Option<String>,
    /// Limit each summary to this many tokens
    #[arg(long, value_name = "TOKENS", default_value_t = 200, value_parser = clap::value_parser!(u32).range(20..))]
    tokens: u32,
    /// Ask a model for the summary and for facts: this one, or `learning_model` or `model` under
    /// `settings:` in kitbag.yaml
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    model: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    conversation: String,
    outcome: &'static str,
    #[serde(skip)]
    words: &'static str,
    summary: Option<String>,
    /// The facts that a model found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    facts: Vec<FoundFact>,
}

#[derive(Serialize)]
struct FoundFact {
    key: String,
    value: String,
}

impl Args {
    /// The engine that asks a model, if `--model` is given.
    fn engine(&self) -> Result<Option<Engine>, Failure> {
        let Some(name) = &self.model else {
            return Ok(None);
        };
        let project = ProjectArgs::default().open_and_tell()?;
        let mut engine = Engine::builder().project(project).configured_provider();
        engine = engine.learning(Learning::Model);
        if !name.is_empty() {
            // Both: `learning_model` of the configuration would otherwise win over the name on the command line.
            engine = engine.model(name).learning_model(name);
        }
        Ok(Some(engine.build()?))
    }
}

pub(super) async fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let store = place.open().await?;
    let engine = args.engine()?;
    let engine = engine.map(|engine| engine.with_store(Some(store.clone())));
    let counter = Counter::for_vocabulary(Vocabulary::O200kBase)
        .map_err(|error| Failure::new(&error).hint(error.hint()))?;
    let mut closed = Vec::new();
    if args.silent {
        for id in silent(args, &store).await? {
            let closing = store.closing(id).await?;
            closed.push(close(args, &store, closing, &counter, engine.as_ref()).await?);
        }
    } else {
        // All are read before the first is closed, so that a mistyped id closes none.
        let mut closings = Vec::new();
        for id in &args.conversations {
            closings.push(store.closing(*id).await?);
        }
        for closing in closings {
            closed.push(close(args, &store, closing, &counter, engine.as_ref()).await?);
        }
    }
    if args.json {
        return Ok(output::print_json_list("closed", &closed)?);
    }
    let mut text = String::new();
    // Printed at the end, after all are closed: notes about learning come on stderr meanwhile.
    for row in &closed {
        text.push_str(&format!("{} {}\n", row.conversation, row.words));
        for line in row.summary.iter().flat_map(|summary| summary.lines()) {
            text.push_str(&format!("  {}\n", one_line(line)));
        }
        for FoundFact { key, value } in &row.facts {
            let fact = one_line(&format!("{key}: {value}"));
            text.push_str(&format!("  fact: {fact}\n"));
        }
    }
    Ok(output::print(&text)?)
}

/// The conversations that ended by silence. Says so if there are none.
async fn silent(args: &Args, store: &Store) -> Result<Vec<ConversationId>, Failure> {
    let (sender, channel) = (args.sender.as_deref(), args.channel.as_deref());
    let filter = ExportFilter::new(args.sender.clone(), args.channel.clone());
    let found = store.silent_conversations(&filter, IDLE, u32::MAX, Timestamp::now());
    let found = found.await?;
    if found.is_empty() && !say_unknown(store, sender, channel).await? {
        output::say("no open conversation has been silent for 30 minutes");
    }
    Ok(found)
}

async fn close(
    args: &Args,
    store: &Store,
    closing: Closing,
    counter: &Counter,
    mut engine: Option<&Engine>,
) -> Result<Row, Failure> {
    let id = closing.conversation.id;
    let closed = store.close(closing, Tokens(args.tokens), counter, Timestamp::now());
    let (outcome, words, summary) = match closed.await? {
        CloseOutcome::Closed(summary) => ("closed", "is closed", summary),
        CloseOutcome::AlreadyClosed(summary) => {
            let is_learned = |summary: &Summary| summary.by == SummaryMaker::Model;
            if engine.is_some() && summary.as_ref().is_some_and(is_learned) {
                output::say(format_args!(
                    "{id} already has a summary by a model, so no model was asked"
                ));
                // A model's summary is not made again: it would cost the same and say little new.
                engine = None;
            }
            ("already_closed", "was closed before", None)
        }
        _ => {
            engine = None;
            (
                "still_active",
                "stays open: another program is answering in it",
                None,
            )
        }
    };
    let mut row = Row {
        conversation: id.to_string(),
        outcome,
        words,
        summary: summary.map(|summary| summary.text),
        facts: Vec::new(),
    };
    if let Some(engine) = engine {
        // After closing, since the summary by rules is there in any case, and the model's takes its place.
        let lessons = engine.learn_from(id).await;
        let found = lessons.facts.iter().map(|fact| FoundFact {
            key: fact.key.clone(),
            value: fact.value.clone(),
        });
        row.facts = found.collect();
        learning::say(&lessons);
        if lessons.summary.is_none() && lessons.facts.is_empty() && lessons.problems.is_empty() {
            output::say(format_args!("nothing new was learned from {id}"));
        }
        row.summary = lessons.summary.or(row.summary);
    }
    Ok(row)
}
