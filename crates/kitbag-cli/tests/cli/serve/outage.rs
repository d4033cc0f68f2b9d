//! A database that is down, frozen or damaged: requests to models go on, and nobody new is let in.

use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::memory::{ASKED, Proxy, SAID, chat};
use super::{Answer, Server};
use crate::ask::upstream::{CHAT, Reply, Upstream};
use crate::run::Folder;

const PATH: &str = "/v1/chat/completions";
/// The longest that a request may take: its limits, on a machine that does other work.
const SOON: Duration = Duration::from_secs(8);

#[test]
fn x06_requests_go_on_while_a_file_is_damaged() {
    let proxy = Proxy::new();
    proxy.say(&[], SAID);
    for name in ["memory.db", "memory.db-wal", "memory.db-shm"] {
        let file = proxy.folder.path().join(name);
        if file.exists() {
            std::fs::write(file, "no database ".repeat(10_000)).unwrap();
        }
    }
    // Longer than it is known that no key is needed.
    thread::sleep(Duration::from_secs(6));
    for _ in 0..2 {
        let begun = Instant::now();
        let (answer, arrived) = proxy.post(PATH, &[], &chat(&[ASKED]));
        assert_eq!(answer.header("x-kitbag-memory"), Some("unavailable"));
        assert_eq!(arrived, chat(&[ASKED]).to_string());
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    }
    assert_eq!(proxy.server.get("/readyz").status, 200);
    assert_eq!(proxy.server.get("/readyz/memory").status, 503);
    let metrics = proxy.server.get("/metrics").body;
    assert!(
        metrics.contains("kitbag_memory_failures_total{kind=\"failed\"}"),
        "{metrics}"
    );
}

/// A way to a database server that can be cut, or frozen.
struct Way {
    port: u16,
    is_frozen: Arc<AtomicBool>,
    is_cut: Arc<AtomicBool>,
    open: Arc<Mutex<Vec<(TcpStream, UnixStream)>>>,
}

impl Way {
    fn to(socket: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let way = Self {
            port: listener.local_addr().unwrap().port(),
            is_frozen: Arc::default(),
            is_cut: Arc::default(),
            open: Arc::default(),
        };
        let (frozen, cut) = (Arc::clone(&way.is_frozen), Arc::clone(&way.is_cut));
        let open = Arc::clone(&way.open);
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                if cut.load(Ordering::SeqCst) {
                    continue;
                }
                let server = UnixStream::connect(&socket).unwrap();
                let pair = (client.try_clone().unwrap(), server.try_clone().unwrap());
                open.lock().unwrap().push(pair);
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let is_frozen = Arc::clone(&frozen);
                thread::spawn(move || carry(from, to, &is_frozen));
                let is_frozen = Arc::clone(&frozen);
                thread::spawn(move || carry(server, client, &is_frozen));
            }
        });
        way
    }

    /// Cuts it, and returns the number of connections that were open.
    fn cut(&self) -> usize {
        self.is_cut.store(true, Ordering::SeqCst);
        let mut count = 0;
        for (client, server) in self.open.lock().unwrap().drain(..) {
            // Of a connection that had ended by itself, the client's side cannot be shut any more.
            let is_open = client.shutdown(std::net::Shutdown::Both).is_ok();
            count += usize::from(is_open);
            drop(server.shutdown(std::net::Shutdown::Both));
        }
        count
    }

    /// Lets connections through again.
    fn mend(&self) {
        self.is_cut.store(false, Ordering::SeqCst);
    }
}

fn carry(mut from: impl std::io::Read, mut to: impl std::io::Write, is_frozen: &AtomicBool) {
    let mut piece = [0; 8192];
    while let Ok(count @ 1..) = from.read(&mut piece) {
        while is_frozen.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(10));
        }
        if to.write_all(&piece[..count]).is_err() {
            return;
        }
    }
}

/// The store behind a way, for a tenant of its own.
fn store(name: &str) -> (Way, String, String) {
    let Ok(server) = std::env::var("KITBAG_TEST_POSTGRES") else {
        panic!(
            "no PostgreSQL server: run `cargo xtask postgres -- cargo nextest run -p kitbag-cli --run-ignored all outage`"
        );
    };
    let (user, place) = server.split_once('@').unwrap();
    let (folder, database) = place.split_once('/').unwrap();
    let way = Way::to(format!("{}/.s.PGSQL.5432", folder.replace("%2F", "/")));
    let store = format!("{user}@127.0.0.1:{}/{database}?sslmode=disable", way.port);
    (way, store, format!("outage-{name}-{}", std::process::id()))
}

