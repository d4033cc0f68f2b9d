//! Recall by meaning: a model changes the order of what words find, and adds words.

use std::fs;
use std::sync::Arc;

use kitbag_core::role::Role;
use kitbag_store::{Embedder, Import, NewMessage, RecallRequest, Recalled, Store};
use safetensors::Dtype;
use safetensors::tensor::{TensorView, serialize};

use crate::on_both;
use crate::place::second;

on_both! {
    a_model_puts_what_means_the_same_first
    a_model_compares_the_passage_that_is_shown
    a_model_finds_what_shares_no_word_with_the_query
}

/// A model that knows four words: three of them mean nearly the same, one of those in German.
fn embedder() -> Arc<Embedder> {
    let folder = tempfile::tempdir().unwrap();
    let tokenizer = r#"{"version": "1.0", "added_tokens": [], "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "unk_token": "[UNK]",
            "vocab": {"[UNK]": 0, "ill": 1, "unwell": 2, "paint": 3, "krank": 4}}}"#;
    let rows = [0.0_f32, 0.0, 1.0, 0.0, 0.75, 0.25, 0.0, 1.0, 1.0, 0.1];
    let bytes: Vec<u8> = rows.iter().flat_map(|value| value.to_le_bytes()).collect();
    let view = TensorView::new(Dtype::F32, vec![5, 2], &bytes).unwrap();
    let weights = serialize([("embeddings", view)], None).unwrap();
    fs::write(folder.path().join("tokenizer.json"), tokenizer).unwrap();
    fs::write(folder.path().join("model.safetensors"), weights).unwrap();
    Arc::new(Embedder::open(folder.path()).unwrap())
}

async fn remember(store: &Store, said: &[&str]) {
    // Each in a conversation of its own, so that none is another's neighbour.
    let import = said.iter().enumerate().map(|(at, text)| {
        let message = NewMessage::new(Role::User, *text);
        Import::new("cli", "ann", Some(format!("talk {at}")), message)
    });
    store.import(import.collect(), second(0)).await.unwrap();
}

fn meaning(hit: &Recalled) -> Option<i64> {
    let part = hit
        .score
        .parts()
        .iter()
        .find(|part| part.name == "meaning")?;
    Some(part.value)
}

async fn a_model_puts_what_means_the_same_first(store: Store) {
    let said = [
        "The cat was unwell on Monday and on Tuesday",
        "The cat likes paint",
    ];
    remember(&store, &said).await;
    let request = RecallRequest::new("ann", "is the cat ill?");
    let without = store.recall(&request).await.unwrap();
    assert_eq!(without[0].message.text(), said[1], "the shorter one");
    assert!(without.iter().all(|hit| meaning(hit).is_none()));

    let store = store.with_embedder(embedder());
    let with = store.recall(&request).await.unwrap();
    assert_eq!(with.len(), 2);
    assert_eq!(with[0].message.text(), said[0]);
    assert!(meaning(&with[0]).unwrap() > 0);
    assert_eq!(with, store.recall(&request).await.unwrap());
}

async fn a_model_compares_the_passage_that_is_shown(store: Store) {
    let filler = "Nobody said a thing about anything else at that time of year. ".repeat(12);
    let long = format!("My cat is unwell today. {filler} They paint and paint and paint.");
    remember(&store, &[&long]).await;
    let request = RecallRequest::new("ann", "is the cat ill?");
    let store = store.with_embedder(embedder());
    let hits = store.recall(&request).await.unwrap();
    assert!(hits[0].text().contains("unwell") && !hits[0].text().contains("paint"));
    let mut weights = request.weights.clone();
    weights.meaning = 1000.0;
    let mut request = request;
    request.weights = weights;
    let hits = store.recall(&request).await.unwrap();
    assert_eq!(meaning(&hits[0]), Some(949), "nothing of the last passage");
}

async fn a_model_finds_what_shares_no_word_with_the_query(store: Store) {
    remember(&store, &["She felt unwell", "The paint is dry"]).await;
    for query in ["ill", "Wer war krank?"] {
        let request = RecallRequest::new("ann", query);
        assert!(store.recall(&request).await.unwrap().is_empty(), "{query}");
        let with = store.with_embedder(embedder()).recall(&request).await;
        let texts: Vec<String> = with.unwrap().iter().map(|hit| hit.text().into()).collect();
        assert_eq!(texts, ["She felt unwell"], "{query}");
    }
}
