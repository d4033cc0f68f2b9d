//! Forgetting, for good.

use std::fs;

use serde_json::json;

use super::Memory;

#[test]
fn x04_a_forgotten_message_is_gone_from_the_file() {
    let memory = Memory::talk();
    let told = memory
        .run(&["forget", "--message", "1.1#1", "--yes"])
        .success();
    assert_eq!(told, "forgot 1 message\n");
    assert!(
        !memory
            .references("Biscuit the puppy")
            .contains(&"m1".to_owned())
    );
    let file = fs::read(memory.0.path().join("memory.db")).unwrap();
    let is_there = |text: &[u8]| file.windows(text.len()).any(|some| some == text);
    assert!(is_there(b"beagle") && !is_there(b"Biscuit"));
    memory.run(&["check"]).success();
    let error = memory
        .run(&["forget", "--message", "1.1#1", "--yes"])
        .failure(1);
    assert!(error.contains("there is no message `1.1#1`"), "{error}");
}

#[test]
fn x04_facts_conversations_and_senders_are_forgotten() {
    let memory = Memory::talk();
    memory.run(&["facts", "set", "diet", "no fish"]).success();
    memory.run(&["facts", "set", "diet", "no meat"]).success();
    let told = memory.run(&["forget", "--fact", "diet", "--yes"]).success();
    assert_eq!(told, "forgot 2 values of facts\n");
    let gone = memory.json(&["forget", "--conversation", "1.2", "--yes"]);
    assert_eq!(
        (&gone["messages"], &gone["conversations"]),
        (&json!(2), &json!(1))
    );
    let gone = memory.json(&["forget", "--sender", "ann", "--yes"]);
    assert_eq!(
        (&gone["messages"], &gone["conversations"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(memory.json(&["stats"])["messages"], 0);
    memory.run(&["check"]).success();
}

#[test]
fn x01_nothing_is_forgotten_unless_somebody_says_so() {
    let memory = Memory::talk();
    for what in [
        ["--message", "1.1#1"],
        ["--conversation", "1.1"],
        ["--sender", "ann"],
    ] {
        let error = memory.run(&[&["forget"], &what[..]].concat()).failure(2);
        assert!(error.contains("hint: say so with `--yes`"), "{error}");
    }
    let error = memory.run(&["forget", "--yes"]).failure(2);
    assert!(error.contains("what to forget is not named"), "{error}");
    for wrong in [
        &["--message", "1.1#1", "--sender", "ann"][..],
        &["--message", "1.1#1", "--conversation", "1.1"],
        &["--message", "first"],
    ] {
        memory
            .run(&[&["forget", "--yes"], wrong].concat())
            .failure(2);
    }
    assert_eq!(memory.json(&["stats"])["messages"], 5);
}