fn ask(server: &Server, key: &str) -> Answer {
    let headers = [("x-kitbag-key", key)];
    let headers = if key.is_empty() { &[][..] } else { &headers };
    let begun = Instant::now();
    let answer = server.post(PATH, headers, &chat(&[ASKED]).to_string());
    assert!(begun.elapsed() < SOON, "{:?}: {answer:?}", begun.elapsed());
    answer
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_requests_go_on_while_a_database_is_down_and_no_new_key_opens_anything() {
    for is_frozen in [false, true] {
        for with_key in [false, true] {
            let (way, store, tenant) = store(&format!("{is_frozen}-{with_key}"));
            let folder = Folder::new();
            let create = ["--store", &store, "--tenant", &tenant, "key", "create", "x"];
            let create = || folder.run(&create).success().trim_end().to_owned();
            let key = if with_key { create() } else { String::new() };
            let other = if with_key { create() } else { String::new() };
            let upstream = Upstream::answering(|_| Reply::stream(CHAT));
            folder.write("own.yaml", "server: {memory_time_limit: 1s}\n");
            let own = [
                "--store", &store, "--tenant", &tenant, "--config", "own.yaml",
            ];
            let address = upstream.address();
            let server = Server::start(&folder, &[&own[..], &["--upstream", &address]].concat());
            assert_eq!(ask(&server, &key).status, 200);
            match is_frozen {
                true => way.is_frozen.store(true, Ordering::SeqCst),
                false => assert!(way.cut() > 0),
            }
            // Until what was found has to be looked up again.
            thread::sleep(Duration::from_secs(6));
            for _ in 0..2 {
                let answer = ask(&server, &key);
                assert_eq!(answer.status, 200, "{is_frozen} {with_key} {answer:?}");
                assert_eq!(answer.header("x-kitbag-memory"), Some("unavailable"));
            }
            if with_key {
                // One that is valid and was never seen here, one that is not, and none.
                for unseen in [&other, &other.replace("_main", "_else"), ""] {
                    let answer = ask(&server, unseen);
                    assert!(matches!(answer.status, 401 | 503), "{unseen} {answer:?}");
                }
            }
            assert_eq!(server.get("/readyz").status, 200);
            assert_eq!(server.get("/readyz/memory").status, 503);
        }
    }
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_database_that_goes_away_for_a_moment_loses_and_doubles_nothing() {
    let (way, store, tenant) = store("moment");
    let folder = Folder::new();
    let place = ["--store", &store, "--tenant", &tenant];
    let server = Server::start(
        &folder,
        &[&place[..], &["--upstream", "http://127.0.0.1:9"]].concat(),
    );
    let headers = [("content-type", "application/json")];
    let remember = |number: usize| {
        let body =
            serde_json::json!({"text": format!("Note {number}."), "key": format!("note {number}")});
        server.post("/api/v1/remember", &headers, &body.to_string())
    };
    let (mut acknowledged, mut refused) = (Vec::new(), 0);
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..4 {
                thread::sleep(Duration::from_millis(300));
                assert!(way.cut() > 0, "no connection was open");
                thread::sleep(Duration::from_millis(300));
                way.mend();
            }
            is_over.store(true, Ordering::SeqCst);
        });
        let mut number = 0;
        while !is_over.load(Ordering::SeqCst) || number < 20 {
            let begun = Instant::now();
            let answer = remember(number);
            assert!(
                begun.elapsed() < 4 * SOON,
                "{:?}: {answer:?}",
                begun.elapsed()
            );
            match answer.status {
                200 => acknowledged.push(number),
                500..=599 => refused += 1,
                _ => panic!("{answer:?}"),
            }
            number += 1;
        }
    });
    eprintln!("{} acknowledged, {refused} refused", acknowledged.len());
    assert_eq!(remember(1_000_000).status, 200);
    let facts = server.get("/api/v1/facts?limit=10000").json().to_string();
    for number in &acknowledged {
        let text = format!("\"Note {number}.\"");
        assert_eq!(facts.matches(&text).count(), 1, "{text}");
    }
    assert_eq!(server.stop().code, Some(0));
}
