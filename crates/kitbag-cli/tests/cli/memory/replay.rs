//! `kitbag replay`: a prompt made again.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::tokens::Tokens;
use kitbag::engine::{PromptRequest, compose};
use kitbag::store::{Incoming, Learned, Location, SentPrompt, Store};
use kitbag::tokens::{Counter, Vocabulary};
use serde_json::{Value, json};

use super::Memory;

/// Sends a prompt for turn 1.1.1, and gives it back.
fn send(memory: &Memory, form: OutputForm, request: &str) -> String {
    let location = Location::Sqlite(memory.0.path().join("memory.db"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let store = Store::open(&location).await.unwrap();
        let now = Timestamp::now();
        let turn = store
            .accept(&Incoming::new("cli", "ann", request), now)
            .await
            .unwrap();
        let lease = store
            .begin(turn.id, SignedDuration::from_secs(60), now)
            .await
            .unwrap();
        let settings = AssemblySettings::new(form, Tokens(1_000));
        let counter = Counter::for_vocabulary(Vocabulary::O200kBase).unwrap();
        let prompt = PromptRequest::new(request, settings.clone());
        let composed = compose(&prompt, Vec::new(), &counter, None).unwrap();
        let body = composed.body().into_owned();
        let (draft, assembly) = (composed.draft, composed.assembly);
        let sent = SentPrompt::new(draft, settings, assembly, body.as_str());
        store.sent(&lease, sent, now).await.unwrap();
        store
            .learned(&lease, Learned::reply("yes", now), now)
            .await
            .unwrap();
        body
    })
}

#[test]
fn x03_a_past_prompt_is_printed_byte_for_byte() {
    let memory = Memory::new();
    let markdown = OutputForm::Markdown;
    let body = send(&memory, markdown, "is this \u{1b}[31m kept exactly?\t\n");
    let replay = |args: &[&str]| {
        let args = [&["replay", "1.1.1", "--store", "memory.db"], args].concat();
        memory.0.run(&args)
    };
    assert_eq!(replay(&[]).success(), body);
    assert_eq!(replay(&["--inference", "0"]).success(), body);
    let report: Value = serde_json::from_str(&replay(&["--json"]).success()).unwrap();
    assert_eq!(
        (&report["prompt"], &report["turn"]),
        (&json!(body), &json!("1.1.1"))
    );
    assert_eq!(report["form"], "markdown");
    let tokens = memory
        .0
        .run_with_stdin(&["tokens"], body.as_bytes())
        .success();
    assert_eq!(report["tokens"].to_string(), tokens.trim());
    let error = replay(&["--inference", "7"]).failure(1);
    assert!(error.contains("inference 7 was never sent"), "{error}");
}

#[test]
fn x03_a_past_request_is_printed_byte_for_byte() {
    for form in OutputForm::ALL {
        let memory = Memory::new();
        let body = send(&memory, form, "is this kept \u{1f41d} exactly?");
        let args = ["replay", "1.1.1", "--store", "memory.db"];
        assert_eq!(memory.0.run(&args).success(), body, "{form:?}");
    }
}

/// The hashes of what an earlier version sent, by turn and form. The file is the one that the store's
/// own tests migrate.
#[test]
fn x03_the_prompts_of_an_earlier_version_come_out_again() {
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../kitbag-store/tests/store/data/version-1.db");
    let memory = Memory::new();
    std::fs::copy(data, memory.0.path().join("older.db")).unwrap();
    for (turn, form, hash) in [
        (
            "2.1.1",
            "flat",
            "53a3e8a642e2f335a53b4721f02e46a512935a680d741b50d115a96dd9bcb616",
        ),
        (
            "2.1.2",
            "pack",
            "68f3a21a1568cdcd0ef3e8ea9fc747589205a459eeef83c9ecc11a82fbf65310",
        ),
        (
            "2.1.3",
            "markdown",
            "06761c27911761aec3a0c53576a1a7910ac44072b186b95e61a85c27d70fde4c",
        ),
        (
            "2.1.4",
            "xml",
            "5a89b158ea2f55afb622e953046494efafec0e52548dc47ea70ef14c02a3d1a5",
        ),
        (
            "2.1.5",
            "node",
            "1ee562a5c039ea4c3774f6164adefed0d7d995f46e77b92254a62f11012efe1c",
        ),
        (
            "2.1.6",
            "anthropic",
            "d4308549ade3ec0dff829a24c0f2e0dce2d1ab2ebdce39a80a721f13638d8a14",
        ),
        (
            "2.1.7",
            "openai",
            "6402a1867add7db41afe25bce399e3f68bbacd673ee375b92268022f95b93731",
        ),
        (
            "2.1.8",
            "json",
            "0ec50ad33801eaad0d0102a4c90c0b1b067a0ba927dfdcebb55bbff8d72fa542",
        ),
    ] {
        let args = ["replay", turn, "--store", "older.db", "--json"];
        let report: Value = serde_json::from_str(&memory.0.run(&args).success()).unwrap();
        assert_eq!(
            (&report["form"], &report["hash"]),
            (&json!(form), &json!(hash))
        );
        let printed = memory
            .0
            .run(&["replay", turn, "--store", "older.db", "--internal"])
            .success();
        assert_eq!(
            blake3::hash(printed.as_bytes()).to_hex().as_str(),
            hash,
            "{form}"
        );
    }
}

#[test]
fn x03_what_cannot_be_rebuilt_is_refused_with_the_reason() {
    let memory = Memory::new();
    send(&memory, OutputForm::Markdown, "my sister keeps bees");
    let replay = |turn: &str| memory.0.run(&["--store", "memory.db", "replay", turn]);
    let error = replay("1.1.2").failure(1);
    assert!(error.contains("there is no turn `1.1.2`"), "{error}");
    for wrong in ["1.1", "one", "1.1.1.1", ""] {
        replay(wrong).failure(2);
    }
    let gone = memory.json(&["forget", "--message", "1.1#1", "--yes"]);
    assert_eq!(gone["prompts"], 1);
    let error = replay("1.1.1").failure(1);
    assert!(error.contains("was forgotten"), "{error}");

    let memory = Memory::new();
    send(&memory, OutputForm::Markdown, "an old question");
    let pruned = memory.json(&["vacuum", "--prompts-max-bytes", "0"]);
    assert_eq!(pruned["prompts"], 1);
    let error = memory
        .0
        .run(&["replay", "1.1.1", "--store", "memory.db"])
        .failure(1);
    assert!(error.contains("removed from the archive"), "{error}");
}
