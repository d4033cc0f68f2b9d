//! Our own time in a turn, beside a bare recall and beside a direct call to the same server.
//!
//! Prints one JSON object a line; `cargo xtask bench turn` runs it and knows the limits. The store has
//! as many messages as the argument says, of one sender who said everything, or of 500. Each round is a
//! recall, a turn, and a direct call that sends the bytes of the turn's request; times are medians of
//! the rounds, those of the processor are means.

#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark stops where it fails"
)]

#[path = "../memory/cpu.rs"]
mod cpu;
mod direct;
#[expect(dead_code, reason = "the bench of memory asks for unknown words too")]
#[path = "../memory/talk.rs"]
mod talk;
mod upstream;

use std::env;
use std::future::pending;
use std::path::Path;
use std::pin::pin;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use kitbag::Engine;
use kitbag::answer::Answer;
use kitbag::core::role::Role;
use kitbag::provider::{HttpProvider, HttpSettings, ReplyEvent};
use kitbag::store::{Import, Incoming, Location, NewMessage, RecallRequest, Store};
use kitbag::wire::Dialect;
use serde_json::json;

use cpu::Cpu;
use direct::Direct;
use talk::Talk;
use upstream::Upstream;

const ROUNDS: usize = 80;
/// Rounds that are not counted: the vocabulary is loaded, connections are made.
const WARM_UP: usize = 10;
const BATCH: usize = 5_000;

fn main() {
    let arguments = env::args().skip(1);
    let messages = arguments.filter_map(|one| one.parse().ok()).next();
    let messages = messages.unwrap_or(100_000);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    for senders in [1, 500] {
        runtime.block_on(measure(Talk { messages, senders }));
    }
}

async fn measure(talk: Talk) {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(&folder.path().join("memory.db"), talk).await;
    let upstream = Upstream::start();
    let settings = HttpSettings::new("bench", Dialect::Anthropic, upstream.base_url());
    let engine = Engine::builder()
        .store(store.clone())
        .provider(HttpProvider::new(settings).unwrap())
        .model("claude-opus-4-8")
        .build()
        .unwrap();
    let mut direct = Direct::connect(&upstream);
    let mut all = Measured::default();
    for (round, (_, question)) in talk.questions(WARM_UP + ROUNDS).iter().enumerate() {
        if round == WARM_UP {
            all = Measured::default();
        }
        let clock = Clock::start();
        clock.stop(&mut all.clock);

        let request = RecallRequest::new("u0", question);
        let request = request.on_channel("bench").limit(50);
        let clock = Clock::start();
        store.recall(&request).await.unwrap();
        clock.stop(&mut all.recall);

        // Conversations of ten turns.
        let incoming = Incoming::new("bench", "u0", question.as_str())
            .in_conversation(format!("turns {}", round / 10));
        let clock = Clock::start();
        let mut first = None;
        let answer = answered(&engine, incoming, &mut first).await;
        clock.stop(&mut all.turn);
        all.first_token.push(first.unwrap() - upstream.spoke_at());
        for stage in &answer.record.stages {
            let times = all.stages.entry(stage.stage.clone()).or_default();
            times.push(Duration::from_micros(stage.micros));
        }

        let body = answer.request.body();
        let clock = Clock::start();
        let first = direct.call(&body);
        clock.stop(&mut all.direct);
        all.direct_first_token.push(first - upstream.spoke_at());
    }
    let Talk { messages, senders } = talk;
    let stages = all.stages.iter_mut();
    let stages: serde_json::Map<_, _> = stages
        .map(|(name, times)| (name.clone(), json!(median(times))))
        .collect();
    let line = json!({
        "bench": "turn", "messages": messages, "senders": senders,
        "clock": all.clock.json(), "recall": all.recall.json(),
        "turn": all.turn.json(), "direct": all.direct.json(),
        "first_token_ms": median(&mut all.first_token),
        "direct_first_token_ms": median(&mut all.direct_first_token),
        "stages_ms": stages,
    });
    println!("{line}");
}

/// A store with all that was said.
async fn filled(file: &Path, talk: Talk) -> Store {
    let at = |second| Timestamp::from_second(1_700_000_000 + second).unwrap();
    let store = Store::open(&Location::Sqlite(file.to_owned())).await;
    let store = store.unwrap();
    let mut batch = Vec::with_capacity(BATCH);
    for (number, (sender, text)) in talk.said().enumerate() {
        // Sittings of some twenty messages of one sender.
        let sitting = format!("s{}", number / talk.senders / 20);
        let message = NewMessage::new(Role::User, text).at(at(number as i64));
        let sender = format!("u{sender}");
        batch.push(Import::new("bench", sender, Some(sitting), message));
        if batch.len() == BATCH || number + 1 == talk.messages {
            let batch = std::mem::take(&mut batch);
            store.import(batch, at(0)).await.unwrap();
        }
    }
    store
}

/// Answers a message, and tells when its first words came.
async fn answered(engine: &Engine, incoming: Incoming, first: &mut Option<Instant>) -> Answer {
    let mut show = |event: &ReplyEvent| {
        if matches!(event, ReplyEvent::Text(_)) {
            first.get_or_insert_with(Instant::now);
        }
    };
    let turn = engine.turn(incoming).unwrap();
    let answer = engine.answer(turn, &mut show, pin!(pending())).await;
    answer.unwrap()
}

#[derive(Default)]
struct Measured {
    /// Reading the clocks.
    clock: Times,
    recall: Times,
    turn: Times,
    direct: Times,
    /// From the server's writing to our showing.
    first_token: Vec<Duration>,
    direct_first_token: Vec<Duration>,
    stages: std::collections::BTreeMap<String, Vec<Duration>>,
}

#[derive(Default)]
struct Times {
    wall: Vec<Duration>,
    cpu: f64,
}

impl Times {
    fn json(&mut self) -> serde_json::Value {
        let cpu = self.cpu * 1e3 / self.wall.len() as f64;
        json!({ "wall_ms": median(&mut self.wall), "cpu_ms": cpu })
    }
}

struct Clock {
    cpu: Cpu,
    begun: Instant,
}

impl Clock {
    fn start() -> Self {
        let cpu = Cpu::of_self();
        let begun = Instant::now();
        Self { cpu, begun }
    }

    fn stop(&self, times: &mut Times) {
        times.wall.push(self.begun.elapsed());
        times.cpu += self.cpu.seconds();
    }
}

/// The median in milliseconds.
fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e3
}
