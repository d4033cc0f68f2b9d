//! Claude Code's own program with nothing changed but its base URL.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use super::Server;
use crate::ask::billing::{Bill, BillingUpstream};
use crate::ask::claude_code::{STREAM, program};
use crate::ask::upstream::{Reply, Upstream, body};
use crate::run::{Folder, finish};

/// Runs a turn of Claude Code in a project, and returns its answer.
fn turn(project: &Path, address: &str, args: &[&str]) -> String {
    let home = project.join("home");
    fs::create_dir_all(&home).unwrap();
    let mut command = Command::new(program());
    command
        .args(args)
        .current_dir(project)
        .env_clear()
        .env("HOME", &home)
        .env("PATH", "/usr/bin:/bin")
        .env("TERM", "dumb")
        .env("ANTHROPIC_BASE_URL", address)
        .env("ANTHROPIC_API_KEY", crate::ask::KEY)
        .env("NO_PROXY", "127.0.0.1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_TELEMETRY", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    finish(command, None).success()
}

/// Stands between a client and a server, and keeps what the client sends.
pub(super) struct Tap {
    pub(super) address: String,
    sent: Arc<Mutex<Vec<u8>>>,
}

impl Tap {
    pub(super) fn before(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let sent = Arc::new(Mutex::new(Vec::new()));
        let (kept, server) = (
            Arc::clone(&sent),
            server.trim_start_matches("http://").to_owned(),
        );
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let kept = Arc::clone(&kept);
                thread::spawn(move || {
                    copy(from, to, |bytes| {
                        kept.lock().unwrap().extend_from_slice(bytes)
                    });
                });
                thread::spawn(move || copy(server, client, |_| {}));
            }
        });
        Self { address, sent }
    }

    /// Checks that each request arrived as it was sent: its first line, its headers and its body.
    pub(super) fn check(&self, requests: &[String]) {
        let sent = String::from_utf8(self.sent.lock().unwrap().clone()).unwrap();
        let lines = sent.to_ascii_lowercase();
        for request in requests {
            assert!(sent.contains(body(request)), "{request}");
            let (head, _) = request.split_once("\r\n\r\n").unwrap();
            let mut head = head.lines();
            assert!(sent.contains(head.next().unwrap()), "{request}");
            for line in head.filter(|line| !line.starts_with("host: ")) {
                assert!(lines.contains(&line.to_ascii_lowercase()), "{line}");
            }
        }
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, mut keep: impl FnMut(&[u8])) {
    let mut piece = [0; 1 << 16];
    while let Ok(count) = from.read(&mut piece)
        && count > 0
    {
        keep(&piece[..count]);
        if to.write_all(&piece[..count]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Write));
}

#[test]
#[ignore = "needs Claude Code: cargo xtask test"]
fn x06_requests_of_claude_code_arrive_as_they_were_sent() {
    let upstream = Upstream::answering(|_| Reply::stream(STREAM));
    let folder = Folder::new();
    let args = ["--no-memory", "--upstream", &upstream.address()];
    let server = Server::start(&folder, &args);
    let tap = Tap::before(&server.address());
    turn(folder.path(), &tap.address, &["-p", "Where are the bees?"]);
    let more = ["--continue", "-p", "And the wasps? \u{1f41d}"];
    assert_eq!(turn(folder.path(), &tap.address, &more).trim(), "In Porto.");
    let requests = upstream.requests();
    assert!(requests.len() >= 2, "{requests:?}");
    tap.check(&requests);
    for request in &requests {
        for needed in [
            "anthropic-beta: ",
            "x-api-key: ",
            "x-claude-code-session-id: ",
        ] {
            assert!(request.to_ascii_lowercase().contains(needed), "{request}");
        }
    }
}

#[test]
#[ignore = "needs Claude Code: cargo xtask test"]
fn x06_a_second_session_of_claude_code_knows_what_the_first_said() {
    let upstream = Upstream::answering(|_| Reply::stream(STREAM));
    let folder = Folder::new();
    folder.write("own.yaml", "server: {memory_time_limit: 60s}\n");
    let args = ["--config", "own.yaml", "--upstream", &upstream.address()];
    let server = Server::start(&folder, &args);
    let [mine, other] = ["mine", "other"].map(|name| {
        let project = folder.path().join(name);
        fs::create_dir_all(project.join(".git")).unwrap();
        project
    });
    let address = server.address();
    let said = "We deploy with fly.io, never with heroku.";
    turn(&mine, &address, &["-p", said]);
    // An answer is kept behind it; a server that has stopped has kept it.
    assert_eq!(server.stop().code, Some(0));
    let server = Server::start(&folder, &args);
    let address = server.address();
    turn(&mine, &address, &["-p", "How do we deploy?"]);
    let second = upstream.bodies().pop().unwrap();
    assert!(
        second.contains("user: We deploy with fly.io, never with heroku."),
        "{second}"
    );
    turn(
        &mine,
        &address,
        &["--continue", "-p", "And how do we deploy to staging?"],
    );
    let third = upstream.bodies().pop().unwrap();
    assert_eq!(
        third.matches("user: We deploy with fly.io").count(),
        1,
        "{third}"
    );
    turn(&other, &address, &["-p", "How do we deploy?"]);
    let elsewhere = upstream.bodies().pop().unwrap();
    assert!(!elsewhere.contains("fly.io"), "{elsewhere}");
    // Hooks of the same project know it, too: the scope is one.
    let event = serde_json::json!({
        "session_id": "s", "cwd": mine, "hook_event_name": "UserPromptSubmit",
        "prompt": "How do we deploy?",
    });
    let hook = ["--store", "sqlite:memory.db", "hook"];
    let brought = folder
        .run_with_stdin(&hook, event.to_string().as_bytes())
        .success();
    assert!(brought.contains("never with heroku"), "{brought}");
}

