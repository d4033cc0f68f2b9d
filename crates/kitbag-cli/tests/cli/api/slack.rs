//! Slack: signed messages are answered in their thread, once, and everything else is refused.

use std::process::{Command, Stdio};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::folder;
use crate::ask::upstream::{Reply, Upstream};
use crate::mcp::clients::{PYTHON, given};
use crate::run::{Folder, finish};
use crate::serve::{Answer, Server};

const SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
const TOKEN: &str = "xoxb-not-a-real-token-0123";

/// Slack itself, as far as it is called.
fn slack() -> Upstream {
    Upstream::answering(|request| {
        let answer = match request.split(' ').nth(1).unwrap() {
            "/api/users.info?user=U1" => {
                json!({"ok": true, "user": {"name": "ann", "profile": {"display_name": "Ann"}}})
            }
            "/api/users.info?user=U2" => json!({"ok": false, "error": "user_not_found"}),
            _ => json!({"ok": true, "ts": "100.1"}),
        };
        Reply::whole(&answer.to_string())
    })
}

fn start(slack: &Upstream) -> (Folder, Server) {
    let folder = folder();
    let own = std::fs::read_to_string(folder.path().join("own.yaml")).unwrap();
    let server = format!(
        "server:\n  slack:\n    signing_secret: {{file: secret}}\n    token: {{file: token}}\n    base_url: {}/api\n",
        slack.address()
    );
    folder.write("own.yaml", own + &server);
    folder.write("secret", SECRET);
    folder.write("token", TOKEN);
    let server = super::serve(&folder, &["--log", "debug"]);
    (folder, server)
}

/// The signature that Slack's own SDK makes.
fn signature(timestamp: &str, body: &str) -> String {
    let script = "import sys\nfrom slack_sdk.signature import SignatureVerifier\n\
                  verifier = SignatureVerifier(sys.argv[1])\n\
                  print(verifier.generate_signature(timestamp=sys.argv[2], body=sys.argv[3]))";
    let mut python = Command::new(given(PYTHON, "python"));
    python.args(["-c", script, SECRET, timestamp, body]);
    python.stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(python, None).success().trim().to_owned()
}

fn deliver(server: &Server, timestamp: &str, signature: &str, body: &str) -> Answer {
    let headers = [
        ("content-type", "application/json"),
        ("x-slack-request-timestamp", timestamp),
        ("x-slack-signature", signature),
    ];
    server.post("/slack/events", &headers, body)
}

fn signed(server: &Server, event: &Value) -> Answer {
    let now = Timestamp::now().as_second().to_string();
    let body = event.to_string();
    deliver(server, &now, &signature(&now, &body), &body)
}

fn mention(ts: &str, user: &str, text: &str) -> Value {
    json!({"type": "event_callback", "event_id": format!("Ev{ts}"), "event": {
        "type": "app_mention", "user": user, "channel": "C7", "ts": ts, "thread_ts": "50.5",
        "text": format!("<@U0> {text}"), "files": [{"name": "map.png", "mimetype": "image/png"}],
    }})
}

/// The bodies of the calls of a method.
fn calls(slack: &Upstream, method: &str) -> Vec<Value> {
    let requests = slack.requests().into_iter();
    let of_method = requests.filter(|request| request.contains(&format!(" /api/{method} ")));
    of_method
        .map(|request| serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap())
        .collect()
}

