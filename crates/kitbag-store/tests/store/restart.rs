//! A PostgreSQL server that breaks connections, or goes down, in the middle of turns: each step is
//! done or not, never by half, and the store goes on by itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kitbag_store::{Incoming, Location, Store, StoreError, Tenant};

use crate::crash::rounds_or;
use crate::judge::judge;
use crate::place::{self, new_tenant, run, second, superuser};
use crate::random::Random;
use crate::server::Server;
use crate::work::{Acknowledged, Writer};

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn broken_connections_leave_no_turn_half_done() {
    run(async {
        let tenant = new_tenant();
        let application = format!("kitbag-{tenant}");
        let url = place::with_application(&place::postgres_url(), &application);
        let location: Location = url.parse().unwrap();
        let server = superuser(&place::postgres_url()).await;
        let mut random = Random::new();
        let work = Work::start(&location, &tenant).await;
        for _ in 0..rounds_or(40) {
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
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn a_restart_of_the_server_leaves_no_turn_half_done() {
    let mut server = Server::start();
    let location: Location = server.url.parse().unwrap();
    run(async {
        let tenant = Tenant::default();
        let work = Work::start(&location, &tenant).await;
        for signal in signals() {
            work.until_more(60).await;
            tokio::task::block_in_place(|| server.restart_with(signal));
        }
        work.until_more(60).await;
        work.end_and_judge().await;
    });
}

/// No failure is seen but that of a commit that was under way.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn what_is_asked_while_the_server_restarts_is_answered_afterwards() {
    let mut server = Server::start();
    let location: Location = server.url.parse().unwrap();
    run(async {
        let store = Store::open(&location).await.unwrap();
        for (round, signal) in signals().enumerate() {
            let ended = Arc::new(AtomicBool::new(false));
            let asking = tokio::spawn(ask_until(store.clone(), round, Arc::clone(&ended)));
            tokio::task::block_in_place(|| server.restart_with(signal));
            ended.store(true, Ordering::Relaxed);
            let acknowledged = asking.await.unwrap();
            assert!(acknowledged > 0, "nothing was asked");
        }
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    });
}

/// The signals that stop the server: at once, as in a crash, and after telling the clients.
fn signals() -> impl Iterator<Item = &'static str> {
    let signals = ["QUIT", "INT", "QUIT"].into_iter().cycle();
    signals.take(rounds_or(3) as usize)
}

/// Writes and reads until it is told to end, and once more. Gives the number of writes.
async fn ask_until(store: Store, round: usize, ended: Arc<AtomicBool>) -> u64 {
    let sender = format!("sender-{round}");
    for number in 1.. {
        let is_last = ended.load(Ordering::Relaxed);
        let key = format!("{round}-{number}");
        let incoming = Incoming::new("cli", &sender, "hello").with_idempotency_key(key);
        if let Err(error) = store.accept(&incoming, second(0)).await {
            assert!(matches!(error, StoreError::CommitUnknown { .. }), "{error}");
            // It counts once, whether it was made or not.
            store.accept(&incoming, second(0)).await.unwrap();
        }
        let conversations = store.conversations("cli", &sender, 1).await.unwrap();
        assert_eq!(u64::from(conversations[0].messages), number);
        if is_last {
            return number;
        }
    }
    0
}

/// Writers that go on after a failure, as the clients of a service would.
struct Work {
    store: Store,
    seen: Arc<Mutex<Vec<Acknowledged>>>,
    writers: tokio::task::JoinSet<()>,
    ended: Arc<AtomicBool>,
}

impl Work {
    async fn start(location: &Location, tenant: &Tenant) -> Self {
        let store = Store::open(location).await.unwrap();
        let store = store.for_tenant(tenant.clone());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let ended = Arc::new(AtomicBool::new(false));
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
                while !ended.load(Ordering::Relaxed) {
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
        self.ended.store(true, Ordering::Relaxed);
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
