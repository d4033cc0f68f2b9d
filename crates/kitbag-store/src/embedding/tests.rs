//! Reading a model, made by hand or real, and what texts mean by it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use safetensors::Dtype;
use safetensors::tensor::{TensorView, serialize};
use tempfile::TempDir;

use super::compare::likeness;
use super::{Embedder, EmbeddingError, TOKENIZER, WEIGHTS, likenesses};

const DESCRIPTION: &str = r#"{
    "version": "1.0",
    "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
    "padding": {"strategy": {"Fixed": 8}, "direction": "Right", "pad_to_multiple_of": null,
        "pad_id": 1, "pad_type_id": 0, "pad_token": "dog"},
    "added_tokens": [{"id": 4, "content": "<s>", "single_word": false, "lstrip": false,
        "rstrip": false, "normalized": false, "special": true}],
    "normalizer": {"type": "Lowercase"},
    "pre_tokenizer": {"type": "Whitespace"},
    "post_processor": null,
    "decoder": null,
    "model": {"type": "WordLevel", "unk_token": "[UNK]",
        "vocab": {"[UNK]": 0, "dog": 1, "puppy": 2, "train": 3, "<s>": 4}}
}"#;

/// What the unknown token and the mark mean would be seen at once.
const ROWS: [f32; 10] = [99.0, 99.0, 1.0, 0.0, 0.75, 0.25, 0.0, -2.0, 99.0, -99.0];

fn bytes(rows: &[f32]) -> Vec<u8> {
    rows.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn tensors(named: &[(&str, Dtype, &[usize], &[u8])]) -> Vec<u8> {
    let views = named.iter().map(|&(name, kind, shape, data)| {
        let view = TensorView::new(kind, shape.to_vec(), data).unwrap();
        (name, view)
    });
    serialize(views, None).unwrap()
}

fn folder(weights: &[u8]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(TOKENIZER), DESCRIPTION).unwrap();
    fs::write(folder.path().join(WEIGHTS), weights).unwrap();
    folder
}

fn model() -> TempDir {
    folder(&tensors(&[(
        "embeddings",
        Dtype::F32,
        &[5, 2],
        &bytes(&ROWS),
    )]))
}

#[test]
fn a_text_is_the_mean_of_its_known_tokens() {
    let folder = model();
    let embedder = Embedder::open(folder.path()).unwrap();
    assert_eq!(embedder.dimensions(), 2);
    assert_eq!(embedder.embed("Dog"), [1.0, 0.0]);
    assert_eq!(embedder.embed("train"), [0.0, -1.0]);
    // Neither cut after two tokens nor filled up to eight, whatever the tokenizer is set to.
    assert_eq!(embedder.embed("dog unheard <s> dog train"), {
        let half = 0.5_f32.sqrt();
        [half, -half]
    });
    for nothing in ["", "unheard of", "<s>"] {
        assert_eq!(embedder.embed(nothing), [0.0, 0.0], "{nothing:?}");
    }
}

#[test]
fn what_means_the_same_is_alike() {
    let folder = model();
    let embedder = Embedder::open(folder.path()).unwrap();
    let like = |one, other| likeness(&embedder.embed(one), &embedder.embed(other));
    assert_eq!(like("dog", "dog dog"), 1000);
    assert_eq!(like("dog", "puppy"), 949);
    assert_eq!(like("dog", "train"), 0);
    assert_eq!(like("puppy", "train"), -316);
    assert_eq!(like("dog", "unheard"), 0);
}

#[test]
fn passages_are_compared_by_their_rare_tokens_and_with_their_neighbours() {
    let folder = model();
    let embedder = Embedder::open(folder.path()).unwrap();
    let said = [
        ((1, 1), "train"),
        ((1, 2), "train dog"),
        ((1, 3), "train"),
        ((1, 9), "train"),
        ((2, 4), "unheard"),
    ];
    let said = said.map(|(place, text)| (place, text.to_owned()));
    let found = likenesses(&embedder, "puppy", &said.into_iter().collect());
    let places = [(1, 1), (1, 2), (1, 3), (1, 9), (2, 4)];
    let [before, itself, after, far, nothing] = places.map(|place| found[&place]);
    assert_eq!(nothing, 0);
    // `train` is everywhere and tells little of the message that has `dog` too.
    let plain = likeness(&embedder.embed("puppy"), &embedder.embed("train dog"));
    assert!(itself > plain, "{itself} {plain}");
    assert!(itself > after && after > before && before > far);
    assert_eq!(
        far,
        likeness(&embedder.embed("puppy"), &embedder.embed("train"))
    );
    assert!(likenesses(&embedder, "puppy", &BTreeMap::new()).is_empty());
}