/// Things that one session was told, and a later one asks for.
const TOLD: [(&str, &str); 12] = [
    (
        "The orders table lives in Porto.",
        "Where does the orders table live?",
    ),
    (
        "Invoices are rounded down to cents.",
        "How are invoices rounded?",
    ),
    (
        "The nightly backup begins at four.",
        "When does the nightly backup begin?",
    ),
    (
        "Releases are signed by Margit.",
        "Who has signed the releases?",
    ),
    (
        "The parser was taken from the lab.",
        "Where was the parser taken from?",
    ),
    (
        "Customers may return goods for a month.",
        "How long may customers return goods?",
    ),
    (
        "The queue holds nine thousand jobs.",
        "How many jobs does the queue hold?",
    ),
    (
        "Error pages are written in Latin.",
        "In which language are error pages written?",
    ),
    (
        "The staging cluster has seven nodes.",
        "How many nodes has the staging cluster?",
    ),
    (
        "Passwords are hashed with argon2.",
        "With what are passwords hashed?",
    ),
    ("The logo was drawn by a cousin.", "Who has drawn the logo?"),
    (
        "Feature flags are kept in a wiki.",
        "Where are feature flags kept?",
    ),
];

/// Twelve turns of a session; the bills of them alone.
fn session(project: &Path, address: &str, billing: &BillingUpstream) -> Vec<Bill> {
    let before = billing.bills().len();
    for (number, (_, asked)) in TOLD.iter().enumerate() {
        let args: &[&str] = match number {
            0 => &["-p", asked],
            _ => &["--continue", "-p", asked],
        };
        turn(project, address, args);
    }
    billing.bills()[before..].to_vec()
}

#[test]
#[ignore = "needs Claude Code: cargo xtask test"]
fn x06_memory_costs_claude_code_a_seventh_at_most_and_nothing_without() {
    let bills = ["direct", "plain", "memory"].map(|way| {
        // Paths of one length, so that requests are of one length.
        let folder = Folder::new();
        let project = folder.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        let billing = BillingUpstream::start(|_| "Noted.".to_owned());
        let upstream = billing.upstream.address();
        folder.write("own.yaml", "server: {memory_time_limit: 60s}\n");
        let args = ["--config", "own.yaml", "--upstream", &upstream];
        match way {
            "direct" => session(&project, &upstream, &billing),
            "plain" => {
                let server = Server::start(&folder, &[&args[..], &["--no-memory"]].concat());
                session(&project, &server.address(), &billing)
            }
            _ => {
                let lines = TOLD.iter().map(|(told, _)| {
                    let sender = project.canonicalize().unwrap();
                    let line = serde_json::json!({
                        "sender": sender, "channel": "claude-code", "conversation": "earlier",
                        "role": "user", "text": told,
                    });
                    format!("{line}\n")
                });
                folder.write("told.jsonl", lines.collect::<String>());
                let import = [
                    "--store",
                    "sqlite:memory.db",
                    "memory",
                    "import",
                    "told.jsonl",
                ];
                folder.run(&import).success();
                let server = Server::start(&folder, &args);
                let bills = session(&project, &server.address(), &billing);
                let last = billing.upstream.bodies().pop().unwrap();
                let added = last.matches("<kitbag-memory>").count();
                assert!(added >= 10, "nearly every turn was told something: {added}");
                bills
            }
        }
    });
    for turns in [3, 12] {
        let [direct, plain, memory] = bills.each_ref().map(|bills| {
            let bills = bills.iter().take(turns).copied();
            bills.map(Bill::cost).sum::<u64>()
        });
        assert_eq!(plain, direct, "{turns} turns without memory");
        println!(
            "{turns} turns: {} % more with memory",
            memory * 100 / direct - 100
        );
        assert!(
            memory * 100 <= direct * 115,
            "{turns} turns: {direct}, with memory {memory}"
        );
    }
}
