//! Facts and summaries: nothing is overwritten.

use kitbag_core::role::Role;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    CloseOutcome, ConversationChoice, Fact, Import, NewFact, NewMessage, NewSummary, Store,
    StoreError, SummaryMaker,
};

use crate::on_both;
use crate::place::second;

on_both! {
    o06_a_new_value_supersedes_the_old_one
    o06_what_is_no_fact_is_refused_and_nothing_is_set
    o06_the_latest_summaries_are_given_in_order
    o06_conversations_belong_to_channel_and_sender
    a09_the_layers_come_back_without_loss
}

fn told(facts: &[Fact]) -> Vec<(&str, &str, bool)> {
    facts
        .iter()
        .map(|fact| (fact.key.as_str(), fact.value.as_str(), fact.until.is_none()))
        .collect()
}

async fn o06_a_new_value_supersedes_the_old_one(store: Store) {
    let set = async |value: &str, at| {
        store
            .set_facts("ann", vec![NewFact::new("city", value)], second(at))
            .await
            .unwrap();
    };
    set("Porto", 0).await;
    set("Lisbon", 1).await;
    set("Lisbon", 2).await;
    assert_eq!(
        told(&store.facts("ann", 10).await.unwrap()),
        [("city", "Lisbon", true)]
    );
    let history = store.fact_history("ann", Some("city"), 9).await.unwrap();
    assert_eq!(
        told(&history),
        [("city", "Porto", false), ("city", "Lisbon", true)]
    );
    assert_eq!(history[0].until, Some(second(1)));
    assert!(store.unset_fact("ann", "city", second(3)).await.unwrap());
    assert!(!store.unset_fact("ann", "city", second(4)).await.unwrap());
    assert!(store.facts("ann", 10).await.unwrap().is_empty());
    set("Lisbon", 5).await;
    assert_eq!(store.fact_history("ann", None, 9).await.unwrap().len(), 3);
    let last = store.fact_history("ann", Some("city"), 1).await.unwrap();
    assert_eq!((last.len(), last[0].version), (1, 3));
    assert_eq!(store.fact_history("ann", None, 2).await.unwrap().len(), 2);
    assert!(store.facts("bob", 10).await.unwrap().is_empty());
}

async fn o06_what_is_no_fact_is_refused_and_nothing_is_set(store: Store) {
    let good = NewFact::new("name", "Ann \u{0} 名前");
    for bad in [
        NewFact::new("", "x"),
        NewFact::new("a\nb", "x"),
        NewFact::new("k".repeat(101), "x"),
        NewFact::new("city", "  "),
        NewFact::new("city", "x".repeat(4_001)),
    ] {
        let refused = store
            .set_facts("ann", vec![good.clone(), bad], second(0))
            .await
            .unwrap_err();
        assert!(matches!(refused, StoreError::Invalid { .. }), "{refused}");
    }
    assert!(store.facts("ann", 10).await.unwrap().is_empty());
    store
        .set_facts("ann", vec![good.clone()], second(0))
        .await
        .unwrap();
    assert_eq!(store.facts("ann", 10).await.unwrap()[0].value, good.value);
    assert!(store.set_facts("a\0b", vec![], second(0)).await.is_err());
}

async fn o06_the_latest_summaries_are_given_in_order(store: Store) {
    for number in 0..5 {
        let name = ConversationChoice::Named(format!("c{number}"));
        let id = store
            .get_or_create_conversation("cli", "ann", &name, second(number))
            .await
            .unwrap()
            .id;
        store
            .add_summary(
                id,
                NewSummary::new((1, 2), format!("summary {number}"), SummaryMaker::Model),
                second(number),
            )
            .await
            .unwrap();
    }
    let latest = store.summaries("cli", "ann", 3).await.unwrap();
    let texts: Vec<&str> = latest.iter().map(|summary| summary.text.as_str()).collect();
    assert_eq!(texts, ["summary 2", "summary 3", "summary 4"]);
    assert!(store.summaries("slack", "ann", 3).await.unwrap().is_empty());
}

async fn o06_conversations_belong_to_channel_and_sender(store: Store) {
    let open = async |channel: &str, sender: &str, at| {
        let choice = ConversationChoice::default();
        store
            .get_or_create_conversation(channel, sender, &choice, second(at))
            .await
            .unwrap()
            .id
    };
    let first = open("cli", "ann", 0).await;
    assert_eq!(open("cli", "ann", 60).await, first);
    assert_ne!(open("slack", "ann", 60).await, first);
    assert_ne!(open("cli", "bob", 60).await, first);
    let closing = store.closing(first).await.unwrap();
    let closed = store
        .close(closing, Tokens(80), &Characters, second(61))
        .await;
    assert_eq!(closed.unwrap(), CloseOutcome::Closed(None));
    assert_ne!(open("cli", "ann", 62).await, first);
    let import = Import::new(
        "cli",
        "ann",
        None,
        NewMessage::new(Role::User, "hi").at(second(63)),
    );
    store.import(vec![import], second(63)).await.unwrap();
    let listed = store.conversations("cli", "ann", 9).await.unwrap();
    assert_eq!(listed.len(), 2);
    assert_eq!((listed[0].messages, listed[1].messages), (1, 0));
}

async fn a09_the_layers_come_back_without_loss(store: Store) {
    let json = serde_json::json!({
        "recent_turns": [{"user": "soup?", "assistant_summary": "Tomato.", "routing": null, "timestamp": "t", "mood": 1}],
        "history_summary": "old\u{0}er", "engagement_summary": "cooking",
        "pending_clarification": {"type": "propose", "context": "a plan", "questions": ["ok?"], "extra": true},
        "id_registry": {"session_id": "s", "current_turn": 3, "counters": {"recipe": 1},
            "ref_to_uuid": {"recipe_1": "u-1"}, "uuid_to_ref": {"u-1": "recipe_1"},
            "ref_actions": {"recipe_1": "read"}, "ref_labels": {"recipe_1": "Soup"}, "ref_types": {"recipe_1": "recipe"},
            "ref_turn_created": {"recipe_1": 1}, "ref_turn_last_ref": {"recipe_1": 3}},
        "turn_summaries": [{"turn_num": 2, "think_decision": "plan_direct", "think_goal": "find soup", "steps": [],
            "entity_curation": {"retained": [], "demoted": [], "reasons": {}}, "conversation_phase": "exploring",
            "user_expressed": "", "blocked_reason": null}],
        "reasoning_summary": "Turn 1: greeted", "content_archive": {"k": {"description": "d"}},
        "understand_decision_log": [{"turn": 1, "ref": "recipe_1", "action": "retain", "reason": "r"}],
        "step_summaries": [{"step_index": 0}], "unknown": [1, 2.5],
    });
    let layers: kitbag_core::stored::ConversationContext = serde_json::from_value(json).unwrap();
    let choice = ConversationChoice::default();
    let id = store
        .get_or_create_conversation("cli", "ann", &choice, second(0))
        .await
        .unwrap()
        .id;
    assert_eq!(store.layers(id).await.unwrap(), Default::default());
    store.set_layers(id, layers.clone()).await.unwrap();
    let back = store.layers(id).await.unwrap();
    assert_eq!(back, layers);
    assert_eq!(
        serde_json::to_string(&back).unwrap(),
        serde_json::to_string(&layers).unwrap()
    );
}
