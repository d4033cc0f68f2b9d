//! The time that the proxy adds to a request, and the requests that it takes a second, beside those of a direct
//! connection, of a proxy that does nothing at all, and of other people's. Rounds are interleaved, so that all meet the same
//! machine.
//!
//! Run by `cargo xtask bench serve`, which starts the others and knows the limits; prints lines of JSON. The arguments are the port of
//! the upstream, then name, address and headers of each other proxy.

#![allow(
    clippy::cast_precision_loss,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench is test code"
)]

mod bare;
mod load;
mod ours;
mod recall;
mod steady;
#[expect(dead_code, reason = "the bench of memory asks for unknown words too")]
#[path = "../../../kitbag/benches/memory/talk.rs"]
mod talk;
mod upstream;

use std::collections::BTreeMap;
use std::env;
use std::sync::atomic::Ordering;

use kitbag::store::{Location, Store};

use load::Target;

const ROUNDS: usize = 9;
/// Requests of one round.
const REQUESTS: usize = 400;
/// Other people's proxies take up to a hundred times as long.
const REQUESTS_OF_OTHERS: usize = 48;

fn main() {
    let mut arguments: Vec<String> = env::args().skip(1).collect();
    // `cargo test` runs benches, too.
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    arguments.retain(|argument| argument != "--bench");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    match arguments.first().map(String::as_str) {
        Some(steady::CHILD) => runtime.block_on(steady::serve(&arguments[1..])),
        _ => runtime.block_on(measure(&arguments)),
    }
}

async fn measure(arguments: &[String]) {
    let port = arguments.first().map_or(0, |port| port.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let direct = upstream::start(port).await;
    let store = Location::Sqlite(folder.path().join("memory.db"));
    let store = Store::open(&store).await.unwrap();
    let mut ways = vec![
        ("direct", Target::new(direct, REQUESTS)),
        ("bare", Target::new(bare::start(direct).await, REQUESTS)),
        (
            "ours",
            Target::new(ours::start(direct, None).await, REQUESTS),
        ),
        (
            "memory",
            Target::new(ours::start(direct, Some(store)).await, REQUESTS),
        ),
    ];
    for other in arguments.get(1..).unwrap_or_default().chunks_exact(3) {
        let target = Target::new(other[1].parse().unwrap(), REQUESTS_OF_OTHERS);
        ways.push((&other[0], target.with_headers(&other[2])));
    }
    // An upstream that answers at once leaves no processor to a proxy beside it, so that many connections are measured with
    // one that thinks, too, if only a fraction of the time that models do.
    for (connections, thinks) in [(1, 0), (16, 0), (16, 10)] {
        upstream::THINKS.store(thinks, Ordering::Relaxed);
        let mut rounds: BTreeMap<&str, Vec<load::Round>> = BTreeMap::new();
        for _ in 0..ROUNDS {
            for (name, target) in &ways {
                let round = load::run(target, connections).await;
                rounds.entry(name).or_default().push(round);
            }
        }
        let ways: serde_json::Map<_, _> = rounds
            .iter()
            .map(|(name, rounds)| ((*name).to_owned(), load::figures(rounds)))
            .collect();
        let line = serde_json::json!({"bench": "serve", "connections": connections, "thinks_ms": thinks, "ways": ways});
        println!("{line}");
    }
    upstream::THINKS.store(0, Ordering::Relaxed);
    for senders in [1, 500] {
        recall::measure(direct, senders).await;
    }
    // The memory of a process is read as Linux tells it.
    if cfg!(target_os = "linux") {
        for memory in [false, true] {
            steady::measure(direct, memory).await;
        }
    }
}
