//! Many calls at once through an upstream that fails at random, a disk that is full, and a database that goes away: each call
//! ends within its limits, and what was answered is learned once.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Server;
use super::memory::chat;
use crate::ask::upstream::{CHAT, Reply, Upstream};
use crate::run::Folder;

/// A call is tried so often, as an SDK does.
const TRIES: usize = 3;
/// The longest that a call may take: the limits of the settings below, on a machine that does other work.
const LONGEST: Duration = Duration::from_secs(30);
const CLIENTS: usize = 8;

/// 200 calls; ten times as many as `KITBAG_CRASH_ROUNDS` says where that is set.
fn calls() -> usize {
    match std::env::var("KITBAG_CRASH_ROUNDS") {
        Ok(rounds) => rounds.parse::<usize>().unwrap() * 10,
        Err(_) => 200,
    }
}

/// An upstream of which a third of the answers fail, each in another way.
fn upstream() -> Upstream {
    let mut state = 7_u32;
    Upstream::answering(move |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let begun = CHAT.split_inclusive("\n\n").next().unwrap();
        match (state >> 16) % 24 {
            0 => Reply::Drop,
            1 => Reply::torn(begun),
            2 => Reply::stream(begun),
            3 => Reply::Bytes("\u{0}\u{0} no HTTP at all\r\n\r\n".to_owned()),
            4 => Reply::stream("data: {\"choices\": [{\"delta\": \n\n"),
            5 => Reply::status(
                429,
                "retry-after: 1\r\n",
                "{\"error\":{\"message\":\"slow down\"}}",
            ),
            6 => Reply::status(500, "", "<html>oops</html>"),
            7 => Reply::Silent(begun.to_owned()),
            8 => Reply::Never,
            _ => Reply::stream(CHAT),
        }
    })
}

fn settings(upstream: &Upstream) -> String {
    format!(
        "providers: {{odd: {{kind: openai, base_url: {}/v1, timeouts: {{first_byte: 300ms, idle: 300ms}}}}}}\n\
         server: {{memory_time_limit: 60s}}\n",
        upstream.address()
    )
}

/// Makes all calls, spread over the servers, and returns the questions that were answered, and how many were refused.
fn call_all(servers: &[Server]) -> (Vec<String>, usize) {
    let next = AtomicUsize::new(0);
    let refused = AtomicUsize::new(0);
    let answered = thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                let (next, refused) = (&next, &refused);
                scope.spawn(move || {
                    let mut answered = Vec::new();
                    loop {
                        let number = next.fetch_add(1, Ordering::SeqCst);
                        if number >= calls() {
                            return answered;
                        }
                        let question = format!("Is plant number {number:05} in flower?");
                        match (0..TRIES).any(|again| {
                            let server = &servers[(number + again) % servers.len()];
                            is_answered(server, &question)
                        }) {
                            true => answered.push(question),
                            false => drop(refused.fetch_add(1, Ordering::SeqCst)),
                        }
                    }
                })
            })
            .collect();
        let answered = clients.into_iter().map(|client| client.join().unwrap());
        answered.flatten().collect()
    });
    (answered, refused.into_inner())
}

fn is_answered(server: &Server, question: &str) -> bool {
    let begun = Instant::now();
    let body = chat(&[question]).to_string();
    let answer = server.post("/v1/chat/completions", &[], &body);
    assert!(
        begun.elapsed() < LONGEST,
        "{:?}: {answer:?}",
        begun.elapsed()
    );
    // While the upstream is silent, its client gets comments.
    let body = answer.body.replace(": keep-alive\n\n", "");
    let is_answered = answer.status == 200 && answer.is_whole && body == CHAT;
    // What failed says so, in the words of the API or of the upstream.
    let is_told = answer.status >= 400 || answer.body.contains("error") || !answer.is_whole;
    assert!(is_answered || is_told, "{answer:?}");
    is_answered
}

/// How often each question is kept.
fn kept(folder: &Folder, store: &[&str]) -> BTreeMap<String, usize> {
    let exported = folder
        .run(&[store, &["memory", "export"]].concat())
        .success();
    let mut kept = BTreeMap::new();
    for line in exported.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = line["text"].as_str().unwrap();
        *kept.entry(text.to_owned()).or_default() += 1;
    }
    kept
}

