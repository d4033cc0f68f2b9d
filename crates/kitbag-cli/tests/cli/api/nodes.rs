//! Two nodes on one PostgreSQL behind PgBouncer: each turn of a shared conversation is answered once, and a node
//! that is killed loses nothing that was acknowledged.

use std::io::{Read as _, Write as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

use super::{get, post};
use crate::serve::Server;

/// A database server before which a pooler stands, and a tenant that no other test has.
fn place() -> (String, String) {
    let Ok(pooler) = std::env::var("KITBAG_TEST_PGBOUNCER") else {
        panic!(
            "no PostgreSQL server: run `cargo xtask postgres -- cargo nextest run -p kitbag-cli --run-ignored all nodes`"
        );
    };
    (pooler, format!("nodes-{}", std::process::id()))
}

fn node(folder: &crate::run::Folder, store: &str, tenant: &str) -> Server {
    let own = ["--store", store, "--tenant", tenant, "--config", "own.yaml"];
    Server::start(
        folder,
        &[&own[..], &["--upstream", "http://127.0.0.1:9"]].concat(),
    )
}

fn ask(server: &Server, conversation: &str, message: &str) -> crate::serve::Answer {
    let body = json!({"message": message, "sender": "ann", "conversation": conversation});
    post(server, "", "/api/v1/ask", &body)
}

fn said(server: &Server, conversation: &str) -> Vec<(String, String)> {
    let list = get(server, "", "/api/v1/conversations?limit=1000").json();
    let all = list["conversations"].as_array().unwrap();
    let found = all.iter().find(|one| one["name"] == conversation).unwrap();
    let id = found["id"].as_str().unwrap();
    let messages = get(
        server,
        "",
        &format!("/api/v1/conversations/{id}?limit=1000"),
    )
    .json();
    let text = |message: &Value, field: &str| message[field].as_str().unwrap().to_owned();
    let messages = messages["messages"].as_array().unwrap().iter();
    messages
        .map(|one| (text(one, "role"), text(one, "text")))
        .collect()
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_turns_on_two_nodes_are_each_answered_once_and_a_killed_node_loses_nothing() {
    let (store, tenant) = place();
    let folder = super::folder();
    let [first, other] = [(); 2].map(|()| node(&folder, &store, &tenant));
    thread::scope(|scope| {
        for number in 0..6 {
            let node = if number % 2 == 0 { &first } else { &other };
            scope.spawn(move || {
                let answer = ask(node, "shared", &format!("Where are the bees, {number}?"));
                assert_eq!(answer.status, 200, "{answer:?}");
            });
        }
    });
    let shared = said(&other, "shared");
    assert_eq!(shared.len(), 12, "{shared:?}");
    // Questions are kept as they come, and each has an answer of its own.
    let list = get(&first, "", "/api/v1/conversations?limit=1000").json();
    let all = list["conversations"].as_array().unwrap();
    let found = all.iter().find(|one| one["name"] == "shared").unwrap();
    let id = found["id"].as_str().unwrap();
    let replies = (1..=6).map(|number| {
        let turn = get(&first, "", &format!("/api/v1/turns/{id}.{number}")).json();
        assert_eq!(turn["status"], "learned", "{turn}");
        turn["reply"].as_str().unwrap().to_owned()
    });
    let replies: std::collections::BTreeSet<String> = replies.collect();
    assert_eq!(replies.len(), 6, "{replies:?}");
    // One asks until its node is gone; the other knows all that was answered.
    let acknowledged = AtomicUsize::new(0);
    let (mut told, address) = (Vec::new(), first.address());
    let node = &first;
    thread::scope(|scope| {
        let acknowledged = &acknowledged;
        let asking = scope.spawn(move || {
            let mut answered = Vec::new();
            for number in 0..500 {
                let message = format!("Where are the bees, number {number}?");
                let body = json!({"message": message, "sender": "ann", "conversation": "lost"});
                let headers = [("content-type", "application/json")];
                let body = body.to_string();
                let head = node.head("POST", "/api/v1/ask", &headers, body.len());
                let place = address.trim_start_matches("http://");
                let Ok(mut stream) = std::net::TcpStream::connect(place) else {
                    return answered;
                };
                let mut answer = String::new();
                let sent = stream.write_all(format!("{head}{body}").as_bytes());
                let read = sent.and_then(|()| stream.read_to_string(&mut answer));
                if read.is_err() || !answer.contains("The bees are in Porto.") {
                    return answered;
                }
                answered.push(message);
                acknowledged.store(answered.len(), Ordering::SeqCst);
            }
            answered
        });
        while acknowledged.load(Ordering::SeqCst) < 5 && !asking.is_finished() {
            thread::sleep(std::time::Duration::from_millis(1));
        }
        node.kill();
        told = asking.join().unwrap();
    });
    assert!((5..500).contains(&told.len()), "{}", told.len());
    let lost = said(&other, "lost");
    for message in &told {
        let at = lost.iter().position(|(_, text)| text == message);
        let at = at.unwrap_or_else(|| panic!("{message} is lost"));
        assert_eq!(lost[at + 1].1, "The bees are in Porto.", "{message}");
    }
    // What the killed node held is free again.
    assert_eq!(ask(&other, "lost", "Where are the bees now?").status, 200);
    assert_eq!(other.stop().code, Some(0));
}

/// A round is a node that is killed.
fn rounds() -> usize {
    match std::env::var("KITBAG_CRASH_ROUNDS") {
        Ok(rounds) => rounds.parse().unwrap(),
        Err(_) => 20,
    }
}

/// A message to a conversation, named so that it is one turn whoever gets it.
struct Message {
    conversation: String,
    text: String,
    key: String,
}

impl Message {
    fn new(conversation: &str, number: usize) -> Self {
        Self {
            conversation: conversation.to_owned(),
            text: format!("Where are the bees of {conversation}, {number}?"),
            key: format!("{conversation}-{number}"),
        }
    }

    /// Sends it. Fails with what came instead of an answer.
    fn send(&self, node: &Server) -> Result<(), String> {
        let body = json!({
            "message": self.text, "sender": "ann",
            "conversation": self.conversation, "idempotency_key": self.key,
        });
        let body = body.to_string();
        let headers = [("content-type", "application/json")];
        let head = node.head("POST", "/api/v1/ask", &headers, body.len());
        let address = node.address();
        let place = address.trim_start_matches("http://");
        let stream = std::net::TcpStream::connect(place);
        let mut stream = stream.map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(LONGEST)).unwrap();
        let mut answer = String::new();
        let sent = stream.write_all(format!("{head}{body}").as_bytes());
        let read = sent.and_then(|()| stream.read_to_string(&mut answer));
        match read {
            Ok(_) if answer.contains("The bees are in Porto.") => Ok(()),
            Ok(_) => Err(answer),
            Err(error) => Err(format!("{error}: {answer}")),
        }
    }
}

/// What a killed node held is free after half a minute; nothing takes twice as long.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_nodes_that_are_killed_at_random_moments_lose_and_double_nothing() {
    let (store, _) = place();
    let tenant = format!("killed-{}", std::process::id());
    let folder = super::folder();
    let survivor = node(&folder, &store, &tenant);
    let mut random = 7_u64;
    let (mut answered, mut left): (Vec<Message>, Vec<Message>) = Default::default();
    for round in 0..rounds() {
        let killed = node(&folder, &store, &tenant);
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let moment = std::time::Duration::from_millis((random >> 33) % 400);
        let is_begun = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (killed, is_begun) = (&killed, &is_begun);
            let clients: Vec<_> = (0..3)
                .map(|client| {
                    scope.spawn(move || {
                        let conversation = format!("{round}-{client}");
                        let messages = (0..).map(|number| Message::new(&conversation, number));
                        let (mut answered, mut left) = (Vec::new(), Vec::new());
                        for message in messages {
                            if message.send(killed).is_err() {
                                left.push(message);
                                break;
                            }
                            is_begun.store(1, Ordering::SeqCst);
                            answered.push(message);
                        }
                        (answered, left)
                    })
                })
                .collect();
            // A node takes a while for its first answer.
            while is_begun.load(Ordering::SeqCst) == 0 && !clients.iter().all(|it| it.is_finished())
            {
                thread::sleep(std::time::Duration::from_millis(1));
            }
            thread::sleep(moment);
            killed.kill();
            for client in clients {
                let (some, other) = client.join().unwrap();
                answered.extend(some);
                left.extend(other);
            }
        });
    }
    eprintln!(
        "{} answered before a node was gone, {} left",
        answered.len(),
        left.len()
    );
    assert!(answered.len() > rounds(), "the moments are too early");
    // Whoever had no answer asks the other node the same again.
    for message in &left {
        if let Err(told) = message.send(&survivor) {
            // Its answer was kept and came no more to the client, which finds it by the turn that this names.
            assert!(
                told.contains("has been answered already"),
                "{} {told}",
                message.text
            );
        }
    }
    answered.extend(left);
    let mut kept = std::collections::BTreeMap::new();
    for line in get(&survivor, "", "/api/v1/export").body.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        *kept.entry(line["text"].to_string()).or_insert(0) += 1;
    }
    for message in &answered {
        let count = kept.get(&json!(message.text).to_string());
        assert_eq!(count, Some(&1), "{}", message.text);
    }
    let answers = kept.get(&json!("The bees are in Porto.").to_string());
    assert_eq!(answers, Some(&answered.len()), "each has one answer");
    assert_eq!(survivor.stop().code, Some(0));
}
