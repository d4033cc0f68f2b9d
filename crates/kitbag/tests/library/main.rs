//! The library as a program uses it: providers, examples, events and figures, with a real store.

#![cfg(all(feature = "sqlite", feature = "providers"))]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod billing;
mod caching;
mod complete;
mod counting;
mod events;
mod examples;
mod skills;

use std::future::Future;

use kitbag::store::{Location, Store};

/// Runs a test on a new SQLite file, on this thread.
fn with_store<F: Future<Output = ()>>(test: impl FnOnce(Store) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(folder.path().join("memory.db"));
    run(async {
        test(Store::open(&location).await.unwrap()).await;
    });
}

fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(work)
}
