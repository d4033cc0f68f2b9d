//! `kitbag memory` and `kitbag replay`, on real files.

mod backup;
mod check;
mod close;
mod edit;
mod entities;
mod export;
mod exports_of_chats;
mod facts;
mod filters;
mod forget;
mod history;
mod import;
mod internal;
mod migrate;
mod mistyped;
mod model;
#[cfg(unix)]
mod read_only;
mod recall;
mod replay;

use kitbag::store::{Location, Store};
use serde_json::{Value, json};

use crate::run::{Folder, Output};

/// A folder with a store in `memory.db`.
pub(crate) struct Memory(pub(crate) Folder);

impl Memory {
    pub(crate) fn new() -> Self {
        Self(Folder::new())
    }

    /// One that remembers some messages.
    pub(crate) fn of(messages: &[Value]) -> Self {
        let memory = Self::new();
        memory.import(messages).success();
        memory
    }

    /// A short talk about a dog and a trip.
    pub(crate) fn talk() -> Self {
        Self::of(&talk())
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.run_with_stdin(args, b"")
    }

    pub(crate) fn run_with_stdin(&self, args: &[&str], stdin: &[u8]) -> Output {
        let args = [&["--store", "sqlite:memory.db", "memory"], args].concat();
        self.0.run_with_stdin(&args, stdin)
    }

    /// Does something with the store of this name in the folder.
    pub(crate) fn open<T>(&self, name: &str, work: impl AsyncFnOnce(Store) -> T) -> T {
        let location = Location::Sqlite(self.0.path().join(name));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime
            .unwrap()
            .block_on(async { work(Store::open(&location).await.unwrap()).await })
    }

    pub(crate) fn import(&self, messages: &[Value]) -> Output {
        self.run_with_stdin(&["import", "-"], lines(messages).as_bytes())
    }

    /// The JSON that a command prints.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let printed = self.run(&[args, &["--json"]].concat()).success();
        serde_json::from_str(&printed).unwrap()
    }

    /// What `recall` finds.
    #[track_caller]
    pub(crate) fn references(&self, query: &str) -> Vec<String> {
        let found = self.json(&["recall", query]);
        let ranked = found["ranked"].as_array().unwrap();
        let reference = |hit: &Value| hit["ref"].as_str().unwrap_or_default().to_owned();
        ranked.iter().map(reference).collect()
    }
}

pub(crate) fn lines(messages: &[Value]) -> String {
    messages.iter().map(|line| format!("{line}\n")).collect()
}

pub(crate) fn talk() -> Vec<Value> {
    let message = |conversation: &str, reference: &str, at: &str, role: &str, text: &str| {
        let speaker = if role == "user" { "Ann" } else { "Bot" };
        json!({"channel": "slack", "sender": "ann", "conversation": conversation, "ref": reference,
            "at": at, "role": role, "speaker": speaker, "text": text})
    };
    vec![
        message(
            "dog",
            "m1",
            "2024-05-08T13:56:00",
            "user",
            "The puppy that we adopted answers to Biscuit",
        ),
        message(
            "dog",
            "m2",
            "2024-05-08T13:57:00",
            "assistant",
            "Congratulations! Which breed?",
        ),
        message(
            "dog",
            "m3",
            "2024-05-08T13:58:00+02:00",
            "user",
            "A beagle, from the shelter",
        ),
        message(
            "trip",
            "m4",
            "2024-06-01T09:00:00Z",
            "user",
            "We fly to Lisbon in September",
        ),
        message(
            "trip",
            "m5",
            "2024-06-01T09:01:00Z",
            "assistant",
            "Shall I look for hotels?",
        ),
    ]
}
