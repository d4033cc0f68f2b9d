//! `kitbag replay`: a prompt made again.

use jiff::{SignedDuration, Timestamp};
use kitbag::core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag::core::tokens::Tokens;
use kitbag::store::{Incoming, Learned, Location, SentPrompt, Store};
use kitbag::tokens::{Counter, Vocabulary};
use serde_json::{Value, json};

use super::Memory;

/// Sends a prompt for turn 1.1.1, and gives it back.
fn send(memory: &Memory, request: &str) -> String {
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
        let draft = Draft::new(request);
        let settings = AssemblySettings::new(OutputForm::Markdown, Tokens(1_000));
        let counter = Counter::for_vocabulary(Vocabulary::O200kBase).unwrap();
        let assembly = assemble(&draft, Vec::new(), &settings, &counter, None).unwrap();
        let body = assembly.body.clone();
        store
            .sent(
                &lease,
                SentPrompt::new(draft, settings, assembly, body.as_str()),
                now,
            )
            .await
            .unwrap();
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
    let body = send(&memory, "is this \u{1b}[31m kept exactly?\t\n");
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
fn x03_what_cannot_be_rebuilt_is_refused_with_the_reason() {
    let memory = Memory::new();
    send(&memory, "my sister keeps bees");
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
    send(&memory, "an old question");
    let pruned = memory.json(&["vacuum", "--prompts-max-bytes", "0"]);
    assert_eq!(pruned["prompts"], 1);
    let error = memory
        .0
        .run(&["replay", "1.1.1", "--store", "memory.db"])
        .failure(1);
    assert!(error.contains("removed from the archive"), "{error}");
}
