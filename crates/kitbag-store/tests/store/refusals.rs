//! Messages that were refused are kept by who, where, when and why.

use kitbag_store::{Forget, Store};

use crate::on_both;
use crate::place::second;

on_both! {
    o05_refusals_are_listed_latest_first
    o05_forgetting_a_sender_forgets_its_refusals
    o05_older_refusals_of_a_channel_are_forgotten
    o05_refused_names_may_be_anything
}

async fn refuse(store: &Store, sender: &str, at: i64) {
    let reason = "not among the senders of the channel";
    let refused = store.refuse("slack", sender, reason, second(at));
    refused.await.unwrap();
}

async fn o05_refusals_are_listed_latest_first(store: Store) {
    assert!(store.refusals(5).await.unwrap().is_empty());
    for at in 0..3 {
        refuse(&store, &format!("eve-{at}"), at).await;
    }
    let listed = store.refusals(2).await.unwrap();
    let told: Vec<_> = listed.iter().map(|one| (one.id, &*one.sender)).collect();
    assert_eq!(told, [(3, "eve-2"), (2, "eve-1")]);
    assert_eq!((listed[0].at, &*listed[0].channel), (second(2), "slack"));
    assert_eq!(store.stats().await.unwrap().refusals, 3);
    assert!(store.has_tenant().await.unwrap());
    let other = store.for_tenant("other".parse().unwrap());
    assert!(other.refusals(5).await.unwrap().is_empty());
}

async fn o05_forgetting_a_sender_forgets_its_refusals(store: Store) {
    refuse(&store, "eve", 0).await;
    refuse(&store, "mallory", 1).await;
    let eve = Forget::Sender("eve".to_owned());
    let gone = store.forget(eve.clone()).await.unwrap();
    assert_eq!(gone.refusals, 1);
    let left = store.refusals(5).await.unwrap();
    assert_eq!((left.len(), &*left[0].sender), (1, "mallory"));
    assert!(store.forget(eve).await.is_err());
}

async fn o05_older_refusals_of_a_channel_are_forgotten(store: Store) {
    for at in 0..3 {
        refuse(&store, "eve", at).await;
    }
    let older = |channel: &str| Forget::Refusals {
        channel: channel.to_owned(),
        before: second(2),
    };
    assert_eq!(store.forget(older("mail")).await.unwrap().refusals, 0);
    assert_eq!(store.forget(older("slack")).await.unwrap().refusals, 2);
    let left = store.refusals(5).await.unwrap();
    assert_eq!((left.len(), left[0].at), (1, second(2)));
    let gone = store.forget(Forget::Tenant).await.unwrap();
    assert_eq!(gone.refusals, 1);
}

async fn o05_refused_names_may_be_anything(store: Store) {
    refuse(&store, "a\0b\u{1b}[2J", 0).await;
    refuse(&store, &"x".repeat(10_000), 1).await;
    let listed = store.refusals(5).await.unwrap();
    assert_eq!(listed[0].sender.len(), 500);
    assert_eq!(listed[1].sender, "a\0b\u{1b}[2J");
}
