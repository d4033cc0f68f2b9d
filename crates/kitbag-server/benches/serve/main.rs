//! The time that the proxy adds to a request, and the requests that it takes a second, beside those of a direct
//! connection and of a proxy that does nothing at all. Rounds are interleaved, so that all meet the same machine.
//!
//! Run by `cargo xtask bench serve`; prints one line of JSON for each number of connections.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench is test code"
)]

mod bare;
mod load;
mod upstream;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;

use kitbag::layout::Config;
use kitbag::project::{Project, ProjectPlaces};
use kitbag::provider::Providers;
use kitbag::store::{Location, Store};
use kitbag_server::{App, Upstreams};
use tokio::net::TcpListener;

const ROUNDS: usize = 9;
/// Requests of one round.
const REQUESTS: usize = 400;

fn main() {
    // `cargo test` runs benches, too.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(measure());
}

async fn measure() {
    let folder = tempfile::tempdir().unwrap();
    let direct = upstream::start().await;
    let store = Location::Sqlite(folder.path().join("memory.db"));
    let store = Store::open(&store).await.unwrap();
    let ways: [(&str, SocketAddr); 4] = [
        ("direct", direct),
        ("bare", bare::start(direct).await),
        ("ours", ours(direct, None).await),
        ("memory", ours(direct, Some(store)).await),
    ];
    for connections in [1, 16] {
        let mut rounds: BTreeMap<&str, Vec<load::Round>> = BTreeMap::new();
        for _ in 0..ROUNDS {
            for (name, address) in ways {
                let round = load::run(address, connections, REQUESTS).await;
                rounds.entry(name).or_default().push(round);
            }
        }
        let mut figures = serde_json::Map::new();
        figures.insert("bench".to_owned(), "serve".into());
        figures.insert("connections".to_owned(), connections.into());
        for (name, rounds) in rounds {
            let median_us = load::median(rounds.iter().map(|round| round.median_us).collect());
            let per_second = load::median(rounds.iter().map(|round| round.per_second).collect());
            let of_way = serde_json::json!({"median_us": median_us, "per_second": per_second});
            figures.insert(name.to_owned(), of_way);
        }
        println!("{}", serde_json::Value::Object(figures));
    }
}

/// Our server, with or without memory.
async fn ours(upstream: SocketAddr, store: Option<Store>) -> SocketAddr {
    let config = Config::default();
    let variables = |_: &str| None;
    let providers = Providers::new(&config, ".", &variables);
    let upstreams = Upstreams::open(&config, &providers, Some(&format!("http://{upstream}")));
    let project = Project::open(&ProjectPlaces::new("/"));
    let app = Arc::new(App::new(project, store, upstreams.unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(kitbag_server::serve(app, listener, std::future::pending()));
    address
}
