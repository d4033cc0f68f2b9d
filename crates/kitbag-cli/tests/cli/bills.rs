//! What a provider billed, against what was counted and expected.

use serde_json::{Value, json};

use crate::run::{Folder, Output};

const MODEL: &str = "claude-sonnet-4-5";

/// A folder whose provider is a script under the name of a model that is counted by an estimate.
fn folder() -> Folder {
    let folder = Folder::new();
    let config =
        format!("providers: {{demo: {{kind: script, answers: answers.jsonl, model: {MODEL}}}}}\n");
    folder.write("kitbag.yaml", config);
    folder
}

fn bill(folder: &Folder, input: u64, cache_read: u64) {
    let usage = json!({"input": input, "cache_read": cache_read, "output": 2});
    let answer = json!({"text": "Noted.", "usage": usage});
    folder.write("answers.jsonl", answer.to_string());
}

fn run(folder: &Folder, args: &[&str]) -> Output {
    folder.run(&[&["--store", "sqlite:memory.db"], args].concat())
}

fn story() -> String {
    "Bees fly out in spring, and honey is made in summer. ".repeat(120)
}

#[test]
fn o07_estimates_say_from_how_many_answers_they_are() {
    let folder = folder();
    bill(&folder, 0, 0);
    let ask = |sender: &str| {
        let args = ["ask", &story(), "--sender", sender, "--json"];
        let report = run(&folder, &args).success();
        serde_json::from_str::<Value>(&report).unwrap()
    };
    let before = run(&folder, &["models", MODEL]).success();
    assert!(before.contains("o200k_base × 1.3 ± 15 %;"), "{before}");
    let counted = ask("zero")["counted"].as_u64().unwrap();
    // A usage of zero is none.
    assert_eq!(run(&folder, &["models", MODEL]).success(), before);
    bill(&folder, counted * 1_150 / 1_300, 0);
    for sender in ["ann", "ben", "cem"] {
        assert_eq!(ask(sender)["counted"], counted);
    }
    let after = run(&folder, &["models", MODEL]).success();
    assert!(
        after.contains("o200k_base × 1.15 ± 6 %, from 3 answers; × 1.3 before any answer"),
        "{after}"
    );
    let recounted = ask("dan")["counted"].as_u64().unwrap();
    assert!(
        recounted.abs_diff(counted * 1_150 / 1_300) < 10,
        "{recounted}"
    );
    let args = [
        "context",
        "hello",
        "--sender",
        "new",
        "--explain",
        "--model",
        MODEL,
    ];
    let explained = run(&folder, &args);
    let note = "counts are estimates, o200k_base × 1.150 ± 5 %, from 4 answers";
    assert!(explained.stderr.contains(note), "{}", explained.stderr);
    explained.success();
}

#[test]
fn o07_a_cache_that_read_less_than_expected_is_told() {
    let folder = folder();
    bill(&folder, 1_700, 0);
    run(&folder, &["ask", &story()]).success();
    bill(&folder, 1_750, 512);
    let answer = run(&folder, &["ask", "And now?", "--json"]);
    let told = answer.stderr.clone();
    let report: Value = serde_json::from_str(&answer.success()).unwrap();
    let expected = report["predicted_cache_read"].as_u64().unwrap();
    assert!((1_500..2_500).contains(&expected), "{report}");
    assert_eq!(report["usage"]["cache_read"], 512);
    let (thousands, rest) = (expected / 1_000, expected % 1_000);
    let note = format!("note: 512 of {thousands},{rest:03} expected from the cache\n");
    assert!(told.contains(&note), "{told}");
}

#[test]
fn p11_the_events_of_a_turn_are_logged() {
    let folder = folder();
    bill(&folder, 1_700, 0);
    let args = ["ask", &story(), "--log-format", "json"];
    let answer = run(&folder, &args);
    let events: Vec<Value> = answer
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for name in [
        "provider_chosen",
        "model_chosen",
        "recalled",
        "context_compressed",
        "inference",
    ] {
        assert!(events.iter().any(|event| event["event"] == name), "{name}");
    }
    let chosen = events
        .iter()
        .find(|event| event["event"] == "provider_chosen");
    assert_eq!(chosen.unwrap()["because"], "the only one");
    answer.success();
}
