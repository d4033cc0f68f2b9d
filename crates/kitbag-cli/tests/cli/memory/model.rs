//! Choosing a model, and what recall does with it.

use std::fs;
use std::path::Path;

use super::Memory;

/// Writes a model that knows `hound` and `puppy`, which mean nearly the same, and `train`.
fn write_model(folder: &Path) {
    let tokenizer = r#"{"version": "1.0", "added_tokens": [], "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"}, "post_processor": null, "decoder": null,
        "model": {"type": "WordLevel", "unk_token": "[UNK]",
            "vocab": {"[UNK]": 0, "hound": 1, "puppy": 2, "train": 3}}}"#;
    let rows = [0.0_f32, 0.0, 1.0, 0.0, 0.9, 0.1, 0.0, 1.0];
    let table = rows.iter().flat_map(|value| value.to_le_bytes());
    let header = r#"{"embeddings":{"dtype":"F32","shape":[4,2],"data_offsets":[0,32]}}"#;
    let mut weights = (header.len() as u64).to_le_bytes().to_vec();
    weights.extend(header.bytes());
    weights.extend(table);
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("tokenizer.json"), tokenizer).unwrap();
    fs::write(folder.join("model.safetensors"), weights).unwrap();
}

#[test]
fn x04_a_model_that_was_chosen_finds_other_words() {
    let memory = Memory::talk();
    let none = memory.run(&["model"]);
    assert_eq!(
        none.stderr,
        "no model is chosen; `kitbag memory model use FOLDER` chooses one\n"
    );
    assert_eq!(none.success(), "");
    assert!(memory.references("the hound").is_empty());

    write_model(&memory.0.path().join("tiny"));
    let chosen = memory.run(&["model", "use", "tiny"]).success();
    assert!(
        chosen.ends_with("tiny: 4 tokens, 2 dimensions\n"),
        "{chosen}"
    );
    assert_eq!(memory.run(&["model"]).success(), chosen);
    assert_eq!(memory.json(&["model"])["dimensions"], 2);
    assert_eq!(memory.references("the hound")[0], "m1");
    let batch = ["recall", "--batch", "-", "--explain"];
    let line = memory
        .run_with_stdin(&batch, br#"{"query": "the hound"}"#)
        .success();
    assert!(line.contains(r#""name":"meaning""#), "{line}");
    let args = [
        "context",
        "Who is the hound?",
        "--sender",
        "ann",
        "--channel",
        "slack",
    ];
    let args = [&["--store", "sqlite:memory.db"], &args[..]].concat();
    let prompt = memory.0.run(&args).success();
    assert!(prompt.contains("answers to Biscuit"), "{prompt}");

    let off = memory.run(&["model", "off"]);
    assert_eq!(off.stderr, "recall no longer uses a model\n");
    off.success();
    assert!(memory.references("the hound").is_empty());
    let again = memory.run(&["model", "off"]);
    assert_eq!(again.stderr, "recall used no model\n");
    memory.run(&["model", "use", "tiny"]).success();
    let off = memory.run(&["model", "off", "--json"]);
    assert_eq!((off.stderr.as_str(), off.stdout.as_str()), ("", "null\n"));
    assert!(memory.references("the hound").is_empty());
}

#[test]
fn x04_a_model_that_has_vanished_is_told_and_recall_goes_on() {
    let memory = Memory::talk();
    let folder = memory.0.path().join("tiny");
    write_model(&folder);
    memory.run(&["model", "use", "tiny"]).success();
    fs::remove_dir_all(&folder).unwrap();
    let folder = memory.0.path().canonicalize().unwrap().join("tiny");
    let folder = folder.display();
    let found = memory.run(&["recall", "puppy", "--limit", "1"]);
    assert_eq!(
        found.stderr,
        format!(
            "warning: there is no model folder {folder}; recall continues without a model\n\
             hint: `kitbag memory model use FOLDER` chooses another, `kitbag memory model off` uses none\n"
        )
    );
    assert!(found.success().contains("Biscuit"));
    let told = memory.run(&["model"]).failure(1);
    assert!(
        told.starts_with(&format!("error: there is no model folder {folder}\n")),
        "{told}"
    );
}

#[test]
fn x04_a_folder_that_is_no_model_is_not_chosen() {
    let memory = Memory::talk();
    let told = memory.run(&["model", "use", "nowhere"]).failure(1);
    assert_eq!(
        told,
        "error: there is no model folder nowhere\n\
         hint: a model is a folder with `tokenizer.json` and `model.safetensors`\n"
    );
    assert_eq!(memory.run(&["model"]).success(), "");
}
