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
        assert!(store.damaged_rows().await.unwrap().is_empty());
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
