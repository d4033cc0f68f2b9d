//! Each endpoint, as a program uses it.

use serde_json::{Value, json};

use super::{JSON, error, folder, get, post, serve};
use crate::run::Folder;
use crate::serve::Server;

fn asked() -> (Folder, Server, String) {
    let folder = folder();
    let server = serve(&folder, &[]);
    let ask = |message: &str| {
        let body = json!({"message": message, "sender": "ann", "conversation": "garden"});
        let answer = post(&server, "", "/api/v1/ask", &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let first = ask("Where are the bees?");
    assert_eq!(first["text"], "The bees are in Porto.");
    let second = ask("And the wasps?");
    let turn = second["turn"].as_str().unwrap().to_owned();
    assert_ne!(first["turn"], second["turn"]);
    (folder, server, turn)
}

#[test]
fn c10_a_message_is_answered_and_its_turn_explains_itself() {
    let (folder, server, turn) = asked();
    let read = |path: &str| {
        let answer = get(&server, "", path);
        assert_eq!(answer.status, 200, "{path} {answer:?}");
        answer
    };
    let list = read("/api/v1/conversations?sender=ann").json();
    let conversation = &list["conversations"][0];
    assert_eq!(
        (&conversation["name"], &conversation["turns"]),
        (&json!("garden"), &json!(2))
    );
    let id = conversation["id"].as_str().unwrap();
    let said = read(&format!("/api/v1/conversations/{id}?limit=3")).json();
    let texts: Vec<&str> = said["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        ["The bees are in Porto.", "And the wasps?", "I do not know."]
    );
    let told = read(&format!("/api/v1/turns/{turn}")).json();
    assert_eq!(
        (&told["status"], &told["inferences"][0]["usage"]["input"]),
        (&json!("learned"), &json!(50))
    );
    let replayed = read(&format!("/api/v1/turns/{turn}/replay")).json();
    let prompt = read(&format!("/api/v1/turns/{turn}/prompt")).body;
    assert_eq!(replayed["prompt"], prompt);
    assert!(prompt.contains("And the wasps?") && prompt.contains("The bees are in Porto."));
    assert_eq!(
        read(&format!("/api/v1/turns/{turn}/ledger")).json(),
        replayed["ledger"]
    );
    // The command prints the same.
    let printed = folder.run(&["--store", "sqlite:memory.db", "replay", &turn, "--json"]);
    let printed: Value = serde_json::from_str(&printed.success()).unwrap();
    assert_eq!(printed, replayed);
    let before = format!("{}.1", turn.rsplit_once('.').unwrap().0);
    let difference = read(&format!("/api/v1/turns/{turn}/difference?with={before}")).json();
    assert_eq!(difference["before"], before);
    assert!(
        difference["shared_bytes"].as_u64().unwrap() > 0,
        "{difference}"
    );
    // The same message within more and within less.
    let fitted = |budget: u32| {
        let fitted = read(&format!("/api/v1/turns/{turn}/fit?budget={budget}")).json();
        assert!(fitted["prompt"]["tokens"].as_u64().unwrap() <= budget.into());
        fitted
    };
    let kept = fact(&server, "The bees of Porto like the old town.");
    let wide = fitted(32_000);
    let prompt = wide["prompt"]["prompt"].as_str().unwrap();
    assert!(
        prompt.contains("And the wasps?") && !prompt.contains("I do not know"),
        "{wide}"
    );
    let entered = wide["difference"]["entered"].as_array().unwrap();
    assert!(
        entered
            .iter()
            .any(|one| one["id"].as_str().unwrap().contains(&kept)),
        "{wide}"
    );
    let narrow = fitted(wide["prompt"]["tokens"].as_u64().unwrap() as u32 - 1);
    assert!(
        !narrow["prompt"]["prompt"]
            .as_str()
            .unwrap()
            .contains("old town"),
        "{narrow}"
    );
    let told = error(
        &get(&server, "", &format!("/api/v1/turns/{turn}/fit?budget=1")),
        400,
    );
    assert!(told.contains("budget"), "{told}");
    // An id says whose conversation it is.
    let by_id = json!({"message": "Where are the bees?", "conversation": id});
    let answer = post(&server, "", "/api/v1/ask", &by_id).json();
    assert!(
        answer["turn"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{id}.")),
        "{answer}"
    );
    let by_other = json!({"message": "x", "conversation": id, "sender": "ben"});
    assert!(error(&post(&server, "", "/api/v1/ask", &by_other), 404).contains("no conversation"));
    let other = get(&server, "", &format!("/api/v1/turns/{id}.99"));
    assert!(error(&other, 404).contains("there is no turn"));
    let other = get(&server, "", "/api/v1/turns/x");
    assert!(error(&other, 400).contains("is not an id such as"));
}

/// Keeps a fact about Ann, and returns its key.
fn fact(server: &Server, text: &str) -> String {
    let body = json!({"text": text, "key": "bees", "sender": "ann"});
    let kept = post(server, "", "/api/v1/remember", &body);
    assert_eq!(kept.status, 200, "{kept:?}");
    "bees".to_owned()
}

#[test]
fn c10_an_answer_comes_as_events_and_a_command_needs_no_model() {
    let (_folder, server, _) = asked();
    let body = json!({"message": "Where are the bees?", "sender": "ann", "stream": true});
    let streamed = post(&server, "", "/api/v1/ask", &body);
    assert_eq!(streamed.header("content-type"), Some("text/event-stream"));
    assert!(streamed.is_whole);
    let events: Vec<(&str, Value)> = streamed
        .body
        .split("\n\n")
        .filter_map(|event| event.split_once('\n'))
        .map(|(name, data)| {
            let data = data.strip_prefix("data: ").unwrap();
            (
                name.strip_prefix("event: ").unwrap(),
                serde_json::from_str(data).unwrap(),
            )
        })
        .collect();
    let texts = events.iter().filter(|(name, _)| *name == "text");
    let text: String = texts
        .map(|(_, data)| data["text"].as_str().unwrap())
        .collect();
    assert_eq!(text, "The bees are in Porto.");
    let (last, whole) = events.last().unwrap();
    assert_eq!(
        (*last, &whole["text"], &whole["whole"]),
        ("done", &json!(text), &json!(true))
    );
    let command = post(
        &server,
        "",
        "/api/v1/ask",
        &json!({"message": "/facts", "sender": "ann"}),
    );
    assert!(command.json()["text"].is_string(), "{command:?}");
    let unknown = json!({"message": "hi", "model": "no-such-model"});
    let told = error(&post(&server, "", "/api/v1/ask", &unknown), 400);
    assert!(told.contains("no-such-model"), "{told}");
}

#[test]
fn c10_a_request_that_is_sent_again_is_one_turn() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let body = json!({"message": "Where are the bees?", "idempotency_key": "r1"});
    assert_eq!(post(&server, "", "/api/v1/ask", &body).status, 200);
    let again = post(&server, "", "/api/v1/ask", &body);
    assert_eq!(again.status, 409, "{again:?}");
    let list = get(&server, "", "/api/v1/conversations").json();
    assert_eq!(list["conversations"][0]["turns"], 1);
}

#[test]
fn c10_memory_is_kept_recalled_forgotten_and_exported() {
    let (folder, server, _) = asked();
    let write = |path: &str, body: Value| {
        let answer = post(&server, "", path, &body);
        assert_eq!(answer.status, 200, "{path} {answer:?}");
        answer.json()
    };
    let kept = write(
        "/api/v1/remember",
        json!({"text": "Europe/Lisbon", "key": "timezone", "sender": "ann"}),
    );
    assert_eq!(kept["fact"], "timezone");
    let facts = get(&server, "", "/api/v1/facts?sender=ann").json();
    assert_eq!(facts["facts"][0]["value"], "Europe/Lisbon");
    let found = write(
        "/api/v1/recall",
        json!({"query": "bees", "sender": "ann", "explain": true}),
    );
    assert!(
        found["ranked"][0]["text"]
            .as_str()
            .unwrap()
            .contains("bees")
    );
    assert!(found["ranked"][0]["parts"].is_array());
    let export = get(&server, "", "/api/v1/export?sender=ann");
    assert_eq!(export.header("content-type"), Some("application/x-ndjson"));
    let printed = folder.run(&[
        "--store",
        "sqlite:memory.db",
        "memory",
        "export",
        "--sender",
        "ann",
    ]);
    assert_eq!(export.body, printed.success());
    let what = json!({"matching": "wasps", "sender": "ann"});
    let preview = write("/api/v1/forget", what.clone());
    assert_eq!(preview["messages"], 1);
    let mut confirmed = what;
    confirmed["confirm"] = json!(true);
    assert_eq!(write("/api/v1/forget", confirmed)["messages"], 1);
    let left = get(&server, "", "/api/v1/export?sender=ann").body;
    assert!(!left.contains("wasps") && left.contains("bees"), "{left}");
    for (body, told) in [
        (json!({}), "is not named"),
        (json!({"message": "1.1#1", "fact": "x"}), "named twice"),
        (json!({"message": "x"}), "is not an id such as"),
        (
            json!({"message": "9.9#9", "confirm": true}),
            "there is no message",
        ),
    ] {
        let answer = post(&server, "", "/api/v1/forget", &body);
        assert!((400..=404).contains(&answer.status), "{answer:?}");
        assert!(answer.body.contains(told), "{answer:?}");
    }
}

#[test]
fn c10_words_are_forgotten_of_one_sender_alone() {
    let folder = folder();
    let server = serve(&folder, &[]);
    for sender in ["user", "ann"] {
        let note = json!({"text": "Berlin has the best bees", "sender": sender});
        assert_eq!(post(&server, "", "/api/v1/remember", &note).status, 200);
    }
    let forget = json!({"matching": "berlin", "confirm": true});
    let gone = post(&server, "", "/api/v1/forget", &forget).json();
    assert_eq!(gone["messages"], 1, "{gone}");
    let left = get(&server, "", "/api/v1/export").body;
    assert_eq!(left.matches("Berlin").count(), 1, "{left}");
    assert!(left.contains("\"sender\":\"ann\""), "{left}");
}

#[test]
fn c10_prompts_and_packs_are_those_of_the_commands() {
    let (folder, server, _) = asked();
    let body =
        json!({"message": "Why?", "sender": "ann", "conversation": "garden", "budget": 2000});
    let context = post(&server, "", "/api/v1/context", &body).json();
    let args = [
        "--store",
        "sqlite:memory.db",
        "context",
        "Why?",
        "--sender",
        "ann",
        "--channel",
        "http",
        "--conversation",
        "garden",
        "--budget",
        "2000",
        "--config",
        "own.yaml",
        "--json",
    ];
    let printed: Value = serde_json::from_str(&folder.run(&args).success()).unwrap();
    assert_eq!(context, printed);
    let body = json!({"task": "fix the redirect of login", "budget": 4000});
    let pack = post(&server, "", "/api/v1/pack", &body).json();
    assert_eq!(pack["chunks"][0]["source"], "auth.py");
    let args = [
        "pack",
        "fix the redirect of login",
        "--root",
        "code",
        "--budget",
        "4000",
        "--json",
    ];
    let printed: Value = serde_json::from_str(&folder.run(&args).success()).unwrap();
    assert_eq!(pack["prompt"], printed["prompt"]);
    for root in ["..", "/etc", "code/../..", "../own.yaml"] {
        let answer = post(&server, "", "/api/v1/pack", &json!({"root": root}));
        let told = error(&answer, 404);
        assert!(told.contains("there is no folder"), "{told}");
    }
    let pinned = post(
        &server,
        "",
        "/api/v1/pack",
        &json!({"pins": ["../own.yaml"]}),
    );
    assert!(!pinned.body.contains("answers.jsonl"), "{pinned:?}");
    let many = post(&server, "", "/api/v1/pack", &json!({"budget": 0}));
    assert!(error(&many, 400).contains("`budget` is 0"));
}

#[test]
fn c10_what_is_wrong_with_a_request_is_told_with_what_to_do() {
    let folder = folder();
    folder.write("own.yaml", "server: {largest_body: 1M}\n");
    let server = serve(&folder, &[]);
    let send = |body: &str| server.post("/api/v1/recall", &[JSON], body);
    for (body, told) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("[]", "invalid"),
        ("{\"query\":1}", "query: invalid type"),
        ("{\"query\":\"x\",\"queery\":1}", "unknown field `queery`"),
        ("{\"query\":\"x\",\"limit\":0}", "`limit` is 0"),
        ("{\"query\":\"x\",\"since\":\"soon\"}", "`since` is `soon`"),
        ("{\"query\":\"x\",\"role\":\"king\"}", "king"),
    ] {
        let answer = send(body);
        let message = error(&answer, 400);
        assert!(
            message.to_lowercase().contains(&told.to_lowercase()),
            "{message}"
        );
    }
    let text = server.post("/api/v1/recall", &[("content-type", "text/plain")], "{}");
    assert!(error(&text, 415).contains("content-type: application/json"));
    let large = format!("{{\"query\":\"{}\"}}", "x".repeat(1 << 20));
    assert!(error(&send(&large), 413).contains("largest_body"));
    let nowhere = get(&server, "", "/api/v1/nothing");
    assert!(error(&nowhere, 404).contains("/openapi.json"));
    let method = get(&server, "", "/api/v1/recall");
    assert!(error(&method, 405).contains("no such method"));
    let query = get(&server, "", "/api/v1/facts?limit=x");
    assert!(error(&query, 400).contains("limit"));
    let ask = post(&server, "", "/api/v1/ask", &json!({"message": " "}));
    assert!(error(&ask, 400).contains("`message` is empty"));
    assert_eq!(server.stop().code, Some(0));
    let server = serve(&folder, &["--no-memory"]);
    assert!(error(&get(&server, "", "/api/v1/facts"), 404).contains("no memory"));
}
