//! Files that were altered behind the store's back: what is wrong is named, and the rest is still read.

use jiff::SignedDuration;
use kitbag_core::role::Role;
use kitbag_store::{
    ExportFilter, Import, Incoming, Learned, Location, NewFact, NewMessage, RecallRequest, Store,
    StoreError,
};

use crate::place::{run, second};

/// Makes a store with a conversation, a turn and a fact, and alters it.
fn altered(sql: &str, look: impl AsyncFnOnce(Store)) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    let location = Location::Sqlite(file.clone());
    run(async {
        let store = Store::open(&location).await.unwrap();
        let said = |text: &str| {
            let message = NewMessage::new(Role::User, text);
            Import::new("cli", "ann", Some("talk".into()), message)
        };
        let said = vec![said("a puppy"), said("a beagle"), said("a walk")];
        store.import(said, second(0)).await.unwrap();
        let turn = store
            .accept(&Incoming::new("cli", "ann", "hello"), second(1))
            .await
            .unwrap();
        let minute = SignedDuration::from_mins(1);
        let lease = store.begin(turn.id, minute, second(1)).await.unwrap();
        let mut learned = Learned::reply("hi", second(2));
        learned
            .facts
            .push(NewFact::new("mood", "fine").from_message(turn.message));
        store.learned(&lease, learned, second(2)).await.unwrap();
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
        drop(store);
        let raw = rusqlite::Connection::open(&file).unwrap();
        raw.execute_batch(sql).unwrap();
        drop(raw);
        look(Store::open_existing(&location).await.unwrap()).await;
    });
}

fn problems(sql: &str) -> Vec<String> {
    let mut problems = Vec::new();
    altered(sql, async |store| {
        problems = store.check().await.unwrap();
    });
    problems
}

#[test]
fn a_check_names_rows_that_belong_to_nothing() {
    for (sql, expected) in [
        (
            "DELETE FROM scope",
            &[
                "3 rows of block belong to scope 1, which is not there",
                "2 rows of conversation belong to scope 1, which is not there",
                "a row of lease belongs to scope 1, which is not there",
                "5 rows of message belong to scope 1, which is not there",
                "a row of turn belongs to scope 1, which is not there",
            ][..],
        ),
        (
            "DELETE FROM conversation WHERE id = 2",
            &[
                "message 1.2#1 has no conversation",
                "message 1.2#2 has no conversation",
                "a row of lease belongs to conversation 1.2, which is not there",
                "a row of turn belongs to conversation 1.2, which is not there",
            ],
        ),
        (
            "UPDATE fact SET source_seq = 9",
            &["fact `mood` of `ann` comes from message 1.2#9, which is not there"],
        ),
        (
            "UPDATE conversation SET kept = 99 WHERE id = 1",
            &["conversation 1.1 counts 99 messages that people may see and has 3"],
        ),
        (
            "INSERT INTO posting SELECT tenant, 7, 1, 'puppy', 0, x'00' FROM tenant",
            &["a row of posting belongs to scope 7, which is not there"],
        ),
    ] {
        assert_eq!(problems(sql), expected, "{sql}");
    }
    let insert = |block: u32| {
        let heron = "x'056865726f6e030b0101'";
        format!("INSERT INTO posting SELECT tenant, 1, {block}, 'heron', 0, {heron} FROM tenant")
    };
    assert_eq!(
        problems(&insert(1)),
        ["block 1 of scope 1 differs from its messages at `heron`"]
    );
    assert_eq!(
        problems(&insert(9)),
        ["the index of scope 1 has words of block 9, which is not there"]
    );
    assert_eq!(
        problems("DELETE FROM block WHERE id = 2"),
        ["the words of message 1.2#1 are not in the index"]
    );
    let gone = problems("DELETE FROM message WHERE seq = 1 AND conversation = 2").join("\n");
    assert!(
        gone.contains("the totals of scope 1 are not those of its messages"),
        "{gone}"
    );
    assert!(gone.contains("comes from message 1.2#1"), "{gone}");
}

#[test]
fn a_check_names_counts_that_are_too_low() {
    for (sql, expected) in [
        (
            "UPDATE conversation SET messages = 2 WHERE id = 1",
            "message 1.1#3 is not counted in its conversation",
        ),
        (
            "UPDATE conversation SET turns = 0",
            "turn 1.2.1 is not counted in its conversation",
        ),
        (
            "UPDATE scope SET conversations = 1",
            "conversation 1.2 has a number that was never given",
        ),
        (
            "UPDATE tenant SET scopes = 0",
            "scope 1 has a number that was never given",
        ),
    ] {
        assert_eq!(problems(sql), [expected], "{sql}");
    }
}

