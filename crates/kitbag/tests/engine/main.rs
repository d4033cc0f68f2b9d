//! The engine: every prompt of a conversation, through its public door and with a real store.

#![cfg(feature = "sqlite")]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod context;
mod conversation;
#[cfg(feature = "providers")]
mod ended;
#[cfg(feature = "providers")]
mod extensions;
mod flat;
mod history;
#[cfg(feature = "providers")]
mod learning;
mod nodes;
mod one_prompt;
#[cfg(feature = "providers")]
mod receive;
#[cfg(feature = "providers")]
mod tools;

use std::sync::LazyLock;

use jiff::Timestamp;
use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::tokens::{TokenCounter, Tokens};
use kitbag::engine::{PromptRequest, Sources, TurnError, TurnPrompt, TurnRequest, turn};
use kitbag::store::{Incoming, Location, MemoryRequest, Store};
use kitbag::tokens::{Counter, Vocabulary};

static COUNTER: LazyLock<Counter> =
    LazyLock::new(|| Counter::for_vocabulary(Vocabulary::O200kBase).unwrap());

/// Runs a test on a new SQLite file.
fn on_store<F: Future<Output = ()>>(test: impl FnOnce(Store) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(folder.path().join("memory.db"));
    pollster::block_on(async { test(Store::open(&location).await.unwrap()).await });
}

/// A second on the tests' clock.
fn second(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

/// A turn without an agent, as a flat prompt.
fn request(incoming: &Incoming, budget: u32, now: Timestamp) -> TurnRequest {
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(budget));
    let memory = MemoryRequest::new(incoming.clone(), now);
    TurnRequest::new(memory, PromptRequest::new("", settings))
}

/// The prompt of a turn that only memory contributes to.
async fn from_memory(
    store: &Store,
    request: &TurnRequest,
    counter: &(dyn TokenCounter + Sync),
) -> Result<TurnPrompt, TurnError> {
    let mut sources = Sources::default();
    sources.store = Some(store);
    turn(sources, request.clone(), counter).await
}
