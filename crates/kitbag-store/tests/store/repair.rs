//! Repairing what was changed behind the store's back.

use kitbag_core::role::Role;
use kitbag_store::{Import, Location, NewFact, NewMessage, RecallRequest, Store};

use crate::place::{run, second};

/// A store of a file, whose rows are changed behind its back and then repaired. Gives the damaged rows.
fn repaired(changes: &str, then: impl AsyncFnOnce(Store)) -> Vec<serde_json::Value> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let location = Location::Sqlite(path.clone());
    run(async {
        let store = Store::open(&location).await.unwrap();
        let said = (0..1_200).map(|n| {
            let message = NewMessage::new(Role::User, format!("word{n} was said"));
            Import::new(
                "cli",
                "ann",
                Some(format!("c{}", n / 100)),
                message.at(second(n)),
            )
        });
        store.import(said.collect(), second(0)).await.unwrap();
        let hit = store
            .recall(&RecallRequest::new("ann", "word7").limit(1))
            .await
            .unwrap()
            .remove(0);
        let fact = NewFact::new("city", "Porto").from_message(hit.message.id);
        store.set_facts("ann", vec![fact], second(0)).await.unwrap();
        assert_eq!(store.damaged_rows().await.unwrap(), []);
    });
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch(changes).unwrap();
    drop(file);
    run(async {
        let store = Store::open(&location).await.unwrap();
        let damaged = store.damaged_rows().await.unwrap();
        let rows = damaged.iter().map(|row| row.to_json()).collect();
        let repaired = store.repair(damaged).await.unwrap();
        assert!(!repaired.found.is_empty(), "nothing was wrong");
        assert_eq!(repaired.left, Vec::<String>::new());
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
        then(store).await;
        rows
    })
}

async fn found(store: &Store, query: &str) -> Vec<String> {
    let hits = store
        .recall(&RecallRequest::new("ann", query).limit(3))
        .await
        .unwrap();
    hits.iter()
        .map(|hit| hit.message.text().into_owned())
        .collect()
}

#[test]
fn x07_indexes_and_counts_are_made_again() {
    for changes in [
        "DELETE FROM posting",
        "UPDATE posting SET words = x'ffff'",
        "DELETE FROM block; UPDATE scope SET blocks = 0",
        "UPDATE scope SET passages = 3, words = 4",
        "UPDATE scope SET conversations = 0",
        "UPDATE scope SET arrivals = 5",
        "UPDATE conversation SET messages = 1",
        "UPDATE tenant SET scopes = 0",
        "DELETE FROM conversation WHERE id = 3",
    ] {
        let rows = repaired(changes, async |store| {
            assert_eq!(
                found(&store, "word777").await[0],
                "word777 was said",
                "{changes}"
            );
            assert_eq!(store.stats().await.unwrap().messages, 1_200, "{changes}");
            let more = NewMessage::new(Role::User, "zebras are new");
            let more = Import::new("cli", "ann", Some("c3".into()), more);
            store.import(vec![more], second(0)).await.unwrap();
            assert_eq!(
                found(&store, "zebras").await[0],
                "zebras are new",
                "{changes}"
            );
            assert_eq!(
                store.check().await.unwrap(),
                Vec::<String>::new(),
                "{changes}"
            );
        });
        assert_eq!(rows, Vec::<serde_json::Value>::new(), "{changes}");
    }
}

#[test]
fn x07_rows_that_cannot_be_read_are_set_aside() {
    let changes = "UPDATE message SET role = 'robot' WHERE arrival = 8; \
                   UPDATE message SET body = x'ff00' WHERE arrival = 9; \
                   UPDATE message SET json = '{' WHERE arrival = 10; \
                   INSERT INTO state VALUES ('main', 1, 2, 'layers', 'no JSON'); \
                   INSERT INTO state VALUES ('main', 7, 2, 'layers', '{}'); \
                   INSERT INTO summary VALUES ('main', 1, 1, 99, 1, 2, 3, 0, 'of nothing'); \
                   INSERT INTO fact (tenant, sender, key, version, value, since) \
                   SELECT tenant, sender, key, 2, 'Faro', since FROM fact";
    let rows = repaired(changes, async |store| {
        assert_eq!(store.stats().await.unwrap().messages, 1_197);
        assert_eq!(found(&store, "word77").await[0], "word77 was said");
    });
    let tables: Vec<&str> = rows
        .iter()
        .map(|row| row["table"].as_str().unwrap())
        .collect();
    assert_eq!(
        tables.iter().filter(|table| **table == "message").count(),
        3,
        "{rows:?}"
    );
    assert_eq!(
        tables.iter().filter(|table| **table == "state").count(),
        2,
        "{rows:?}"
    );
    assert_eq!(
        tables.iter().filter(|table| **table == "summary").count(),
        1,
        "{rows:?}"
    );
    let of = |what: &str| {
        rows.iter()
            .find(|row| row.to_string().contains(what))
            .unwrap()
    };
    assert_eq!(of("robot")["row"]["body"], "word7 was said");
    assert_eq!(of("hex")["row"]["body"]["hex"], "ff00");
    assert!(of("robot")["reason"].as_str().unwrap().contains("role"));
}