#[test]
fn a_check_names_numbers_out_of_range_and_goes_on() {
    let sql = "UPDATE fact SET source_seq = 5000000000; \
               UPDATE turn SET reply = -7; \
               UPDATE message SET previous_traits = -1; \
               INSERT INTO prompt_text (tenant, scope, conversation, turn, inference, hash, origin) \
               SELECT tenant, 1, 2, -3, 0, x'00', 'here' FROM tenant; \
               INSERT INTO text (tenant, hash, body) SELECT tenant, x'01', 'a text' FROM tenant";
    altered(sql, async |store| {
        assert_eq!(
            store.check().await.unwrap(),
            [
                "fact `mood` of `ann` comes from message 1.2#5000000000, which is not there",
                "turn 1.2.-3 lacks a text of its prompt",
                "a row of prompt is damaged: a hash has not 32 bytes",
            ]
        );
        // The rest of such rows is still read.
        let facts = store.facts("ann", 10).await.unwrap();
        assert_eq!((facts.len(), facts[0].source), (1, None));
        let turn = store.turn("1.2.1".parse().unwrap()).await.unwrap();
        assert_eq!(turn.reply, None);
        let recalled = store.recall(&RecallRequest::new("ann", "puppy")).await;
        assert!(!recalled.unwrap().is_empty());
    });
}

/// Each of these alone would keep its row from being read; the problem of the last message shows that the
/// check has come to its end.
#[test]
fn a_check_goes_on_after_numbers_of_scopes_conversations_and_arrivals() {
    let last = "UPDATE message SET body = x'fffe' WHERE seq = 2 AND conversation = 2";
    let told_last = "a row of message is damaged: the text of message 1.2#2 is not a text in UTF-8";
    for (sql, expected) in [
        (
            "INSERT INTO scope SELECT tenant, -4, 'bob', 'cli', 0, 0, 0, 0, 0, 0 FROM tenant",
            &["scope -4 has a number out of range"][..],
        ),
        (
            "UPDATE scope SET arrivals = 5000000000",
            &["`arrivals` of scope 1 is not a number from 0 to 4294967295"],
        ),
        (
            "UPDATE scope SET conversations = -1, words = 'many'",
            &[
                "`conversations` of scope 1 is not a number from 0 to 4294967295",
                "`words` of scope 1 is not a number",
                "conversation 1.1 has a number that was never given",
                "conversation 1.2 has a number that was never given",
            ],
        ),
        (
            "INSERT INTO conversation (tenant, scope, id, began, active, messages, turns) \
             SELECT tenant, 1, -7, 0, 0, 0, 0 FROM tenant",
            &["conversation 1.-7 has a number out of range"],
        ),
        (
            "UPDATE conversation SET messages = -1, began = 'noon', name = x'ff' WHERE id = 1",
            &[
                "`name` of conversation 1.1 is not a text in UTF-8",
                "`began` of conversation 1.1 is not a time",
                "`messages` of conversation 1.1 is not a number from 0 to 4294967295",
            ],
        ),
        (
            "UPDATE message SET arrival = -3 WHERE arrival = 1",
            &["message 1.1#1 has arrival -3, which is out of range"],
        ),
        (
            "UPDATE message SET arrival = 5000000000 WHERE arrival = 1",
            &["message 1.1#1 has arrival 5000000000, which is out of range"],
        ),
        (
            "UPDATE block SET last = -1",
            &[
                "the index of scope 1 cannot be read: column 3 of a result is not a number from 0 to 4294967295",
            ],
        ),
        (
            "UPDATE turn SET id = -1",
            &["turn 1.2.-1 is not counted in its conversation"],
        ),
        (
            "INSERT INTO prompt (tenant, scope, conversation, turn, inference, sent, hash, bytes, tokens) \
             SELECT tenant, 1, 2, -5, 0, 0, x'00', 0, 0 FROM tenant",
            &["the prompt of turn 1.2.-5 has a number out of range"],
        ),
        (
            "INSERT INTO state VALUES ('main', 1, -2, 'layers', '{}')",
            &["a row of state belongs to conversation 1.-2, which is not there"],
        ),
    ] {
        let told = problems(&format!("{sql}; {last}"));
        for expected in expected.iter().chain([&told_last]) {
            let count = told.iter().filter(|problem| problem == expected).count();
            assert_eq!(count, 1, "{sql}: {expected}\n{told:#?}");
        }
    }
}

#[test]
fn a_damaged_message_is_named_and_the_others_are_exported() {
    for (sql, expected) in [
        (
            "UPDATE message SET body = x'fffe' WHERE seq = 2 AND conversation = 1",
            "the text of message 1.1#2 is not a text in UTF-8",
        ),
        (
            "UPDATE message SET role = 'king' WHERE seq = 2 AND conversation = 1",
            "message 1.1#2 has an unknown role",
        ),
        (
            "UPDATE message SET at = 'noon' WHERE seq = 2 AND conversation = 1",
            "the time of message 1.1#2 is not a number",
        ),
        (
            "UPDATE message SET seq = -2 WHERE seq = 2 AND conversation = 1",
            "a message of scope 1 has a number that is not a number from 0 to 4294967295",
        ),
    ] {
        altered(sql, async |store| {
            let all = ExportFilter::default();
            let (page, _) = store.export(&all, None, 100).await.unwrap();
            let (good, bad): (Vec<_>, Vec<_>) = page.into_iter().partition(Result::is_ok);
            assert_eq!((good.len(), bad.len()), (4, 1), "{sql}");
            let error = bad.into_iter().next().unwrap().unwrap_err();
            assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
            assert!(error.to_string().ends_with(expected), "{error}");
            let told = store.check().await.unwrap().join("\n");
            assert!(told.contains(expected), "{told}");
        });
    }
}
