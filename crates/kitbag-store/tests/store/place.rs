//! Where the tests keep their stores, and what they have in common.

use std::env;
use std::future::Future;

use jiff::Timestamp;
use kitbag_store::{Location, Store};

/// Runs a test on a new SQLite file.
pub(crate) fn on_sqlite<F: Future<Output = ()>>(test: fn(Store) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(folder.path().join("memory.db"));
    run(async { test(Store::open(&location).await.unwrap()).await });
}

/// Runs a test on the PostgreSQL server, as a new tenant.
pub(crate) fn on_postgres<F: Future<Output = ()>>(test: fn(Store) -> F) {
    run(async {
        let store = Store::open(&postgres()).await.unwrap();
        test(store.for_tenant(new_tenant())).await;
    });
}

/// The server that `cargo xtask postgres` has started.
pub(crate) fn postgres() -> Location {
    let url = env::var("KITBAG_TEST_POSTGRES").unwrap_or_else(|_| {
        panic!("no PostgreSQL server: run `cargo xtask postgres -- cargo nextest run -p kitbag-store --all-features`")
    });
    url.parse().unwrap()
}

/// A tenant that nobody else is.
pub(crate) fn new_tenant() -> kitbag_store::Tenant {
    let mut random = [0; 8];
    getrandom::fill(&mut random).unwrap();
    format!("test-{:x}", u64::from_le_bytes(random))
        .parse()
        .unwrap()
}

pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
        .block_on(test)
}

/// A moment, in seconds after some beginning.
pub(crate) fn second(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}
