//! A PostgreSQL server that breaks connections, or goes down, in the middle of turns: each step is
//! done or not, never by half, and the store goes on by itself.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kitbag_store::{Location, Store, StoreError, Tenant};

use crate::judge::judge;
use crate::place::{self, new_tenant, run, second, superuser};
use crate::random::Random;
use crate::server::Server;
use crate::work::{Acknowledged, Writer};

#[test]
fn broken_connections_leave_no_turn_half_done() {
    run(async {
        let tenant = new_tenant();
        let application = format!("kitbag-{tenant}");
        let url = place::with_application(&place::postgres_url(), &application);
        let location: Location = url.parse().unwrap();
        let server = superuser(&place::postgres_url()).await;
        let mut random = Random::new();
        let work = Work::start(&location, &tenant).await;
        for _ in 0..40 {
            work.until_more(random.below(15)).await;
            let some = random.below(3) as i32;
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE application_name = $1 AND pid % 3 <> $2";
            server.query(end, &[&application, &some]).await.unwrap();
        }
        work.end_and_judge().await;
    });
}

#[test]
fn a_restart_of_the_server_leaves_no_turn_half_done() {
    let mut server = Server::start();
    let location: Location = server.url.parse().unwrap();
    run(async {
        let tenant = Tenant::default();
        let work = Work::start(&location, &tenant).await;
        // At once, as in a crash; and after telling the clients.
        for signal in ["QUIT", "INT", "QUIT"] {
            work.until_more(60).await;
            tokio::task::block_in_place(|| server.restart_with(signal));
        }
        work.until_more(60).await;
        work.end_and_judge().await;
    });
}

/// Writers that go on after a failure, as the clients of a service would.
struct Work {
    store: Store,
    seen: Arc<Mutex<Vec<Acknowledged>>>,
    writers: tokio::task::JoinSet<()>,
    ended: Arc<std::sync::atomic::AtomicBool>,
}

impl Work {
    async fn start(location: &Location, tenant: &Tenant) -> Self {
        let store = Store::open(location).await.unwrap();
        let store = store.for_tenant(tenant.clone());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let ended = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let mut writers = tokio::task::JoinSet::new();
        for number in 0..8 {
            let (log, ended) = (Arc::clone(&seen), Arc::clone(&ended));
            let acknowledge = move |one| {
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.push(one);
            };
            let name = format!("w{number}");
            let mut writer = Writer::new(store.clone(), name, second(0), acknowledge);
            writers.spawn(async move {
                while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                    match writer.step().await {
                        Ok(()) => {}
                        Err(StoreError::Disconnected { .. } | StoreError::CommitUnknown { .. }) => {
                        }
                        Err(StoreError::Connect { .. }) => {
                            tokio::time::sleep(Duration::from_millis(5)).await;
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
            });
        }
        Self {
            store,
            seen,
            writers,
            ended,
        }
    }

    /// Waits until so much more was acknowledged.
    async fn until_more(&self, count: u64) {
        let length = || {
            self.seen
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .len()
        };
        let enough = length() + count as usize;
        while length() < enough {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn end_and_judge(self) {
        self.ended.store(true, std::sync::atomic::Ordering::Relaxed);
        self.writers.join_all().await;
        // Each connection that is found broken is given up: there are not more of them than this.
        for _ in 0..16 {
            drop(self.store.stats().await);
        }
        let seen = self
            .seen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        judge(&self.store, &seen, second(9_000)).await;
    }
}
