//! Faults that were there once.

use jiff::SignedDuration;
use kitbag_core::role::Role;
use kitbag_core::stored::ConversationContext;
use kitbag_core::summarize::{FinishedTurn, SummarySettings, summarize};
use kitbag_core::tokens::Characters;
use kitbag_store::{
    Forget, Import, Incoming, Learned, Location, NewFact, NewMessage, RecallRequest, Store,
    StoreError,
};

use crate::on_both;
use crate::place::{run, second};
use crate::remembered;

on_both! {
    a_learned_turn_is_not_answered_again
    a_fact_that_was_forgotten_or_unset_is_in_no_later_prompt
    a_long_query_is_answered
    a_short_forgotten_text_takes_no_other_with_it
    silence_divides_what_is_imported_without_a_name
    a10_a_turn_ends_with_its_layers_and_loses_nothing
}

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// Builds the context of a message, sends it, and answers.
async fn turn(store: &Store, text: &str, at: i64) -> String {
    let incoming = Incoming::new("cli", "ann", text);
    let turn = store.accept(&incoming, second(at)).await.unwrap();
    let lease = store.begin(turn.id, MINUTE, second(at)).await.unwrap();
    let sent = remembered::prompt(store, &incoming, Some(turn.message), second(at)).await;
    let body = sent.assembly.body.clone();
    store.sent(&lease, sent, second(at)).await.unwrap();
    store
        .learned(&lease, Learned::reply("I see.", second(at)), second(at))
        .await
        .unwrap();
    body
}

async fn a_learned_turn_is_not_answered_again(store: Store) {
    let incoming = Incoming::new("cli", "ann", "hello").with_idempotency_key("k");
    let first = store.accept(&incoming, second(0)).await.unwrap();
    let lease = store.begin(first.id, MINUTE, second(0)).await.unwrap();
    store
        .learned(&lease, Learned::reply("hi", second(1)), second(1))
        .await
        .unwrap();
    // Another node had the same request and waited for the lease.
    let late = store.begin(first.id, MINUTE, second(2)).await.unwrap();
    let sent = remembered::prompt(&store, &incoming, Some(first.message), second(2)).await;
    let refused = store.sent(&late, sent, second(2)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Turn { .. }), "{refused}");
    store
        .learned(&late, Learned::reply("hi again", second(3)), second(3))
        .await
        .unwrap();
    assert_eq!(
        store
            .messages(first.id.conversation(), 9)
            .await
            .unwrap()
            .len(),
        2
    );
}

async fn a_fact_that_was_forgotten_or_unset_is_in_no_later_prompt(store: Store) {
    let facts = vec![
        NewFact::new("home", "Lisbon"),
        NewFact::new("pet", "a heron"),
    ];
    store.set_facts("ann", facts, second(0)).await.unwrap();
    let first = turn(&store, "hello", 1).await;
    assert!(first.contains("Lisbon") && first.contains("heron"));
    store.unset_fact("ann", "pet", second(2)).await.unwrap();
    let second_body = turn(&store, "and now?", 3).await;
    assert!(
        second_body.contains("Lisbon") && !second_body.contains("heron"),
        "{second_body}"
    );
    let forget = Forget::Fact {
        sender: "ann".into(),
        key: "home".into(),
    };
    store.forget(forget).await.unwrap();
    assert!(!turn(&store, "and then?", 5).await.contains("Lisbon"));
}

async fn a_long_query_is_answered(store: Store) {
    let said = (0..600).map(|n| {
        Import::new(
            "cli",
            "ann",
            None,
            NewMessage::new(Role::User, format!("number{n} said")),
        )
    });
    store.import(said.collect(), second(0)).await.unwrap();
    let letters = |n: u32| char::from_u32(97 + n % 26).unwrap();
    let words = (0..200).map(|n| {
        format!(
            "{}{}{}anghorst",
            letters(n),
            letters(n / 26),
            letters(n / 7)
        )
    });
    let query: Vec<String> = words.chain(["number77".to_owned()]).collect();
    let hits = store
        .recall(&RecallRequest::new("ann", query.join(" ")))
        .await
        .unwrap();
    assert_eq!(hits[0].message.text(), "number77 said");
}

