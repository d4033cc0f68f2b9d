//! The store's own figures.

use std::path::Path;

use jiff::Timestamp;
use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::role::Role;
use kitbag::core::tokens::{Characters, Tokens};
use kitbag::engine::{PromptRequest, Sources, TurnRequest, turn};
use kitbag::store::{
    ExportFilter, Import, ImportBatches, Incoming, Learned, Location, MemoryRequest, NewMessage,
    RecallRequest, Secrets, Store,
};
use serde_json::json;

use crate::cpu::Cpu;
use crate::each;
use crate::stopwatch::{Spent, Stopwatch};
use crate::talk::{Question, Talk};

/// The number of queries that are measured.
pub(crate) const QUERIES: usize = 60;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

async fn open(file: &Path) -> Store {
    Store::open(&Location::Sqlite(file.to_owned()))
        .await
        .unwrap()
}

/// The messages of a talk as an import brings them.
fn imports(talk: Talk) -> Vec<Import> {
    let import = |(number, (sender, text)): (usize, (usize, String))| {
        // Sittings of some twenty messages of one sender.
        let sitting = format!("s{}", number / talk.senders / 20);
        let message = NewMessage::new(Role::User, text).at(at(number as i64));
        Import::new("bench", format!("u{sender}"), Some(sitting), message)
    };
    talk.said().enumerate().map(import).collect()
}

/// Returns true if a batch had several senders.
async fn import(store: &Store, messages: Vec<Import>) -> bool {
    let mut batches = ImportBatches::of(messages.into_iter(), Secrets::Mask).unwrap();
    let mut is_scattered = false;
    while let Some(batch) = batches.next().await {
        let batch = batch.unwrap();
        is_scattered |= batch.senders() > 1;
        store.import_batch(batch, at(0)).await.unwrap();
    }
    is_scattered
}

/// The time of importing into a new file, which is then compacted if `memory import` would do so. Making
/// up the messages is not part of it.
pub(crate) async fn import_sqlite(file: &Path, talk: Talk) -> Spent {
    let messages = imports(talk);
    let spent = Stopwatch::start();
    let store = open(file).await;
    if import(&store, messages).await {
        store.vacuum().await.unwrap();
    }
    spent.spent()
}

/// Returns how many messages are found.
async fn recall_all(store: &Store, questions: &[Question]) -> usize {
    let mut found = 0;
    for (sender, question) in questions {
        let request = RecallRequest::new(format!("u{sender}"), question)
            .on_channel("bench")
            .limit(50);
        found += store.recall(&request).await.unwrap().len();
    }
    found
}

/// Milliseconds for a recall, of words that are known and of others.
pub(crate) struct Recall {
    pub(crate) known: f64,
    pub(crate) unknown: f64,
}

pub(crate) async fn recall_sqlite(file: &Path, talk: Talk) -> Recall {
    let store = open(file).await;
    let measure = async |questions: Vec<Question>| {
        let found = recall_all(&store, &questions).await;
        let cpu = Cpu::of_self();
        recall_all(&store, &questions).await;
        (each(&cpu, questions.len()), found)
    };
    let (known, found) = measure(talk.questions(QUERIES)).await;
    assert!(found > QUERIES, "the questions find little");
    let (unknown, found) = measure(talk.unknown_questions(QUERIES)).await;
    assert_eq!(found, 0, "the words are not unknown");
    Recall { known, unknown }
}

/// Conversations that are listed. The smallest store has as many.
const LISTED: u32 = 500;

/// Milliseconds for the list of the latest conversations, as many in every store.
pub(crate) async fn history_sqlite(file: &Path) -> f64 {
    history(&open(file).await, "").await
}

/// The same; with the address of a server, its time is counted too.
async fn history(store: &Store, url: &str) -> f64 {
    const ROUNDS: usize = 5;
    let filter = ExportFilter::default();
    let list = async || {
        let latest = store.latest_conversations(&filter, LISTED).await.unwrap();
        assert_eq!(latest.len(), LISTED as usize);
    };
    list().await;
    let ours = Cpu::of_self();
    let server = match url {
        "" => None,
        url => Some(crate::bare_postgres::server_cpu(url).await),
    };
    for _ in 0..ROUNDS {
        list().await;
    }
    let server = match server {
        Some(server) => server.since().await,
        None => 0.0,
    };
    (ours.seconds() + server) * 1e3 / ROUNDS as f64
}

/// Checks a file, and prints how many bytes this process needed at most. It runs in a process of its
/// own.
pub(crate) async fn check_sqlite(file: &Path) {
    let store = open(file).await;
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.unwrap().trim().trim_end_matches(" kB");
    println!("{}", kilobytes.parse::<u64>().unwrap() * 1024);
}

/// Milliseconds for the whole prompt of a turn.
pub(crate) async fn context_sqlite(file: &Path, questions: &[Question]) -> f64 {
    let store = open(file).await;
    let build = async || {
        for (sender, question) in questions {
            let incoming = Incoming::new("bench", format!("u{sender}"), question.as_str())
                .in_conversation("s0");
            let settings = AssemblySettings::new(OutputForm::Flat, Tokens(8_000));
            let memory = MemoryRequest::new(incoming, at(0));
            let request = TurnRequest::new(memory, PromptRequest::new("", settings));
            let mut sources = Sources::default();
            sources.store = Some(&store);
            turn(sources, request, &Characters).await.unwrap();
        }
    };
    build().await;
    let cpu = Cpu::of_self();
    build().await;
    each(&cpu, questions.len())
}

/// Milliseconds for a recall and for a list of conversations on the server, ours and the server's together.
pub(crate) async fn postgres(url: &str, talk: Talk) -> (Recall, f64) {
    let location: Location = url.parse().unwrap();
    let store = Store::open(&location).await.unwrap();
    let tenant = format!("bench-{}-{}", talk.messages, talk.senders);
    let store = store.for_tenant(tenant.parse().unwrap());
    import(&store, imports(talk)).await;
    crate::bare_postgres::analyze(url).await;
    let measure = async |questions: Vec<Question>| {
        recall_all(&store, &questions).await;
        let (ours, server) = (Cpu::of_self(), crate::bare_postgres::server_cpu(url).await);
        recall_all(&store, &questions).await;
        each(&ours, questions.len()) + server.since().await * 1e3 / questions.len() as f64
    };
    let recall = Recall {
        known: measure(talk.questions(QUERIES)).await,
        unknown: measure(talk.unknown_questions(QUERIES)).await,
    };
    (recall, history(&store, url).await)
}

/// 64 conversations at once, on one file: each gets its turn.
pub(crate) async fn concurrent() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(&folder.path().join("many.db")).await;
    let started = std::time::Instant::now();
    let talks = (0..64).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            for turn in 0..10 {
                let incoming =
                    Incoming::new("bench", format!("u{number}"), format!("message {turn}"));
                let turn = store.accept(&incoming, at(turn)).await.unwrap();
                let minute = jiff::SignedDuration::from_secs(60);
                let lease = store.begin(turn.id, minute, at(0)).await.unwrap();
                store
                    .learned(&lease, Learned::reply("ok", at(0)), at(0))
                    .await
                    .unwrap();
            }
        })
    });
    for talk in talks.collect::<Vec<_>>() {
        talk.await.unwrap();
    }
    let turns = 640.0 / started.elapsed().as_secs_f64();
    println!(
        "{}",
        json!({ "bench": "concurrent", "conversations": 64, "turns_per_second": turns })
    );
}