#[test]
#[ignore = "needs Python: cargo xtask test"]
fn c10_slack_threads_are_conversations_and_are_answered_once() {
    let slack = slack();
    let (folder, server) = start(&slack);
    let challenge = json!({"type": "url_verification", "challenge": "3eZbrw1aB"});
    assert_eq!(signed(&server, &challenge).json()["challenge"], "3eZbrw1aB");
    let first = mention("60.1", "U1", "Where are the bees?");
    assert_eq!(signed(&server, &first).status, 200);
    assert_eq!(signed(&server, &first).status, 200, "delivered again");
    assert_eq!(server.stop().code, Some(0), "it answers before it ends");
    let posted = calls(&slack, "chat.postMessage");
    assert_eq!(posted.len(), 1, "{posted:?}");
    let last = calls(&slack, "chat.update")
        .pop()
        .unwrap_or_else(|| posted[0].clone());
    assert_eq!(last["text"], "The bees are in Porto.");
    assert_eq!(
        (&posted[0]["channel"], &posted[0]["thread_ts"]),
        (&json!("C7"), &json!("50.5"))
    );
    for request in slack.requests() {
        assert!(request.contains(&format!("authorization: Bearer {TOKEN}\r\n")));
    }
    // Another node, or the same one started anew, answers the message no second time.
    let server = super::serve(&folder, &[]);
    assert_eq!(signed(&server, &first).status, 200);
    assert_eq!(
        signed(&server, &mention("61.1", "U2", "And who said so?")).status,
        200
    );
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(calls(&slack, "chat.postMessage").len(), 2);
    let history = folder.run(&[
        "--store",
        "sqlite:memory.db",
        "memory",
        "export",
        "--channel",
        "slack",
    ]);
    let lines: Vec<Value> = history
        .success()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> = lines
        .iter()
        .filter(|line| line["role"] == "user")
        .map(|line| {
            (
                line["conversation"].as_str().unwrap(),
                line["speaker"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(told, [("C7-50.5", "Ann"), ("C7-50.5", "U2")]);
    assert_eq!(
        lines[0]["text"],
        "Where are the bees?\n[file: map.png, image/png]"
    );
}

#[test]
#[ignore = "needs Python: cargo xtask test"]
fn c10_what_slack_did_not_sign_lately_has_no_effect() {
    let slack = slack();
    let (_folder, server) = start(&slack);
    let body = mention("60.1", "U1", "Where are the bees?").to_string();
    let now = Timestamp::now().as_second();
    let (current, old, ahead) = (
        now.to_string(),
        (now - 301).to_string(),
        (now + 400).to_string(),
    );
    let good = signature(&current, &body);
    let flipped = body.replace("bees", "beez");
    let [old_signature, ahead_signature] = [&old, &ahead].map(|at| signature(at, &body));
    let cut = good.split_at(good.len() - 2).0;
    for (timestamp, signature, body) in [
        (old.as_str(), old_signature.as_str(), body.as_str()),
        (&ahead, &ahead_signature, &body),
        (&current, &good, &flipped),
        (&old, &good, &body),
        (&current, "v0=", &body),
        (&current, cut, &body),
        (&current, "v1=00", &body),
        ("soon", &good, &body),
    ] {
        let answer = deliver(&server, timestamp, signature, body);
        assert_eq!(answer.status, 401, "{timestamp} {signature} {answer:?}");
    }
    let unsigned = server.post(
        "/slack/events",
        &[("content-type", "application/json")],
        &body,
    );
    assert_eq!(unsigned.status, 401);
    let said = server.stop().stderr;
    assert!(!said.contains(SECRET) && !said.contains(TOKEN), "{said}");
    assert!(slack.requests().is_empty());
}

#[test]
#[ignore = "needs Python: cargo xtask test"]
fn c10_what_a_model_says_calls_nobody_in_slack() {
    let slack = slack();
    let (folder, server) = start(&slack);
    let line = json!({"text": "<!channel> tell <@U9> that 1 < 2 & 3"});
    folder.write("answers.jsonl", format!("{line}\n"));
    assert_eq!(
        signed(&server, &mention("60.1", "U1", "Say it")).status,
        200
    );
    assert_eq!(server.stop().code, Some(0));
    let posted = calls(&slack, "chat.postMessage").remove(0);
    let last = calls(&slack, "chat.update").pop().unwrap_or(posted);
    let escaped = "&lt;!channel&gt; tell &lt;@U9&gt; that 1 &lt; 2 &amp; 3";
    assert_eq!(last["text"], escaped);
}

#[test]
#[ignore = "needs Python: cargo xtask test"]
fn c10_a_message_that_cannot_be_kept_is_delivered_again() {
    let slack = slack();
    let (folder, server) = start(&slack);
    let raw = rusqlite::Connection::open(folder.path().join("memory.db")).unwrap();
    raw.execute_batch("ALTER TABLE scope RENAME TO gone")
        .unwrap();
    let said = mention("70.1", "U1", "Where are the bees?");
    assert_eq!(signed(&server, &said).status, 503);
    raw.execute_batch("ALTER TABLE gone RENAME TO scope")
        .unwrap();
    assert_eq!(signed(&server, &said).status, 200);
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(calls(&slack, "chat.postMessage").len(), 1);
}