/// The value with the highest version need not be the one that was said last: an older message may have
/// arrived later.
#[test]
fn x07_of_two_values_at_once_the_one_that_was_said_last_holds() {
    let microseconds = |at: i64| second(at).as_microsecond();
    let changes = format!(
        "UPDATE fact SET since = {}; \
         INSERT INTO fact (tenant, sender, key, version, value, since) \
         SELECT tenant, sender, key, 2, 'Faro', {} FROM fact; \
         INSERT INTO fact (tenant, sender, key, version, value, since) \
         SELECT tenant, sender, key, 3, 'Braga', {} FROM fact WHERE version = 1",
        microseconds(50),
        microseconds(90),
        microseconds(70),
    );
    let rows = repaired(&changes, async |store| {
        let facts = store.facts("ann", 9).await.unwrap();
        assert_eq!((facts.len(), &*facts[0].value), (1, "Faro"));
        let history = store.fact_history("ann", Some("city"), 9).await.unwrap();
        let ends: Vec<_> = history.iter().map(|one| (&*one.value, one.until)).collect();
        assert_eq!(
            ends,
            [
                ("Porto", Some(second(70))),
                ("Braga", Some(second(90))),
                ("Faro", None)
            ]
        );
    });
    assert_eq!(rows, Vec::<serde_json::Value>::new());
}

#[test]
fn x07_a_conversation_keeps_what_can_be_read_of_it() {
    let changes = "UPDATE conversation SET began = 'noon', title = 'On bees' WHERE id = 2; \
                   UPDATE conversation SET name = x'6333ff' WHERE id = 4; \
                   UPDATE conversation SET messages = -1, closed = 'never' WHERE id = 5; \
                   UPDATE conversation SET title = x'ff' WHERE id = 6; \
                   INSERT INTO state VALUES ('main', 1, 2, 'throttle', '{\"step\":7}')";
    let rows = repaired(changes, async |store| {
        assert_eq!(store.stats().await.unwrap().messages, 1_200);
        let mut all = store.conversations("cli", "ann", 99).await.unwrap();
        all.sort_by_key(|one| one.id);
        assert_eq!(all.len(), 12);
        let names: Vec<&str> = all.iter().map(|one| one.name.as_deref().unwrap()).collect();
        assert_eq!(names[..6], ["c0", "c1", "c2", "c3\u{fffd}", "c4", "c5"]);
        assert_eq!(all[1].title.as_deref(), Some("On bees"));
        assert_eq!((all[1].began, all[1].active), (second(100), second(199)));
        assert_eq!((all[4].messages, all[4].closed), (100, None));
        assert_eq!(all[5].title.as_deref(), Some("\u{fffd}"));
        assert_eq!(store.state(all[1].id).await.unwrap().throttle.step, 7);
    });
    let tables: Vec<&str> = rows
        .iter()
        .map(|row| row["table"].as_str().unwrap())
        .collect();
    assert_eq!(tables, ["conversation"; 4]);
    assert_eq!(rows[0]["row"]["began"], "noon");
    assert_eq!(rows[1]["row"]["name"]["hex"], "6333ff");
}

#[test]
fn x07_numbers_out_of_range_are_repaired() {
    let changes = "INSERT INTO scope SELECT tenant, -4, 'bob', 'cli', 0, 0, 0, 0, 0, 0 FROM tenant; \
                   UPDATE scope SET arrivals = 5000000000, conversations = -1 WHERE id = 1; \
                   UPDATE message SET arrival = -3 WHERE arrival = 1; \
                   UPDATE conversation SET turns = -1 WHERE id = 3; \
                   UPDATE block SET last = -1; \
                   INSERT INTO prompt (tenant, scope, conversation, turn, inference, sent, hash, \
                   bytes, tokens) SELECT tenant, 1, 2, -5, 0, 0, x'00', 0, 0 FROM tenant; \
                   INSERT INTO prompt_text (tenant, scope, conversation, turn, inference, hash, \
                   origin) SELECT tenant, 1, 2, -3, 0, x'00', 'here' FROM tenant";
    let rows = repaired(changes, async |store| {
        assert_eq!(store.stats().await.unwrap().messages, 1_199);
        assert_eq!(found(&store, "word777").await[0], "word777 was said");
    });
    let tables: Vec<&str> = rows
        .iter()
        .map(|row| row["table"].as_str().unwrap())
        .collect();
    for table in ["scope", "message", "conversation", "prompt", "prompt_text"] {
        assert_eq!(
            tables.iter().filter(|one| **one == table).count(),
            1,
            "{table}"
        );
    }
}