fn judge(kept: &BTreeMap<String, usize>, answered: &[String]) {
    for question in answered {
        assert_eq!(kept.get(question), Some(&1), "{question}");
    }
    let questions = kept.keys().filter(|text| text.contains("plant number"));
    assert_eq!(
        questions.count(),
        answered.len(),
        "nothing else was learned"
    );
}

#[test]
fn x07_calls_through_an_upstream_that_fails_at_random_are_each_learned_once_or_not_at_all() {
    let upstream = upstream();
    let folder = Folder::new();
    folder.write("own.yaml", settings(&upstream));
    let server = Server::start(&folder, &["--config", "own.yaml", "--upstream", "odd"]);
    let servers = [server];
    let (answered, refused) = call_all(&servers);
    eprintln!("{} answered, {refused} refused", answered.len());
    assert!(
        answered.len() > calls() / 2,
        "{} of {}",
        answered.len(),
        calls()
    );
    let [server] = servers;
    assert_eq!(server.get("/readyz").status, 200);
    assert_eq!(server.stop().code, Some(0));
    judge(&kept(&folder, &["--store", "sqlite:memory.db"]), &answered);
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_the_same_on_two_nodes_of_one_database() {
    let Ok(store) = std::env::var("KITBAG_TEST_PGBOUNCER") else {
        panic!(
            "no PostgreSQL server: run `cargo xtask postgres -- cargo nextest run -p kitbag-cli --run-ignored all load`"
        );
    };
    let tenant = format!("load-{}", std::process::id());
    let upstream = upstream();
    let folder = Folder::new();
    folder.write("own.yaml", settings(&upstream));
    let place = ["--store", &store, "--tenant", &tenant];
    let serve = [&place[..], &["--config", "own.yaml", "--upstream", "odd"]].concat();
    let servers = [(); 2].map(|()| Server::start(&folder, &serve));
    let (answered, refused) = call_all(&servers);
    eprintln!("{} answered, {refused} refused", answered.len());
    assert!(
        answered.len() > calls() / 2,
        "{} of {}",
        answered.len(),
        calls()
    );
    for server in servers {
        assert_eq!(server.stop().code, Some(0));
    }
    judge(&kept(&folder, &place), &answered);
}

#[test]
fn x07_a_full_disk_loses_nothing_that_was_acknowledged_and_holds_up_no_request_to_a_model() {
    let upstream = Upstream::answering(|_| Reply::stream(CHAT));
    let folder = Folder::new();
    let address = upstream.address();
    // Half a megabyte for each file.
    let server = Server::start_with_small_files(&folder, 1_000, &["--upstream", &address]);
    let note = |number: usize| format!("Note {number}: {}", "bees and hives. ".repeat(240));
    let remember = |server: &Server, number: usize| {
        let body = json!({"text": note(number), "key": format!("note {number}")}).to_string();
        let headers = [("content-type", "application/json")];
        server.post("/api/v1/remember", &headers, &body)
    };
    let mut acknowledged = Vec::new();
    let mut refusals = 0;
    for number in 0..300 {
        let begun = Instant::now();
        let answer = remember(&server, number);
        assert!(begun.elapsed() < LONGEST, "{answer:?}");
        match answer.status {
            200 => acknowledged.push(number),
            500..=599 => {
                refusals += 1;
                assert!(answer.json()["error"]["message"].is_string(), "{answer:?}");
            }
            _ => panic!("{answer:?}"),
        }
        if refusals == 3 {
            break;
        }
    }
    assert!(
        refusals == 3 && acknowledged.len() > 3,
        "{refusals} {acknowledged:?}"
    );
    let answer = server.post("/v1/chat/completions", &[], &chat(&["Hi"]).to_string());
    assert_eq!((answer.status, answer.body.as_str()), (200, CHAT));
    assert_eq!(server.get("/readyz").status, 200);
    drop(server.stop());
    // With room again everything is there, and more is taken.
    let server = Server::start(&folder, &["--upstream", &address]);
    let facts = server.get("/api/v1/facts?limit=10000").json().to_string();
    for number in &acknowledged {
        let count = facts.matches(&format!("Note {number}: ")).count();
        assert_eq!(count, 1, "note {number}");
    }
    assert_eq!(remember(&server, 1_000).status, 200);
}
