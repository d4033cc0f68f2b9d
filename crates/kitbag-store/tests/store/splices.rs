//! Texts that were put into requests come back for as long as nothing of their sender's is forgotten.

use jiff::Timestamp;
use kitbag_store::{Forget, Incoming, Store};

use crate::on_both;
use crate::place::second;

on_both! {
    x06_a_splice_comes_back_at_its_place_alone
    x06_of_two_requests_at_once_both_get_the_text_of_one
    x06_whatever_is_forgotten_takes_the_splices_of_its_sender_along
}

const BLOCK: &str = "We deploy with fly.io.";

async fn add(store: &Store, sender: &str, anchor: u8, text: &str, at: i64) -> String {
    let place = ("proxy", sender);
    let times = (second(at - 600), second(at));
    let added = store.splice(place, [anchor; 32], text.to_owned(), times);
    added.await.unwrap()
}

/// The texts at these anchors.
async fn at(store: &Store, sender: &str, anchors: &[u8]) -> Vec<(u8, String, Timestamp)> {
    let anchors: Vec<[u8; 32]> = anchors.iter().map(|anchor| [*anchor; 32]).collect();
    let found = store.splices("proxy", sender, &anchors).await.unwrap();
    let found = found
        .into_iter()
        .map(|(anchor, it)| (anchor[0], it.text, it.made));
    found.collect()
}

async fn x06_a_splice_comes_back_at_its_place_alone(store: Store) {
    assert!(at(&store, "ann", &[1]).await.is_empty());
    assert_eq!(add(&store, "ann", 1, BLOCK, 0).await, BLOCK);
    let masked = add(
        &store,
        "ann",
        2,
        "token: ghp_0123456789abcdefghijABCDEFGHIJ012345",
        5,
    )
    .await;
    assert!(masked.starts_with("token: [REDACTED:"), "{masked}");
    let found = at(&store, "ann", &[1, 2, 3]).await;
    assert_eq!(found[0], (1, BLOCK.to_owned(), second(0)));
    assert_eq!((found.len(), &found[1].1), (2, &masked));
    assert!(at(&store, "bob", &[1]).await.is_empty());
    let other = store.for_tenant("other".parse().unwrap());
    assert!(at(&other, "ann", &[1]).await.is_empty());
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    // After a month nobody goes on.
    add(&store, "ann", 9, "new", 40 * 24 * 60 * 60).await;
    assert!(at(&store, "ann", &[1]).await.is_empty());
}

async fn x06_of_two_requests_at_once_both_get_the_text_of_one(store: Store) {
    assert_eq!(add(&store, "ann", 1, BLOCK, 0).await, BLOCK);
    assert_eq!(add(&store, "ann", 1, "Something else.", 60).await, BLOCK);
    assert_eq!(
        add(&store, "ann", 1, "Something else.", 6_000).await,
        "Something else."
    );
    assert_eq!(at(&store, "ann", &[1]).await[0].2, second(6_000));
}

async fn x06_whatever_is_forgotten_takes_the_splices_of_its_sender_along(store: Store) {
    let incoming = Incoming::new("cli", "ann", BLOCK);
    let turn = store.accept(&incoming, second(0)).await.unwrap();
    add(&store, "ann", 1, BLOCK, 1).await;
    add(&store, "bob", 1, BLOCK, 1).await;
    store.forget(Forget::Message(turn.message)).await.unwrap();
    assert!(
        at(&store, "ann", &[1]).await.is_empty(),
        "it was said on another channel"
    );
    assert_eq!(at(&store, "bob", &[1]).await.len(), 1);
    store
        .forget(Forget::Sender("bob".to_owned()))
        .await
        .unwrap();
    assert!(at(&store, "bob", &[1]).await.is_empty());
}
