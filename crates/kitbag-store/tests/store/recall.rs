//! Recall: the same answers from both databases, in blocks or not.

use kitbag_core::role::Role;
use kitbag_store::{Import, NewMessage, RecallRequest, Store};

use crate::on_both;
use crate::place::second;

on_both! {
    x04_a_message_is_found_by_its_words_at_once
    x04_blocks_change_no_ranking
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
    assert_eq!(hits[0].message.text, said[0]);
    let others = store
        .recall(&RecallRequest::new("bob", "when did I move to Lisbon?"))
        .await
        .unwrap();
    assert!(others.is_empty());
}

async fn x04_blocks_change_no_ranking(store: Store) {
    let text = |n: u32| format!("note {n} about topic{} and thing{}", n % 17, n % 5);
    let import = |sender: &str, n: u32| {
        let message = NewMessage::new(Role::User, text(n)).with_reference(format!("r{n}"));
        Import::new("cli", sender, Some(format!("day {}", n / 30)), message)
    };
    // The same messages at once, which makes blocks, and one by one, which leaves some outside.
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
                .map(|hit| (hit.message.text, hit.score))
                .collect::<Vec<_>>()
        };
        let all = ask("all").await;
        assert!(all.len() >= 20);
        assert_eq!(all, ask("some").await);
    }
}
