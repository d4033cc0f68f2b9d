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
        assert!(
            error.contains("hint: `--yes` forgets without asking"),
            "{error}"
        );
    }
    // Nobody need confirm that nothing goes.
    for nothing in [["--matching", "zeppelin"], ["--fact", "shoe"]] {
        let told = memory.run(&[&["forget"], &nothing[..]].concat()).success();
        assert_eq!(told, "forgot nothing\n");
    }
    let error = memory.run(&["forget", "--message", "9.9#1"]).failure(1);
    assert!(error.contains("there is no message `9.9#1`"), "{error}");
    let error = memory.run(&["forget", "--yes"]).failure(2);
    assert!(error.contains("no option says what to forget"), "{error}");
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

#[test]
fn x04_what_would_go_is_listed_before_it_goes() {
    let memory = Memory::talk();
    let puppy = ["forget", "--matching", "PUPPY"];
    let told = memory.run(&[&puppy[..], &["--dry-run"]].concat()).success();
    assert_eq!(
        told,
        "would forget 1 message in 1 conversation\n  \
         1.1#1 2024-05-08 13:56 user: The puppy that we adopted answers to Biscuit\n"
    );
    assert_eq!(memory.json(&["stats"])["messages"], 5);
    let error = memory.run(&puppy).failure(2);
    assert!(
        error.contains("hint: `--yes` forgets without asking"),
        "{error}"
    );
    let told = memory.run(&[&puppy[..], &["--yes"]].concat()).success();
    assert_eq!(told, "forgot 1 message\n");
    let list = memory.json(&["forget", "--sender", "ann", "--dry-run", "--limit", "1"]);
    assert_eq!(
        (&list["messages"], &list["conversations"]),
        (&json!(4), &json!(2))
    );
    assert_eq!(list["first"].as_array().unwrap().len(), 1);
    let told = memory
        .run(&["forget", "--channel", "mail", "--dry-run"])
        .success();
    assert_eq!(told, "would forget nothing\n");
}

#[test]
fn x04_messages_are_forgotten_by_time_channel_and_tenant() {
    let memory = Memory::talk();
    let told = memory
        .run(&["forget", "--before", "2024-05-08T13:58", "--yes"])
        .success();
    assert_eq!(told, "forgot 2 messages\n");
    let told = memory
        .run(&[
            "forget",
            "--channel",
            "slack",
            "--sender",
            "ann",
            "--until",
            "2024-05-31",
            "--yes",
        ])
        .success();
    assert_eq!(told, "forgot 1 message, 1 conversation\n");
    let gone = memory.json(&["forget", "--tenant-all", "--yes"]);
    assert_eq!(
        (&gone["messages"], &gone["conversations"]),
        (&json!(2), &json!(1))
    );
    memory.run(&["check"]).success();
    for wrong in [
        &["--tenant-all", "--sender", "ann"][..],
        &["--message", "1.1#1", "--matching", "puppy"],
        &["--before", "7d", "--until", "7d"],
        &["--matching", " "],
    ] {
        memory
            .run(&[&["forget", "--yes"], wrong].concat())
            .failure(2);
    }
}

#[test]
fn x04_messages_are_kept_as_long_as_the_configuration_says() {
    let memory = Memory::talk();
    let now = jiff::Timestamp::now().to_string();
    memory
        .import(&[
            json!({"sender": "ann", "channel": "slack", "text": "fresh apples", "at": now}),
            json!({"sender": "ann", "channel": "mail", "text": "old apples", "at": "2020-01-01T00:00:00Z"}),
            json!({"sender": "ann", "channel": "slack", "conversation": "undated", "text": "apples"}),
        ])
        .success();
    let error = memory.run(&["retain", "--yes"]).failure(1);
    assert!(error.contains("kitbag.yaml sets no retention"), "{error}");
    memory.0.write(
        "kitbag.yaml",
        "memory: {retention: 1d, channels: {mail: {retention: soon}}}",
    );
    let error = memory.run(&["retain", "--yes"]).failure(1);
    assert!(
        error.contains("memory.channels.mail.retention: `soon` is not an age"),
        "{error}"
    );
    let config = "memory:\n  retention: 30d\n  channels:\n    mail: {retention: 100y}\n";
    memory.0.write("kitbag.yaml", config);
    memory.open("memory.db", async |store| {
        for (channel, at) in [
            ("slack", "2024-01-01T00:00:00Z"),
            ("slack", "2200-01-01T00:00:00Z"),
        ] {
            let at = at.parse().unwrap();
            store
                .refuse(channel, "eve", "not listed", at)
                .await
                .unwrap();
        }
    });
    let list = memory.json(&["retain", "--dry-run"]);
    let count = |at: usize| {
        (
            &list["channels"][at]["channel"],
            &list["channels"][at]["messages"],
        )
    };
    assert_eq!(count(0), (&json!("mail"), &json!(0)));
    assert_eq!(count(1), (&json!("slack"), &json!(5)));
    assert_eq!(list["channels"][2]["refusals"], 1, "{list}");
    let error = memory.run(&["retain"]).failure(2);
    assert!(error.contains("`--yes` forgets without asking"), "{error}");
    let told = memory.run(&["retain", "--yes"]);
    assert!(told.stderr.contains("retention as in "), "{told:?}");
    assert_eq!(
        told.success(),
        "mail: forgot nothing\nslack: forgot 5 messages, 2 conversations\nslack: forgot 1 refusal\n"
    );
    assert_eq!(
        memory.json(&["refusals"])["refusals"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(memory.json(&["stats"])["messages"], 3);
    memory.run(&["check"]).success();
}

#[test]
fn x04_words_are_looked_for_in_older_texts_too() {
    let memory = Memory::of(&[
        json!({"sender": "ann", "text": "The code of the safe is in the kettle", "ref": "a"}),
        json!({"sender": "ann", "text": "Hello", "ref": "b"}),
    ]);
    memory.run(&["edit", "1.1#1", "Never mind"]).success();
    let words = ["forget", "--matching", "kettle"];
    let would = memory.run(&[&words[..], &["--dry-run"]].concat()).success();
    assert!(
        would.starts_with("would forget 1 message in 1 conversation"),
        "{would}"
    );
    let told = memory.run(&[&words[..], &["--yes"]].concat()).success();
    assert_eq!(told, "forgot 1 message\n");
    let file = fs::read(memory.0.path().join("memory.db")).unwrap();
    assert!(!file.windows(6).any(|some| some == b"kettle"));
}

#[test]
fn x04_what_would_be_forgotten_counts_facts() {
    let memory = Memory::of(&[
        json!({"sender": "ann", "text": "I live in Porto.", "at": "2024-01-01T00:00:00Z"}),
        json!({"sender": "ann", "text": "I moved to Faro.", "at": "2024-02-01T00:00:00Z"}),
    ]);
    memory.run(&["facts", "set", "diet", "vegan"]).success();
    for (what, facts) in [
        (&["--message", "1.1#1"][..], 1),
        (&["--conversation", "1.1"], 1),
        (&["--matching", "moved"], 1),
        (&["--before", "2030-01-01"], 2),
        (&["--tenant-all"], 3),
    ] {
        let would = memory.json(&[&["forget", "--dry-run"][..], what].concat());
        assert_eq!(would["facts"], facts, "{what:?}: {would}");
    }
}
