//! Values of extensions: written with the end of a turn, forgotten with what it came from, copied like the rest.

use jiff::SignedDuration;
use kitbag_core::record::TurnRecord;
use kitbag_store::{
    ConversationId, ExtensionChange, Forget, Incoming, KeptFor, Learned, Store, StoreError,
};
use serde_json::{Value, json};

use crate::on_both;
use crate::place::{new_tenant, second};

on_both! {
    t08_what_extensions_keep_is_written_with_the_turn_alone
    t08_what_extensions_keep_is_forgotten_with_what_it_came_from
    t08_tenants_do_not_see_what_extensions_of_others_keep
}

fn changes(value: &Value) -> Vec<ExtensionChange> {
    let kept_for = [KeptFor::Conversation, KeptFor::Tenant];
    let change = |kept_for| ExtensionChange::new(kept_for, "e", "k", Some(value.clone()));
    kept_for.map(change).into()
}

/// A turn that keeps these changes.
async fn turn(store: &Store, sender: &str, changes: Vec<ExtensionChange>) -> ConversationId {
    let incoming = Incoming::new("cli", sender, "My boat is the Marigold.");
    let turn = store.accept(&incoming, second(0)).await.unwrap();
    let minute = SignedDuration::from_secs(60);
    let lease = store.begin(turn.id, minute, second(1)).await.unwrap();
    let mut learned = Learned::reply("Noted.", second(2));
    learned.extensions = changes;
    let kept = store.learned(&lease, learned.clone(), second(2)).await;
    assert_eq!(kept.unwrap().id, turn.id);
    // The same step twice counts once.
    learned.extensions.clear();
    store.learned(&lease, learned, second(3)).await.unwrap();
    turn.id.conversation()
}

async fn kept(store: &Store, id: ConversationId) -> (Option<Value>, Option<Value>) {
    let state = store.extension_state(id).await.unwrap();
    let value = |values: kitbag_store::ExtensionValues| values.get("e")?.get("k").cloned();
    (value(state.conversation), value(state.tenant))
}

async fn t08_what_extensions_keep_is_written_with_the_turn_alone(store: Store) {
    let id = turn(&store, "ann", changes(&json!({"n": 1}))).await;
    assert_eq!(
        kept(&store, id).await,
        (Some(json!({"n": 1})), Some(json!({"n": 1})))
    );
    // A turn that fails has nothing to hand in, and one that lost its lease is refused as a whole.
    let accepted = store
        .accept(&Incoming::new("cli", "ann", "x"), second(4))
        .await
        .unwrap();
    let minute = SignedDuration::from_secs(60);
    let lease = store.begin(accepted.id, minute, second(4)).await.unwrap();
    let stolen = store.begin(accepted.id, minute, second(90)).await.unwrap();
    let mut learned = Learned::reply("late", second(91));
    learned.extensions = changes(&json!("late"));
    let refused = store.learned(&lease, learned, second(91)).await;
    assert!(
        matches!(refused, Err(StoreError::LeaseLost { .. })),
        "{refused:?}"
    );
    store
        .failed(&stolen, "no", TurnRecord::default(), second(92))
        .await
        .unwrap();
    assert_eq!(kept(&store, id).await.0, Some(json!({"n": 1})));
    // A secret is masked, and a value that is removed is gone.
    let secret = json!(["token = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\""]);
    turn(&store, "ann", changes(&secret)).await;
    let (own, shared) = kept(&store, id).await;
    assert!(!own.unwrap().to_string().contains("ghp_0123456789"));
    assert!(!shared.unwrap().to_string().contains("ghp_0123456789"));
    let remove = |kept_for| ExtensionChange::new(kept_for, "e", "k", None);
    let removed = vec![remove(KeptFor::Conversation), remove(KeptFor::Tenant)];
    turn(&store, "ann", removed).await;
    assert_eq!(kept(&store, id).await, (None, None));
    assert_eq!(store.check().await.unwrap(), [""; 0]);
}

async fn t08_what_extensions_keep_is_forgotten_with_what_it_came_from(store: Store) {
    let quoted = json!({"said": "My boat is the Marigold."});
    let id = turn(&store, "ann", changes(&quoted)).await;
    let message = store.messages(id, 1).await.unwrap().remove(0).id;
    store.forget(Forget::Message(message)).await.unwrap();
    assert_eq!(kept(&store, id).await, (None, None), "they quote it");
    turn(&store, "ann", changes(&json!(7))).await;
    let other = turn(&store, "bob", Vec::new()).await;
    assert_eq!(kept(&store, other).await, (None, Some(json!(7))));
    store.forget(Forget::Conversation(id)).await.unwrap();
    assert_eq!(
        kept(&store, other).await,
        (None, None),
        "a turn of it wrote it"
    );
    turn(&store, "ann", changes(&json!(8))).await;
    store.forget(Forget::Sender("ann".into())).await.unwrap();
    assert_eq!(kept(&store, other).await, (None, None));
    assert_eq!(store.check().await.unwrap(), [""; 0]);
}

async fn t08_tenants_do_not_see_what_extensions_of_others_keep(store: Store) {
    turn(&store, "ann", changes(&json!(1))).await;
    let other = store.for_tenant(new_tenant());
    let id = turn(&other, "ann", Vec::new()).await;
    assert_eq!(kept(&other, id).await, (None, None));
}
