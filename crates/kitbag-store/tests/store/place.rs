//! Where the tests keep their stores, and what they have in common.

use std::env;
use std::future::Future;
use std::time::Duration;

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

/// Runs a test on a new SQLite file that is open twice, as in two processes.
pub(crate) fn two_on_sqlite<F: Future<Output = ()>>(test: fn(Store, Store) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(folder.path().join("memory.db"));
    run(async {
        let first = Store::open(&location).await.unwrap();
        test(first, Store::open(&location).await.unwrap()).await;
    });
}

/// Runs a test on two nodes before the PostgreSQL server, as a new tenant.
pub(crate) fn two_on_postgres<F: Future<Output = ()>>(test: fn(Store, Store) -> F) {
    run(async {
        let tenant = new_tenant();
        let first = Store::open(&postgres()).await.unwrap();
        let other = Store::open(&postgres()).await.unwrap();
        test(first.for_tenant(tenant.clone()), other.for_tenant(tenant)).await;
    });
}

/// The server that `cargo xtask postgres` has started.
pub(crate) fn postgres() -> Location {
    postgres_url().parse().unwrap()
}

/// Its address.
pub(crate) fn postgres_url() -> String {
    address("KITBAG_TEST_POSTGRES")
}

/// The address of a server that `cargo xtask postgres` has started.
pub(crate) fn address(variable: &str) -> String {
    env::var(variable).unwrap_or_else(|_| {
        panic!("no PostgreSQL server: run `cargo xtask postgres -- cargo nextest run -p kitbag-store --all-features --run-ignored all`")
    })
}

/// The address under which connections carry a name that the server shows.
pub(crate) fn with_application(url: &str, name: &str) -> String {
    format!("{url}?application_name={name}")
}

/// A connection to the server as its superuser, beside any store.
pub(crate) async fn superuser(url: &str) -> tokio_postgres::Client {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    client
}

/// A database of its own on the server, for what concerns all tenants.
pub(crate) struct Database {
    pub(crate) url: String,
    name: String,
}

impl Database {
    pub(crate) async fn new() -> Self {
        let name = new_tenant().to_string().replace('-', "_");
        let server = superuser(&postgres_url()).await;
        let create = format!("CREATE DATABASE {name}");
        server.batch_execute(&create).await.unwrap();
        Self {
            url: in_database(&postgres_url(), &name),
            name,
        }
    }

    pub(crate) async fn remove(self) {
        let server = superuser(&postgres_url()).await;
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        server.batch_execute(&drop).await.unwrap();
    }
}

/// The address of another database of a server.
pub(crate) fn in_database(url: &str, name: &str) -> String {
    let (server, _) = url.rsplit_once('/').unwrap();
    format!("{server}/{name}")
}

/// Waits until the server has noticed that all connections of this name are gone.
pub(crate) async fn until_gone(application: &str) {
    let client = superuser(&postgres_url()).await;
    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1";
    loop {
        let row = client.query_one(count, &[&application]).await.unwrap();
        if row.get::<_, i64>(0) == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
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
