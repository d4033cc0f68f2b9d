//! The pool of connections to a PostgreSQL server: what is waited for, what is tried again, and what is
//! told where nobody can know.

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::SignedDuration;
use kitbag_core::calibration::CountSample;
use kitbag_core::record::InferenceRecord;
use kitbag_store::{Incoming, Learned, Location, NewFact, RecallRequest, Store, StoreError};

use crate::place::{Database, new_tenant, postgres_url, run, second, superuser};
use crate::server::socket_folder;

fn hello(key: &str) -> Incoming {
    Incoming::new("cli", "ann", "hello").with_idempotency_key(key)
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_busy_pool_is_waited_for_and_then_named() {
    run(async {
        let database = Database::new().await;
        let url = format!("{}?pool_size=1&pool_wait=300ms", database.url);
        let store = Store::open(&url.parse().unwrap()).await.unwrap();
        let blocker = superuser(&database.url).await;
        let lock = "BEGIN; LOCK TABLE kitbag.scope IN ACCESS EXCLUSIVE MODE";
        blocker.batch_execute(lock).await.unwrap();
        let waiting = tokio::spawn({
            let store = store.clone();
            async move { store.accept(&hello("first"), second(0)).await }
        });
        // The only connection waits for the lock.
        until_waiting(&superuser(&database.url).await, 1).await;
        let error = store.accept(&hello("second"), second(0)).await.unwrap_err();
        assert!(matches!(error, StoreError::Exhausted { .. }), "{error}");
        assert!(error.hint().unwrap().contains("pool_size"), "{error}");
        blocker.batch_execute("ROLLBACK").await.unwrap();
        waiting.await.unwrap().unwrap();
        store.accept(&hello("second"), second(0)).await.unwrap();
        drop(store);
        database.remove().await;
    });
}

/// The server plans a prepared statement for its values five times, and may then keep one plan for all.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_prepared_statements_answer_as_unnamed_ones_do() {
    run(async {
        let tenant = new_tenant();
        let open = async |statements| {
            let url = format!("{}?pool_size=1&prepared={statements}", postgres_url());
            let store = Store::open(&url.parse().unwrap()).await.unwrap();
            store.for_tenant(tenant.clone())
        };
        let (prepared, unnamed) = (open("on").await, open("off").await);
        let automatic = open("auto").await;
        for round in 0..12 {
            let incoming = hello(&format!("k{round}"));
            let turn = prepared.accept(&incoming, second(round)).await.unwrap();
            let minute = SignedDuration::from_mins(1);
            let lease = prepared
                .begin(turn.id, minute, second(round))
                .await
                .unwrap();
            let learned = Learned::reply(format!("boat {round} is late"), second(round));
            prepared
                .learned(&lease, learned, second(round))
                .await
                .unwrap();
            let request = RecallRequest::new("ann", format!("boat {round} hello")).limit(9);
            let found = prepared.recall(&request).await.unwrap();
            assert!(!found.is_empty());
            assert_eq!(found, unnamed.recall(&request).await.unwrap());
            assert_eq!(found, automatic.recall(&request).await.unwrap());
        }
        assert_eq!(prepared.check().await.unwrap(), Vec::<String>::new());
    });
}

/// The pooler gives both the same few sessions of the server, in turns. Neither may prepare a statement in one that it
/// shares: in the next session it does not exist. Two statements of one process never have the same name, so a
/// statement that is there already is not tested here.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_two_who_share_sessions_behind_a_pooler_answer_alike() {
    run(async {
        let tenant = new_tenant();
        let pooled = crate::place::address("KITBAG_TEST_PGBOUNCER");
        let open = async || {
            let store = Store::open(&pooled.parse().unwrap()).await.unwrap();
            store.for_tenant(tenant.clone())
        };
        let (one, other) = (open().await, open().await);
        for round in 0..20 {
            let (first, last) = (hello(&format!("a{round}")), hello(&format!("b{round}")));
            let (first, last) = tokio::join!(
                one.accept(&first, second(round)),
                other.accept(&last, second(round)),
            );
            first.unwrap();
            last.unwrap();
            let request = RecallRequest::new("ann", "hello").limit(9);
            let (found, same) = tokio::join!(one.recall(&request), other.recall(&request));
            let found = found.unwrap();
            assert!(!found.is_empty());
            assert_eq!(found, same.unwrap());
        }
        assert_eq!(one.check().await.unwrap(), Vec::<String>::new());
    });
}

