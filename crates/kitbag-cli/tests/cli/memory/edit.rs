//! Changing what a message says.

use serde_json::json;

use super::Memory;

#[test]
fn o06_a_message_is_edited_and_keeps_its_older_versions() {
    let memory = Memory::talk();
    let new = "We fly to Porto in October";
    let told = memory.run(&["edit", "1.2#1", new, "--dry-run"]).success();
    assert_eq!(
        told,
        "- We fly to Lisbon in September\n+ We fly to Porto in October\n"
    );
    assert_eq!(memory.references("Lisbon")[0], "m4");
    assert_eq!(memory.run(&["edit", "1.2#1", new]).success(), told);
    assert_eq!(memory.references("when do we fly to Porto?")[0], "m4");
    let again = memory.run(&["edit", "1.2#1", new]);
    assert_eq!(again.stderr, "message 1.2#1 already has this text\n");
    let piped = memory.run_with_stdin(&["edit", "1.2#1", "-"], b"We stay at home\n");
    piped.success();
    let versions = memory.json(&["history", "1.2#1"]);
    let texts: Vec<_> = versions["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| (version["number"].clone(), version["text"].clone()))
        .collect();
    assert_eq!(
        texts,
        [
            (json!(1), json!("We fly to Lisbon in September")),
            (json!(2), json!(new)),
            (json!(3), json!("We stay at home")),
        ]
    );
    let printed = memory.run(&["history", "1.2#1"]).success();
    assert!(printed.contains("(1.2#1, version 1 until "), "{printed}");
    memory.run(&["check"]).success();
    memory
        .run(&["forget", "--message", "1.2#1", "--yes"])
        .success();
    memory.run(&["history", "1.2#1"]).failure(1);
    memory.run(&["edit", "1.9#1", "x"]).failure(1);
}

#[test]
fn x12_an_edited_message_states_what_it_says_now() {
    let memory = Memory::of(&[
        json!({"sender": "ann", "text": "I live in Porto.", "at": "2024-01-01T00:00:00Z"}),
    ]);
    memory
        .run(&["edit", "1.1#1", "I live in Lisbon."])
        .success();
    let facts = memory.run(&["facts", "list"]).success();
    assert!(facts.contains("Lisbon"), "{facts}");
    assert!(!facts.contains("Porto"), "{facts}");
}

#[test]
fn x02_the_difference_shows_no_secret() {
    let memory = Memory::talk();
    let token = ["ghp", "1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX"].join("_");
    let new = format!("The token is {token}");
    for args in [
        &["--dry-run"][..],
        &["--dry-run", "--json"],
        &[],
        &["--json"],
    ] {
        let told = memory.run(&[&["edit", "1.2#1", &new][..], args].concat());
        let told = told.success();
        assert!(!told.contains(&token), "{args:?}: {told}");
        assert!(told.contains("[REDACTED:github-token]"), "{args:?}: {told}");
    }
    let again = memory.run(&["edit", "1.2#1", &new]);
    assert_eq!(again.stderr, "message 1.2#1 already has this text\n");
}
