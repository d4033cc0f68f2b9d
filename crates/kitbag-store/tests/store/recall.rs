//! Recall: the same answers from both databases, in blocks or not.

use kitbag_core::role::Role;
use kitbag_store::{
    Import, Incoming, Location, MemoryRequest, NewFact, NewMessage, RecallRequest, Store,
};

use crate::on_both;
use crate::place::{run, second};

on_both! {
    x04_a_message_is_found_by_its_words_at_once
    x04_blocks_change_no_ranking
    x04_the_words_of_a_named_speaker_come_first
}

async fn x04_a_message_is_found_by_its_words_at_once(store: Store) {
    let said = [
        "I moved to Lisbon in May",
        "The weather is fine",
        "Do you like fish?",
    ];
    let import = said
        .iter()
        .map(|text| Import::new("cli", "ann", None, NewMessage::new(Role::User, *text)));
    store.import(import.collect(), second(0)).await.unwrap();
    let hits = store
        .recall(&RecallRequest::new("ann", "when did I move to Lisbon?"))
        .await
        .unwrap();
    assert_eq!(hits[0].message.text(), said[0]);
    let others = store
        .recall(&RecallRequest::new("bob", "when did I move to Lisbon?"))
        .await
        .unwrap();
    assert!(others.is_empty());
}

async fn x04_the_words_of_a_named_speaker_come_first(store: Store) {
    let said = [
        ("Tom Berg", "My sister sails on the lake every summer"),
        ("Maria Lopez", "My sister plays chess by the lake"),
    ];
    let import = said.iter().map(|(speaker, text)| {
        let message = NewMessage::new(Role::User, *text).with_speaker(*speaker);
        Import::new("cli", "club", None, message)
    });
    store.import(import.collect(), second(0)).await.unwrap();
    for (query, first) in [
        ("Maria's sister at the lake", said[1].1),
        ("Tom's sister at the lake", said[0].1),
    ] {
        let request = RecallRequest::new("club", query);
        let hits = store.recall(&request).await.unwrap();
        assert_eq!(hits[0].message.text(), first, "{query}");
    }
}

async fn x04_blocks_change_no_ranking(store: Store) {
    let text = |n: u32| format!("note {n} about topic{} and thing{}", n % 17, n % 5);
    let import = |sender: &str, n: u32| {
        let role = if n.is_multiple_of(3) {
            Role::Assistant
        } else {
            Role::User
        };
        let message = NewMessage::new(role, text(n)).with_reference(format!("r{n}"));
        Import::new("cli", sender, Some(format!("day {}", n / 30)), message)
    };
    // The same messages at once, which makes one block, and in batches, whose blocks are merged.
    store
        .import((0..1500).map(|n| import("all", n)).collect(), second(0))
        .await
        .unwrap();
    for start in (0..1500).step_by(100) {
        store
            .import(
                (start..start + 100).map(|n| import("some", n)).collect(),
                second(0),
            )
            .await
            .unwrap();
    }
    for query in ["topic3", "thing4 topic16", "note 77"] {
        let ask = async |sender: &str| {
            let hits = store
                .recall(&RecallRequest::new(sender, query).limit(50))
                .await
                .unwrap();
            hits.into_iter()
                .map(|hit| (hit.message.text().into_owned(), hit.score.total()))
                .collect::<Vec<_>>()
        };
        let all = ask("all").await;
        assert!(all.len() >= 20);
        assert_eq!(all, ask("some").await);
    }
}

/// A file with messages, whose rows can be changed behind the store's back.
fn changed_file(change: &str, then: impl AsyncFnOnce(Store)) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let location = Location::Sqlite(path.clone());
    run(async {
        let store = Store::open(&location).await.unwrap();
        let said = (0..600).map(|n| {
            let message = NewMessage::new(Role::User, format!("word{n} was said"));
            Import::new("cli", "ann", None, message)
        });
        store.import(said.collect(), second(0)).await.unwrap();
    });
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute_batch(change).unwrap();
    drop(file);
    run(async { then(Store::open(&location).await.unwrap()).await });
}

#[test]
fn x04_words_of_an_earlier_analysis_are_indexed_anew() {
    let older = "UPDATE scope SET analysis = 0, words = 1; DELETE FROM posting; DELETE FROM block; UPDATE message SET words = 0";
    changed_file(older, async |store| {
        let hits = store
            .recall(&RecallRequest::new("ann", "word77"))
            .await
            .unwrap();
        assert_eq!(hits[0].message.text(), "word77 was said");
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    });
    changed_file(older, async |store| {
        let more = Import::new("cli", "ann", None, NewMessage::new(Role::User, "word9000"));
        store.import(vec![more], second(1)).await.unwrap();
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    });
    // As many as would be merged with blocks that cannot be read.
    let unreadable = "UPDATE scope SET analysis = 1; UPDATE posting SET words = x'ffff'";
    changed_file(unreadable, async |store| {
        let more = (0..600).map(|n| {
            let message = NewMessage::new(Role::User, format!("later{n}"));
            Import::new("cli", "ann", None, message)
        });
        store.import(more.collect(), second(1)).await.unwrap();
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    });
}

#[test]
fn o06_a_source_that_fails_is_told_and_the_rest_goes_on() {
    changed_file("UPDATE posting SET words = x'ffff'", async |store| {
        let facts = vec![NewFact::new("city", "Lisbon")];
        store.set_facts("ann", facts, second(1)).await.unwrap();
        let incoming = Incoming::new("cli", "ann", "what about word77?");
        let request = MemoryRequest::new(incoming, second(1));
        let known = store.recollect(&request, None, Vec::new()).await;
        assert_eq!(known.facts[0].value, "Lisbon");
        let problems = &known.problems;
        assert!(
            problems.len() == 1 && problems[0].source == "recall",
            "{problems:?}"
        );
        assert!(!store.check().await.unwrap().is_empty());
    });
}
