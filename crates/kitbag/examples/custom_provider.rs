//! A provider of one's own: a model that runs in this process, or behind an API that nobody else speaks.
//!
//! `cargo run -p kitbag --features sqlite,providers --example custom_provider`

use std::error::Error;
use std::io::Write as _;

use futures_util::stream;
use kitbag::Engine;
use kitbag::answer::Answer;
use kitbag::core::record::Usage;
use kitbag::provider::{Provider, ProviderError, ProviderFuture, ReplyEvent, StopReason};
use kitbag::store::Incoming;
use kitbag::wire::{Dialect, Request};
use tokio::runtime::Runtime;

/// A very small model: it says how many words it was asked.
struct WordCounter;

impl Provider for WordCounter {
    fn name(&self) -> &str {
        "words"
    }

    /// The form that its requests have. A program that reads one text would say `Flat`.
    fn dialect(&self) -> Dialect {
        Dialect::OpenAi
    }

    fn model(&self) -> Option<&str> {
        Some("word-counter-1")
    }

    /// Comes back with the beginning of the answer. A model that computes for long would do so in
    /// the stream, so that the answer can be stopped.
    fn stream<'a>(&'a self, request: &'a Request) -> ProviderFuture<'a> {
        Box::pin(async {
            let turn = request.turn().map_err(|error| ProviderError::Malformed {
                problem: error.to_string(),
            })?;
            let words = turn.current.content.text().split_whitespace().count();
            let usage = Usage {
                input: words as u64,
                output: 4,
                ..Usage::default()
            };
            let events = [
                ReplyEvent::Text(format!("You said {words} ")),
                ReplyEvent::Text("words.".to_owned()),
                ReplyEvent::Usage(usage),
                ReplyEvent::Stop(StopReason::End),
                ReplyEvent::Done,
            ];
            Ok(Box::pin(stream::iter(events.map(Ok))) as _)
        })
    }
}

/// Asks it, without a store: nothing is remembered.
pub(crate) async fn ask(message: &str) -> Result<Answer, Box<dyn Error>> {
    let engine = Engine::builder().provider(WordCounter).build()?;
    Ok(engine.ask(Incoming::new("cli", "ann", message)).await?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let answer = Runtime::new()?.block_on(ask("How long is this?"))?;
    writeln!(std::io::stdout(), "{}", answer.text())?;
    Ok(())
}