#[test]
fn both_names_and_both_precisions_are_read() {
    let halves: Vec<u8> = [
        0x5630_u16, 0x5630, 0x3c00, 0, 0x3a00, 0x3400, 0, 0xc000, 0x5630, 0xd630,
    ]
    .iter()
    .flat_map(|half| half.to_le_bytes())
    .collect();
    // Something stands before the table, as in files with several tensors.
    let other = folder(&tensors(&[
        ("bias", Dtype::F32, &[1], &bytes(&[7.0])),
        ("embedding.weight", Dtype::F16, &[5, 2], &halves),
    ]));
    let (single, half) = (model(), other);
    let single = Embedder::open(single.path()).unwrap();
    let half = Embedder::open(half.path()).unwrap();
    for text in ["dog", "puppy train", "dog puppy puppy"] {
        assert_eq!(single.embed(text), half.embed(text), "{text}");
    }
}

/// The message of the error, with the folder left out of it.
#[track_caller]
fn refused(folder: &Path) -> String {
    let error: EmbeddingError = Embedder::open(folder).unwrap_err();
    assert!(!error.hint().is_empty());
    let path = folder.display().to_string();
    error.to_string().replace(&path, "DIR")
}

#[test]
fn a_missing_file_is_named() {
    let whole = model();
    assert_eq!(
        refused(&whole.path().join("none")),
        "there is no model folder DIR"
    );
    fs::remove_file(whole.path().join(WEIGHTS)).unwrap();
    assert_eq!(
        refused(whole.path()),
        "the model folder DIR has no `model.safetensors`"
    );
    fs::remove_file(whole.path().join(TOKENIZER)).unwrap();
    assert_eq!(
        refused(whole.path()),
        "the model folder DIR has no `tokenizer.json`"
    );
}

#[test]
fn a_file_that_is_something_else_is_named() {
    let broken = folder(b"version https://example.org/spec/v1");
    let told = refused(broken.path());
    assert!(
        told.starts_with("DIR/model.safetensors holds no tensors: "),
        "{told}"
    );
    fs::write(broken.path().join(TOKENIZER), "{}").unwrap();
    let told = refused(broken.path());
    assert!(
        told.starts_with("DIR/tokenizer.json is not a tokenizer: "),
        "{told}"
    );
}

#[test]
fn weights_that_are_no_table_are_refused() {
    let rows = bytes(&ROWS);
    let whole = bytes(&[0.0; 20]);
    let refused = |named: &[(&str, Dtype, &[usize], &[u8])]| {
        let folder = folder(&tensors(named));
        refused(folder.path())
    };
    assert_eq!(
        refused(&[
            ("b", Dtype::F32, &[5, 2], &rows),
            ("a", Dtype::F32, &[10], &rows)
        ]),
        "DIR/model.safetensors has no tensor `embeddings` or `embedding.weight`, but `a`, `b`"
    );
    assert_eq!(
        refused(&[("embeddings", Dtype::F32, &[10], &rows)]),
        "tensor `embeddings` of DIR/model.safetensors has the shape [10], not rows and columns"
    );
    assert_eq!(
        refused(&[("embeddings", Dtype::F32, &[5, 0], &[])]),
        "tensor `embeddings` of DIR/model.safetensors has the shape [5, 0], not rows and columns"
    );
    assert_eq!(
        refused(&[("embeddings", Dtype::F64, &[5, 2], &whole)]),
        "tensor `embeddings` of DIR/model.safetensors holds F64, neither F32 nor F16"
    );
    assert_eq!(
        refused(&[("embeddings", Dtype::F32, &[2, 5], &rows)]),
        "DIR/model.safetensors has 2 rows, but its tokenizer has 5 tokens"
    );
    assert_eq!(
        refused(&[
            ("embeddings", Dtype::F32, &[5, 2], &rows),
            ("mapping", Dtype::F32, &[10], &rows)
        ]),
        "DIR/model.safetensors has a tensor `mapping`: its rows are shared or weighted"
    );
}

#[test]
#[ignore = "needs a model: cargo xtask test"]
fn a_real_model_knows_what_is_alike() {
    let folder = std::env::var("KITBAG_TEST_EMBEDDINGS").unwrap_or_else(|_| {
        panic!("no model: set KITBAG_TEST_EMBEDDINGS to what `cargo xtask model` prints")
    });
    let embedder = Embedder::open(folder).unwrap();
    assert_eq!(embedder.dimensions(), 256);
    let like = |one, other| likeness(&embedder.embed(one), &embedder.embed(other));
    let pairs = [
        ("my dog is ill", "the puppy was sick", "the train was late"),
        (
            "Where does she work?",
            "her job at the bank",
            "a recipe for soup",
        ),
    ];
    for (query, near, far) in pairs {
        let (near, far) = (like(query, near), like(query, far));
        assert!(near > far + 50, "{query}: {near}, {far}");
    }
    assert_eq!(
        like(
            "They went to Lisbon — twice!",
            "They went to Lisbon — twice!"
        ),
        1000
    );
}
