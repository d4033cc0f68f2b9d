//! Learning: what is made of conversations that end or no longer fit, by a model that may fail, talk
//! nonsense or be misled.

mod closing;
mod compaction;
mod hostile;
mod layers;

use std::cell::Cell;
use std::fs;
use std::sync::{Arc, Mutex};

use futures_util::stream;
use jiff::Timestamp;
use kitbag::Engine;
use kitbag::answer::Answer;
use kitbag::core::tokens::Tokens;
use kitbag::engine::EngineBuilder;
use kitbag::learn::Lessons;
use kitbag::provider::{Provider, ProviderFuture, ReplyEvent, ScriptProvider, StopReason};
use kitbag::store::{Incoming, Location, Store};
use kitbag::wire::{Dialect, Request};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::second;

thread_local! {
    static NOW: Cell<i64> = const { Cell::new(0) };
}

fn now() -> Timestamp {
    second(NOW.get())
}

fn later(seconds: i64) {
    NOW.set(NOW.get() + seconds);
}

/// A folder with a store, and a provider that answers from a script.
struct Place {
    folder: TempDir,
    store: Store,
}

impl Place {
    fn run<F: Future<Output = ()>>(test: impl FnOnce(Self) -> F) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        NOW.set(0);
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let location = Location::Sqlite(folder.path().join("memory.db"));
            let store = Store::open(&location).await.unwrap();
            test(Self { folder, store }).await;
        });
    }

    fn builder(&self) -> EngineBuilder {
        let builder = Engine::builder().store(self.store.clone()).clock(now);
        builder.budget(Tokens(8_000)).model("script")
    }

    fn scripted(&self, answers: &[Value]) -> Engine {
        let lines: Vec<String> = answers.iter().map(ToString::to_string).collect();
        let file = self.folder.path().join("answers.jsonl");
        fs::write(&file, lines.join("\n")).unwrap();
        let provider = ScriptProvider::new("script", file);
        self.builder().provider(provider).build().unwrap()
    }
}

fn says(text: &str) -> Incoming {
    Incoming::new("cli", "ann", text)
}

/// Answers a message. Boxed, since many of these in one test would not fit on the stack of its thread.
async fn ask(engine: &Engine, incoming: Incoming) -> Answer {
    Box::pin(engine.ask(incoming)).await.unwrap()
}

/// Learns after an answer.
async fn learn(engine: &Engine, answer: &Answer) -> Lessons {
    let after = engine.after(answer).await.unwrap();
    Box::pin(engine.learn_after(after)).await
}

/// Answers with a function of the message, and remembers what was asked.
#[derive(Clone)]
struct Recorder {
    asked: Arc<Mutex<Vec<String>>>,
    answer: Arc<dyn Fn(&str) -> String + Send + Sync>,
}

impl Recorder {
    fn new(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self {
            asked: Arc::default(),
            answer: Arc::new(answer),
        }
    }

    /// The questions of learning that hold some words.
    fn asked(&self, words: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let found = asked.iter().filter(|one| one.contains(words));
        found.cloned().collect()
    }
}

impl Provider for Recorder {
    fn name(&self) -> &str {
        "recorder"
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn stream<'a>(&'a self, request: &'a Request) -> ProviderFuture<'a> {
        Box::pin(async {
            let asked = request.turn().unwrap().current.content.text().into_owned();
            self.asked.lock().unwrap().push(asked.clone());
            let text = (self.answer)(&asked);
            let events = [
                ReplyEvent::Text(text),
                ReplyEvent::Stop(StopReason::End),
                ReplyEvent::Done,
            ];
            Ok(Box::pin(stream::iter(events.map(Ok))) as _)
        })
    }
}

fn facts(found: &[(&str, &str, usize, &str)]) -> String {
    let fact = |(key, value, message, quote): &(&str, &str, usize, &str)| json!({"key": key, "value": value, "message": message, "quote": quote});
    json!({"facts": found.iter().map(fact).collect::<Vec<_>>()}).to_string()
}

/// A long statement without any fact.
fn chatter(number: usize) -> String {
    format!(
        "Entry {number} of the log says that the ferry to the island was late, that the wind came from \
         the north, that the harbour was crowded with boats and that nobody complained about it. The \
         crew of the pilot boat painted the rail, the baker sold out before noon, the post came with \
         the second crossing, and the lamp at the end of the pier burnt all night as it should."
    )
}
