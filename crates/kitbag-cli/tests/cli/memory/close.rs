//! `kitbag memory close` and `kitbag memory summaries`.

use jiff::Timestamp;
use kitbag::store::Incoming;
use serde_json::json;

use super::Memory;

/// A talk on the channel `cli` that fell silent two years ago, and one that has a name.
fn silent_talk() -> Memory {
    let memory = Memory::talk();
    let line = |at: &str, role: &str, text: &str| json!({"channel": "cli", "sender": "ann", "at": at, "role": role, "text": text});
    memory
        .import(&[
            line(
                "2024-07-01T09:00:00Z",
                "user",
                "My sister Ines keeps bees in Porto.",
            ),
            line(
                "2024-07-01T09:01:00Z",
                "assistant",
                "How many hives does she have?",
            ),
        ])
        .success();
    memory
}

#[test]
fn o09_a_closed_conversation_leaves_a_summary() {
    let memory = Memory::talk();
    let printed = memory.run(&["close", "1.1"]).success();
    assert!(printed.starts_with("1.1 is closed\n  "), "{printed}");
    assert!(printed.contains("Biscuit"), "{printed}");
    assert_eq!(
        memory.run(&["close", "1.1"]).success(),
        "1.1 was closed before\n"
    );
    let kept = memory.json(&["summaries"]);
    let summary = &kept["summaries"][0];
    assert_eq!(summary["conversation"], "1.1");
    assert_eq!(summary["channel"], "slack");
    assert_eq!(summary["by"], "rules");
    assert_eq!(summary["messages"], json!([1, 3]));
    let printed = memory.run(&["summaries"]).success();
    assert!(printed.contains("by rules (1.1)\n  User: "), "{printed}");
    let closed = memory.json(&["history", "--channel", "slack"]);
    assert!(closed["conversations"][1]["closed"].is_string(), "{closed}");
}

#[test]
fn o09_conversations_that_ended_by_silence_are_closed() {
    let memory = silent_talk();
    // One that has a name is gone on with by whoever knows the name, and one of today is not silent.
    memory.open("memory.db", async |store| {
        let incoming = Incoming::new("cli", "bob", "Good morning!");
        store.accept(&incoming, Timestamp::now()).await.unwrap();
    });
    let none = memory.json(&["close", "--silent", "--sender", "bob"]);
    assert_eq!(none, json!({"closed": []}));
    let report = memory.json(&["close", "--silent"]);
    let closed = report["closed"].as_array().unwrap();
    assert_eq!(closed.len(), 1, "{report}");
    assert_eq!(closed[0]["outcome"], "closed");
    let text = closed[0]["summary"].as_str().unwrap();
    assert!(text.contains("bees in Porto"), "{text}");
    let again = memory.run(&["close", "--silent"]);
    assert!(
        again
            .stderr
            .contains("no open conversation has been silent for 30 minutes")
    );
    assert_eq!(again.success(), "");
}

#[test]
fn a_mistyped_conversation_closes_none() {
    let memory = Memory::talk();
    let refused = memory.run(&["close", "1.1", "1.9"]).failure(1);
    assert!(
        refused.contains("there is no conversation `1.9`"),
        "{refused}"
    );
    assert!(refused.contains("kitbag memory history"), "{refused}");
    let listed = memory.json(&["history"]);
    let closed = listed["conversations"].as_array().unwrap();
    assert!(closed.iter().all(|one| one["closed"].is_null()), "{listed}");
    memory.run(&["close"]).failure(2);
    memory.run(&["close", "1.1", "--silent"]).failure(2);
    memory.run(&["close", "1.1", "--sender", "ann"]).failure(2);
    let unknown = memory.run(&["close", "--silent", "--sender", "anm"]);
    assert!(unknown.stderr.contains("did you mean ann?"), "{unknown:?}");
    let unknown = memory.run(&["summaries", "--sender", "anm"]);
    assert!(unknown.stderr.contains("did you mean ann?"), "{unknown:?}");
    assert_eq!(unknown.success(), "");
}
