//! `kitbag remind`: reminders are added, listed, removed, and outlive a conversation.

use jiff::{SignedDuration, Timestamp};
use kitbag::core::inject::{ContextMessage, EntryAction};
use kitbag::store::Incoming;
use serde_json::{Value, json};

use crate::memory::Memory;
use crate::run::Output;

fn remind(memory: &Memory, args: &[&str]) -> Output {
    let args = [&["--store", "sqlite:memory.db", "remind"], args].concat();
    memory.0.run(&args)
}

fn listed(memory: &Memory, args: &[&str]) -> Value {
    let args = [&["list", "--json"], args].concat();
    serde_json::from_str(&remind(memory, &args).success()).unwrap()
}

/// Somebody who has just said something.
fn ann() -> Memory {
    let memory = Memory::new();
    say(&memory, "Good morning!", Timestamp::now());
    memory
}

fn say(memory: &Memory, text: &str, at: Timestamp) -> String {
    memory.open("memory.db", async |store| {
        let turn = store.accept(&Incoming::new("cli", "ann", text), at).await;
        turn.unwrap().id.conversation().to_string()
    })
}

#[test]
fn t03_a_reminder_is_added_replaced_listed_and_removed() {
    let memory = ann();
    let added = remind(&memory, &["add", "Speak plainly, Ann!", "--cooldown", "3"]);
    assert!(
        added
            .stderr
            .contains("added `speak-plainly-ann-7c56c058` to conversation 1.1")
    );
    assert_eq!(added.success(), "");
    let args = [
        "add",
        "Greet Bob",
        "--key",
        "bob",
        "--target",
        "session",
        "--once",
    ];
    remind(&memory, &args).success();
    let again = remind(&memory, &["add", "Speak plainly, Ann!"]);
    assert!(
        again
            .stderr
            .contains("replaced `speak-plainly-ann-7c56c058` in conversation 1.1")
    );
    assert_eq!(
        listed(&memory, &[]),
        json!({"conversation": "1.1", "internal": 0, "reminders": [
            {"key": "speak-plainly-ann-7c56c058", "role": "system", "content": "Speak plainly, Ann!",
             "visibility": "all", "cooldown_turns": 0, "target": "suffix_system", "consume_after_emit": false},
            {"key": "bob", "role": "system", "content": "Greet Bob", "visibility": "all",
             "cooldown_turns": 0, "target": "session", "consume_after_emit": true},
        ]})
    );
    insta::assert_snapshot!(remind(&memory, &["list"]).success(), @r"
    key                         target         cooldown        text
    speak-plainly-ann-7c56c058  suffix_system  0               Speak plainly, Ann!
    bob                         session        0         once  Greet Bob
    ");
    remind(&memory, &["remove", "bob"]).success();
    let refused = remind(&memory, &["remove", "bob"]).failure(1);
    assert!(
        refused.contains("conversation 1.1 has no reminder `bob`"),
        "{refused}"
    );
    assert_eq!(
        listed(&memory, &[])["reminders"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn t03_texts_that_begin_alike_are_two_reminders() {
    let memory = ann();
    for text in [
        "Never mention the price of rye.",
        "Never mention the price of oats.",
    ] {
        let added = remind(&memory, &["add", text]);
        assert!(
            added.stderr.contains("added `never-mention-the-price-"),
            "{added:?}"
        );
        added.success();
    }
    let reminders = listed(&memory, &[])["reminders"].clone();
    assert_eq!(reminders.as_array().unwrap().len(), 2, "{reminders}");
}

#[test]
fn t03_reminders_go_over_to_the_next_conversation() {
    let memory = Memory::new();
    let long_ago = Timestamp::now() - SignedDuration::from_hours(9);
    assert_eq!(say(&memory, "Good morning!", long_ago), "1.1");
    remind(&memory, &["add", "Speak plainly"]).success();
    assert_eq!(listed(&memory, &[])["conversation"], "1.1");
    assert_eq!(say(&memory, "Good evening!", Timestamp::now()), "1.2");
    let here = listed(&memory, &[]);
    assert_eq!(here["conversation"], "1.2");
    assert_eq!(here["reminders"][0]["content"], "Speak plainly");
    let before = listed(&memory, &["--conversation", "1.1"]);
    assert_eq!(before["reminders"], json!([]));
    // Closing ends a conversation too. What was said long ago does not take reminders with it.
    memory.run(&["close", "1.2"]).success();
    assert_eq!(say(&memory, "I forgot to say this.", long_ago), "1.1");
    assert_eq!(say(&memory, "Hello again!", Timestamp::now()), "1.3");
    assert_eq!(
        listed(&memory, &[])["reminders"][0]["key"],
        "speak-plainly-02a40687"
    );
}

#[test]
fn t03_a_context_after_a_silence_has_the_reminders_that_the_next_conversation_takes_over() {
    let memory = Memory::new();
    let ended = Timestamp::now() - SignedDuration::from_hours(3);
    assert_eq!(say(&memory, "Good morning!", ended), "1.1");
    remind(&memory, &["add", "Speak plainly"]).success();
    let context = || {
        let args = ["--store", "sqlite:memory.db", "context", "And now?"];
        memory.0.run(&args).success()
    };
    let prompt = context();
    assert!(prompt.contains("Speak plainly"), "{prompt}");
    // It belongs to the conversation that has ended, whose words are no history of the next.
    assert!(!prompt.contains("[User]\nGood morning!"), "{prompt}");
    assert_eq!(listed(&memory, &[])["conversation"], "1.1");
    assert_eq!(say(&memory, "Good evening!", Timestamp::now()), "1.2");
    assert!(context().contains("Speak plainly"));
    memory.run(&["close", "1.2"]).success();
    assert!(context().contains("Speak plainly"));
}

#[test]
fn t09_internal_entries_are_counted_and_not_shown() {
    let memory = ann();
    memory.open("memory.db", async |store| {
        let message = ContextMessage::suffix_system("hidden", "the user fears thunder");
        let actions = vec![EntryAction::Upsert { message }];
        store
            .change_entries("1.1".parse().unwrap(), actions)
            .await
            .unwrap();
    });
    let list = remind(&memory, &["list"]);
    assert!(
        list.stderr.contains("1 internal one is not shown"),
        "{list:?}"
    );
    assert!(!format!("{list:?}").contains("thunder"));
    let report = listed(&memory, &[]);
    assert_eq!(report["internal"], 1);
    assert!(!report.to_string().contains("thunder"), "{report}");
}

#[test]
fn mistakes_are_named() {
    let memory = Memory::new();
    let nobody = remind(&memory, &["list"]).failure(1);
    assert!(nobody.contains("there is no store"), "{nobody}");
    let nobody = remind(&memory, &["add", "x"]).failure(1);
    assert!(nobody.contains("there is no store"), "{nobody}");
    assert!(!memory.0.path().join("memory.db").exists());
    let empty = remind(&memory, &["add", " ", "--sender", "ann"]).failure(2);
    assert!(empty.contains("the reminder is empty"), "{empty}");
    remind(&memory, &["add", "x", "--sender", "ann"]).success();
    let mistyped = remind(&memory, &["list", "--sender", "anm"]);
    assert!(
        mistyped.stderr.contains("did you mean ann?"),
        "{mistyped:?}"
    );
    let mistyped = remind(&memory, &["add", "y", "--sender", "anm"]).failure(1);
    assert!(mistyped.contains("did you mean ann?"), "{mistyped}");
    assert!(mistyped.contains("no reminder was added"), "{mistyped}");
    let mistyped = remind(&memory, &["remove", "x", "--sender", "anm"]).failure(1);
    assert!(mistyped.contains("anm has no conversation"), "{mistyped}");
    let missing = remind(&memory, &["add", "x", "--conversation", "9.9"]).failure(1);
    assert!(
        missing.contains("there is no conversation `9.9`"),
        "{missing}"
    );
    assert!(missing.contains("kitbag memory history"), "{missing}");
    let both = ["list", "--conversation", "1.1", "--sender", "ann"];
    remind(&memory, &both).failure(2);
}

#[test]
fn t03_a_conversation_is_named_by_its_id_or_by_its_name() {
    let memory = ann();
    let talk = ["add", "Speak plainly.", "--conversation", "talk", "--new"];
    let added = remind(&memory, &talk);
    assert!(added.stderr.contains("to conversation 1.2"), "{added:?}");
    added.success();
    let by_name = listed(&memory, &["--conversation", "talk"]);
    assert_eq!(by_name, listed(&memory, &["--conversation", "1.2"]));
    assert_eq!(by_name["reminders"][0]["content"], "Speak plainly.");
    let mistyped = ["add", "Speak plainly.", "--conversation", "tlak"];
    let mistyped = remind(&memory, &mistyped).failure(1);
    assert!(
        mistyped.contains("ann has no conversation `tlak` on channel cli"),
        "{mistyped}"
    );
    assert!(
        mistyped.contains("hint: did you mean talk? (`--new` begins one)"),
        "{mistyped}"
    );
    let other = remind(&memory, &["list", "--conversation", "tale"]);
    assert!(
        other
            .stderr
            .contains("ann has no conversation `tale` on channel cli"),
        "{other:?}"
    );

    let context = |args: &[&str]| {
        let args = [
            &["--store", "sqlite:memory.db", "context", "and now?"],
            args,
        ];
        memory.0.run(&args.concat())
    };
    let prompt = context(&["--conversation", "talk"]).success();
    assert!(prompt.contains("Speak plainly."), "{prompt}");
    assert_eq!(context(&["--conversation", "1.2"]).success(), prompt);
    let open = context(&["--conversation", "1.1"]).success();
    assert!(
        open.contains("Good morning!") && !open.contains("Speak plainly."),
        "{open}"
    );
    let missing = context(&["--conversation", "9.9"]).failure(1);
    assert!(
        missing.contains("there is no conversation `9.9`"),
        "{missing}"
    );
    context(&["--conversation", "1.2", "--sender", "ann"]).failure(2);
}
