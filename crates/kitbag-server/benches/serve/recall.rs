//! The time that memory adds among a hundred thousand messages, beside that of a bare recall. Each request asks something else in a
//! conversation of its own, which is learned behind the answer.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use jiff::Timestamp;
use kitbag::core::role::Role;
use kitbag::store::{Import, Location, NewMessage, RecallRequest, Store};

use crate::load::{self, Target};
use crate::ours;
use crate::talk::Talk;

const MESSAGES: usize = 100_000;
const BATCH: usize = 5_000;
const ROUNDS: usize = 9;
/// Requests of one round.
const REQUESTS: usize = 40;
/// Clients that are nobody known are kept under this channel.
const CHANNEL: &str = "proxy";

pub(crate) async fn measure(direct: SocketAddr, senders: usize) {
    let folder = tempfile::tempdir().unwrap();
    let talk = Talk {
        messages: MESSAGES,
        senders,
    };
    let store = filled(&folder.path().join("memory.db"), talk).await;
    let address = ours::start(direct, Some(store.clone())).await;
    let questions: Vec<String> = talk
        .questions((ROUNDS + 1) * REQUESTS)
        .into_iter()
        .map(|(_, question)| question)
        .collect();
    let (mut recalls, mut with, mut without) = (Vec::new(), Vec::new(), Vec::new());
    for (round, questions) in questions.chunks_exact(REQUESTS).enumerate() {
        let mut times = Vec::new();
        for question in questions {
            let request = RecallRequest::new("u0", question)
                .on_channel(CHANNEL)
                .limit(50);
            let begun = Instant::now();
            store.recall(&request).await.unwrap();
            times.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        let target = |address| {
            let target = Target::new(address, REQUESTS).with_headers("x-kitbag-sender: u0");
            target.with_questions(questions.to_vec())
        };
        let added = load::run(&target(address), 1).await;
        let bare = load::run(&target(direct), 1).await;
        // The first round loads vocabularies and makes connections.
        if round > 0 {
            recalls.push(load::median(times));
            with.push(added.median_us);
            without.push(bare.median_us);
        }
    }
    let line = serde_json::json!({
        "bench": "serve-recall", "messages": MESSAGES, "senders": senders,
        "recall_us": load::median(recalls),
        "with_us": load::median(with), "direct_us": load::median(without),
    });
    println!("{line}");
}

/// A store with all that was said.
async fn filled(file: &Path, talk: Talk) -> Store {
    let at = |second| Timestamp::from_second(1_700_000_000 + second).unwrap();
    let store = Store::open(&Location::Sqlite(file.to_owned()))
        .await
        .unwrap();
    let mut batch = Vec::with_capacity(BATCH);
    for (number, (sender, text)) in talk.said().enumerate() {
        // Sittings of some twenty messages of one sender.
        let sitting = format!("s{}", number / talk.senders / 20);
        let message = NewMessage::new(Role::User, text).at(at(i64::try_from(number).unwrap()));
        batch.push(Import::new(
            CHANNEL,
            format!("u{sender}"),
            Some(sitting),
            message,
        ));
        if batch.len() == BATCH || number + 1 == talk.messages {
            store
                .import(std::mem::take(&mut batch), at(0))
                .await
                .unwrap();
        }
    }
    store
}