/// Waits until so many connections to the database wait for locks.
async fn until_waiting(server: &tokio_postgres::Client, count: i64) {
    let waits = "SELECT count(*) FROM pg_stat_activity \
                 WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while server.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) != count {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The one connection goes on in no transaction of somebody who stopped waiting.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_write_that_nobody_waits_for_any_more_is_undone() {
    run(async {
        let database = Database::new().await;
        let url = format!("{}?pool_size=1", database.url);
        let store = Store::open(&url.parse().unwrap()).await.unwrap();
        let other = store.for_tenant(new_tenant());
        other.accept(&hello("other"), second(0)).await.unwrap();
        let server = superuser(&database.url).await;
        let blocker = superuser(&database.url).await;
        let connection = "SELECT pid FROM pg_stat_activity \
                          WHERE datname = current_database() AND usename IS NOT NULL \
                          AND pid <> ALL ($1::int[])";
        let own: Vec<i32> = {
            let pid = "SELECT pg_backend_pid()";
            let one = server.query_one(pid, &[]).await.unwrap().get(0);
            vec![one, blocker.query_one(pid, &[]).await.unwrap().get(0)]
        };
        let connection = async || -> i32 {
            let row = server.query_one(connection, &[&own]).await;
            row.unwrap().get(0)
        };
        let before = connection().await;

        // After it has written, in the middle of a statement.
        let lock = "BEGIN; LOCK TABLE kitbag.message IN ACCESS EXCLUSIVE MODE";
        blocker.batch_execute(lock).await.unwrap();
        let writing = tokio::spawn({
            let store = store.clone();
            async move { store.accept(&hello("first"), second(0)).await }
        });
        until_waiting(&server, 1).await;
        writing.abort();
        assert!(writing.await.unwrap_err().is_cancelled());
        blocker.batch_execute("ROLLBACK").await.unwrap();
        assert_eq!(other.stats().await.unwrap().messages, 1);
        assert_eq!(store.stats().await.unwrap().conversations, 0);

        // At whatever point of the way, the beginning among them.
        for polls in 1..12 {
            let message = hello("second");
            let mut writing = Box::pin(store.accept(&message, second(0)));
            for _ in 0..polls {
                let poll = std::future::poll_fn(|context| {
                    std::task::Poll::Ready(writing.as_mut().poll(context).is_ready())
                });
                if poll.await {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            drop(writing);
            assert_eq!(other.stats().await.unwrap().messages, 1, "{polls}");
            // All of it, or nothing.
            let stats = store.stats().await.unwrap();
            assert_eq!(stats.messages, stats.turns, "{polls}");
        }

        // After an error in the middle.
        let missing = "1.9#9".parse().unwrap();
        let forget = kitbag_store::Forget::Message(missing);
        store.forget(forget).await.unwrap_err();
        assert_eq!(other.stats().await.unwrap().messages, 1);
        other.accept(&hello("another"), second(0)).await.unwrap();
        assert_eq!(other.stats().await.unwrap().messages, 2);
        assert_eq!(connection().await, before, "it was the same connection");
        drop((store, other));
        database.remove().await;
    });
}

/// Both find that there is no row yet.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn o07_two_first_answers_of_a_model_that_end_together_both_count() {
    run(async {
        let database = Database::new().await;
        let store = Store::open(&database.url.parse().unwrap()).await.unwrap();
        let mut ends = Vec::new();
        for sender in ["ann", "bob"] {
            let incoming = Incoming::new("cli", sender, "hello");
            let turn = store.accept(&incoming, second(0)).await.unwrap();
            let lease = store.begin(turn.id, SignedDuration::from_secs(60), second(1));
            let lease = lease.await.unwrap();
            let mut inference = InferenceRecord::default();
            inference.model = Some("m".to_owned());
            inference.sample = CountSample::new("o200k_base", 1_000, 1_200, 1_300);
            let mut learned = Learned::reply("hi", second(2));
            learned.record.inferences.push(inference);
            let store = store.clone();
            ends.push(async move { store.learned(&lease, learned, second(2)).await });
        }
        let server = superuser(&database.url).await;
        let blocker = superuser(&database.url).await;
        // Rows can be read and locked, and none can be written.
        let lock = "BEGIN; LOCK TABLE kitbag.calibration IN SHARE MODE";
        blocker.batch_execute(lock).await.unwrap();
        let ends: Vec<_> = ends.into_iter().map(tokio::spawn).collect();
        until_waiting(&server, 2).await;
        blocker.batch_execute("ROLLBACK").await.unwrap();
        for end in ends {
            end.await.unwrap().unwrap();
        }
        let known = store.calibration("m").await.unwrap().unwrap();
        assert_eq!(known.answers, 2);
        drop(store);
        database.remove().await;
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_connections_that_were_ended_are_replaced_unseen() {
    run(async {
        let database = Database::new().await;
        let store = Store::open(&database.url.parse().unwrap()).await.unwrap();
        let server = superuser(&database.url).await;
        for round in 0..20 {
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                       WHERE datname = current_database() AND pid <> pg_backend_pid()";
            server.batch_execute(end).await.unwrap();
            store
                .accept(&hello(&round.to_string()), second(0))
                .await
                .unwrap();
            server.batch_execute(end).await.unwrap();
            assert_eq!(store.stats().await.unwrap().messages, round + 1);
        }
        drop(store);
        database.remove().await;
    });
}

/// As a replica does until it has taken over.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_server_that_takes_no_writes_yet_is_waited_for() {
    run(async {
        let database = Database::new().await;
        let store = Store::open(&database.url.parse().unwrap()).await.unwrap();
        let server = superuser(&database.url).await;
        let only_reads = async |on: bool| {
            let name: String = {
                let row = server.query_one("SELECT current_database()", &[]).await;
                row.unwrap().get(0)
            };
            let set = format!("ALTER DATABASE {name} SET default_transaction_read_only = {on}");
            let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                       WHERE datname = current_database() AND pid <> pg_backend_pid()";
            server.batch_execute(&set).await.unwrap();
            server.batch_execute(end).await.unwrap();
        };
        only_reads(true).await;
        let refused =
            "SELECT xact_rollback FROM pg_stat_database WHERE datname = current_database()";
        let refused = async || -> i64 { server.query_one(refused, &[]).await.unwrap().get(0) };
        let before = refused().await;
        let writing = tokio::spawn({
            let store = store.clone();
            async move { store.accept(&hello("first"), second(0)).await }
        });
        while refused().await < before + 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(!writing.is_finished());
        server
            .batch_execute("SET default_transaction_read_only = off")
            .await
            .unwrap();
        only_reads(false).await;
        writing.await.unwrap().unwrap();
        assert_eq!(store.stats().await.unwrap().messages, 1);
        drop(store);
        database.remove().await;
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_commit_without_an_answer_is_told_as_unknown() {
    let proxy = Proxy::cutting_at("COMMIT");
    run(async {
        let store = Store::open(&proxy.url.parse().unwrap()).await.unwrap();
        let store = store.for_tenant(new_tenant());
        store.accept(&hello("first"), second(0)).await.unwrap();
        proxy.cut.store(true, Ordering::SeqCst);
        let error = store.accept(&hello("second"), second(0)).await.unwrap_err();
        assert!(matches!(error, StoreError::CommitUnknown { .. }), "{error}");
        assert!(error.hint().unwrap().contains("idempotency key"), "{error}");
        // The server has made it; the same message again counts once.
        store.accept(&hello("second"), second(0)).await.unwrap();
        assert_eq!(store.stats().await.unwrap().messages, 2);
    });
}

/// What was read before the connection broke is of another moment: it is read again.
#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_backup_begins_again_when_its_connection_broke() {
    let proxy = Proxy::cutting_at(" FROM message ");
    run(async {
        let store = Store::open(&proxy.url.parse().unwrap()).await.unwrap();
        let store = store.for_tenant(new_tenant());
        let facts = vec![NewFact::new("home", "Lisbon")];
        store.set_facts("ann", facts, second(0)).await.unwrap();
        for key in ["first", "second"] {
            store.accept(&hello(key), second(0)).await.unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("backup.db");
        proxy.cut.store(true, Ordering::SeqCst);
        store.back_up(&path).await.unwrap();
        assert!(!proxy.cut.load(Ordering::SeqCst), "nothing was cut");
        let backup = Location::Sqlite(path);
        let backup = Store::open_existing(&backup).await.unwrap();
        let backup = backup.for_tenant(store.tenant().clone());
        assert_eq!(backup.stats().await.unwrap().messages, 2);
        assert_eq!(backup.facts("ann", 9).await.unwrap().len(), 1);
        assert_eq!(backup.check().await.unwrap(), Vec::<String>::new());
    });
}

/// A socket before the server that can cut a connection, once.
struct Proxy {
    url: String,
    /// Asks for the next connection that sends the word to be cut.
    cut: Arc<AtomicBool>,
    _folder: tempfile::TempDir,
}

impl Proxy {
    /// Cuts the connection when the word was passed on to the server, and before its answer is.
    fn cutting_at(word: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let real = format!("{}/.s.PGSQL.5432", socket_folder(&postgres_url()));
        let cut = Arc::new(AtomicBool::new(false));
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let cutting = Arc::clone(&cut);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let server = UnixStream::connect(&real).unwrap();
                pass_on(client.unwrap(), server, word, &cutting);
            }
        });
        let shown = folder.path().display().to_string().replace('/', "%2F");
        let socket = socket_folder(&postgres_url()).replace('/', "%2F");
        Self {
            url: postgres_url().replace(&socket, &shown),
            cut,
            _folder: folder,
        }
    }
}

/// Passes bytes on in both directions. Where that is asked for, once, the connection is cut when the word
/// was passed on and before the answer is.
fn pass_on(client: UnixStream, server: UnixStream, word: &'static str, cut: &Arc<AtomicBool>) {
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    let is_cut = Arc::new(AtomicBool::new(false));
    let (asked, cutting) = (Arc::clone(cut), Arc::clone(&is_cut));
    std::thread::spawn(move || {
        let mut bytes = [0; 65_536];
        while let Ok(count @ 1..) = from_client.read(&mut bytes) {
            let mut windows = bytes[..count].windows(word.len());
            let has_word = windows.any(|window| window == word.as_bytes());
            if has_word && asked.swap(false, Ordering::SeqCst) {
                cutting.store(true, Ordering::SeqCst);
            }
            if to_server.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        drop(to_server.shutdown(std::net::Shutdown::Both));
    });
    let (mut from_server, mut to_client) = (server, client);
    std::thread::spawn(move || {
        let mut bytes = [0; 65_536];
        while let Ok(count @ 1..) = from_server.read(&mut bytes) {
            if is_cut.load(Ordering::SeqCst) || to_client.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        drop(to_client.shutdown(std::net::Shutdown::Both));
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_full_vacuum_removes_what_was_forgotten_from_pages() {
    run(async {
        let database = Database::new().await;
        let store = Store::open(&database.url.parse().unwrap()).await.unwrap();
        let turn = store.accept(&hello("first"), second(0)).await.unwrap();
        let forget = kitbag_store::Forget::Message(turn.message);
        let gone = store.forget(forget).await.unwrap();
        assert!(gone.in_pages, "{gone:?}");
        let server = superuser(&database.url).await;
        let pages = "SELECT pg_relation_size('kitbag.message')";
        let size = async || -> i64 { server.query_one(pages, &[]).await.unwrap().get(0) };
        assert!(size().await > 0);
        // A row stays as long as a transaction of the server's own, such as an analysis, may see it.
        for _ in 0..50 {
            store.vacuum_full().await.unwrap();
            if size().await == 0 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(size().await, 0);
        drop(store);
        database.remove().await;
    });
}