async fn a_short_forgotten_text_takes_no_other_with_it(store: Store) {
    let lease = {
        let turn = store
            .accept(&Incoming::new("cli", "ann", "yes"), second(0))
            .await
            .unwrap();
        store.begin(turn.id, MINUTE, second(0)).await.unwrap()
    };
    let id = lease.turn.conversation();
    let mut layers = ConversationContext::default();
    layers
        .id_registry
        .register_read("row-1", "eyes", "Bright eyes");
    layers
        .content_archive
        .insert("eyes".into(), "yesterday".into());
    let mut learned = Learned::reply("ok", second(1));
    learned.layers = Some(layers.clone());
    store.learned(&lease, learned, second(1)).await.unwrap();
    let message = store.messages(id, 9).await.unwrap()[0].id;
    store.forget(Forget::Message(message)).await.unwrap();
    let left = store.layers(id).await.unwrap();
    assert_eq!(left.id_registry, layers.id_registry);
    assert_eq!(left.content_archive, layers.content_archive);
}

async fn silence_divides_what_is_imported_without_a_name(store: Store) {
    let at = |minutes: i64| {
        NewMessage::new(Role::User, format!("at {minutes}")).at(second(minutes * 60))
    };
    let lines = [0, 20, 200, 210, 5].map(|minutes| Import::new("cli", "ann", None, at(minutes)));
    store.import(lines.into(), second(0)).await.unwrap();
    let conversations = store.conversations("cli", "ann", 9).await.unwrap();
    let counts: Vec<u32> = conversations.iter().map(|one| one.messages).collect();
    assert_eq!(counts, [2, 3]);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn a10_a_turn_ends_with_its_layers_and_loses_nothing(store: Store) {
    for number in 1..=5 {
        let text = format!("I decided on plan {number} with Ines.");
        let turn = store
            .accept(&Incoming::new("cli", "ann", text.as_str()), second(number))
            .await
            .unwrap();
        let id = turn.id.conversation();
        let lease = store.begin(turn.id, MINUTE, second(number)).await.unwrap();
        let layers = store.layers(id).await.unwrap();
        let finished = FinishedTurn::new(number as u32, text, "Noted.");
        let settings = SummarySettings::in_characters();
        let mut learned = Learned::reply("Noted.", second(number));
        learned.layers =
            Some(summarize(layers, finished, &settings, &Characters, |_| None).context);
        store
            .learned(&lease, learned, second(number))
            .await
            .unwrap();
    }
    let id = store.conversations("cli", "ann", 1).await.unwrap()[0].id;
    let layers = store.layers(id).await.unwrap();
    assert_eq!(layers.recent_turns.len(), 2);
    assert_eq!(layers.turn_summaries.len(), 2);
    for number in 1..=3 {
        assert!(
            layers.history_summary.contains(&format!("plan {number}")),
            "{}",
            layers.history_summary
        );
    }
}

#[test]
fn a_copy_that_was_cut_off_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let file = |name: &str| Location::Sqlite(folder.path().join(name));
        let from = Store::open(&file("a.db")).await.unwrap();
        let empty = Store::open(&file("b.db")).await.unwrap();
        let nothing = from.copy_to(&empty).await.unwrap_err();
        assert!(matches!(nothing, StoreError::Missing { .. }), "{nothing}");
        let said = Import::new("cli", "ann", None, NewMessage::new(Role::User, "hello"));
        from.import(vec![said.clone()], second(0)).await.unwrap();
        drop(empty);
        // As a process that died would leave it.
        let raw = rusqlite::Connection::open(folder.path().join("b.db")).unwrap();
        raw.execute_batch(
            "INSERT OR REPLACE INTO tenant (tenant, scopes) VALUES ('main', -1); INSERT INTO fact (tenant, sender, key, version, value, since) VALUES ('main', 'x', 'k', 1, 'v', 0)",
        )
        .unwrap();
        drop(raw);
        let half = Store::open(&file("b.db")).await.unwrap();
        let refused = half
            .import(vec![said], second(0))
            .await
            .unwrap_err()
            .to_string();
        assert!(refused.contains("was not finished"), "{refused}");
        from.copy_to(&half).await.unwrap();
        assert!(half.facts("x", 9).await.unwrap().is_empty());
        assert_eq!(half.stats().await.unwrap().messages, 1);
        // A store from which everything was forgotten is empty again.
        half.forget(Forget::Sender("ann".into())).await.unwrap();
        from.copy_to(&half).await.unwrap();
    });
}
