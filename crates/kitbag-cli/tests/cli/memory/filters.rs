//! Options that choose messages, in every command that has them.

use kitbag::core::message::{Message, MessageMetadata};
use kitbag::store::Import;
use serde_json::{Value, json};

use super::{Memory, lines};

fn references(found: &Value) -> Vec<String> {
    let ranked = found["ranked"].as_array().unwrap();
    let name = |hit: &Value| hit["ref"].as_str().unwrap_or_default().to_owned();
    let mut names: Vec<String> = ranked.iter().map(name).collect();
    names.sort();
    names
}

#[test]
fn x04_recall_takes_times_roles_and_conversations() {
    let memory = Memory::talk();
    let recall = |args: &[&str]| {
        let query = ["recall", "puppy breed beagle Lisbon hotels"];
        references(&memory.json(&[&query, args].concat()))
    };
    assert_eq!(recall(&[]), ["m1", "m2", "m3", "m4", "m5"]);
    assert_eq!(recall(&["--since", "2024-06-01"]), ["m4", "m5"]);
    assert_eq!(
        recall(&["--until", "2024-05-08"]),
        ["m1", "m2", "m3"],
        "the whole day"
    );
    assert_eq!(recall(&["--until", "2024-05-08T13:57"]), ["m1"]);
    assert_eq!(recall(&["--since", "7d"]), Vec::<String>::new());
    assert_eq!(recall(&["--role", "assistant"]), ["m2", "m5"]);
    assert_eq!(
        recall(&[
            "--role",
            "assistant",
            "--role",
            "user",
            "--conversation",
            "dog"
        ]),
        ["m1", "m2", "m3"]
    );
    assert_eq!(
        recall(&["--conversation", "1.2", "--role", "user", "--limit", "1"]),
        ["m4"]
    );
    let told = memory.run(&["recall", "puppy", "--conversation", "dgo"]);
    assert_eq!(
        told.stderr,
        "there is no conversation `dgo`; did you mean dog?\n"
    );
    for wrong in [
        ["--since", "soon"],
        ["--role", "robot"],
        ["--where", "run_id"],
    ] {
        let error = memory
            .run(&[&["recall", "puppy"], &wrong[..]].concat())
            .failure(2);
        assert!(error.contains("expected"), "{error}");
    }
}

#[test]
fn x04_a_line_of_a_batch_has_its_own_filter() {
    let memory = Memory::talk();
    let query = "puppy breed beagle Lisbon hotels";
    let queries = [
        json!({"query": query, "since": "2024-06-01", "role": "user"}),
        json!({"query": query, "until": "2024-05-08", "role": ["assistant", "tool"]}),
        json!({"query": query, "conversation": ["dog", "1.2"], "where": {}}),
        json!({"query": query}),
    ];
    let args = ["recall", "--batch", "-", "--role", "assistant"];
    let printed = memory
        .run_with_stdin(&args, lines(&queries).as_bytes())
        .success();
    let answers: Vec<Value> = printed
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let found: Vec<Vec<String>> = answers.iter().map(references).collect();
    assert_eq!(
        found,
        [vec!["m4"], vec!["m2"], vec!["m2", "m5"], vec!["m2", "m5"]]
    );
    let wrong = lines(&[json!({"query": query, "since": "soon"})]);
    let error = memory.run_with_stdin(&args, wrong.as_bytes()).failure(1);
    assert!(
        error.contains("line 1: expected a date or a time"),
        "{error}"
    );
}

#[test]
fn x04_messages_are_chosen_by_their_metadata() {
    let memory = Memory::talk();
    memory.open("memory.db", async |store| {
        let mut message = Message::user("the puppy sleeps");
        message.metadata = Some(MessageMetadata {
            run_id: Some("r7".into()),
            ..MessageMetadata::default()
        });
        let import = Import::new("slack", "ann", Some("dog".into()), message.into());
        store
            .import(vec![import], jiff::Timestamp::now())
            .await
            .unwrap();
    });
    let found = memory.json(&["recall", "puppy", "--where", "run_id=r7"]);
    let texts: Vec<&Value> = found["ranked"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| &hit["text"])
        .collect();
    assert_eq!(texts, ["the puppy sleeps"]);
    let lines = memory.run(&["export", "--where", "run_id=r7"]).success();
    assert_eq!(lines.lines().count(), 1);
}

#[test]
fn o06_history_and_export_keep_to_a_time() {
    let memory = Memory::talk();
    let list = memory.json(&["history", "--since", "2024-05-20"]);
    let names: Vec<&Value> = list["conversations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(names, ["trip"]);
    let said = memory.json(&["history", "1.1", "--since", "2024-05-08T13:57"]);
    let said: Vec<&Value> = said["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["ref"])
        .collect();
    assert_eq!(said, ["m2", "m3"]);
    memory.run(&["history", "1.9", "--since", "7d"]).failure(1);
    let lines = memory
        .run(&["export", "--until", "2024-05-31", "--role", "user"])
        .success();
    assert_eq!(lines.lines().count(), 2, "{lines}");
}
