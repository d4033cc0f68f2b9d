//! What `--json` says, and the forms of the prompt.

use serde_json::Value;

use super::tree::{Tree, chunk, repository, text, tree};

const FILES: [(&str, &str); 3] = [
    ("src/login.rs", "pub fn login() {\n    redirect()\n}\n"),
    ("src/order.rs", "pub fn order() {}\n"),
    (
        "tests/login.rs",
        "#[test]\nfn login_works() {\n    login()\n}\n",
    ),
];

#[test]
fn x01_the_json_has_what_was_decided() {
    let pack = repository(&FILES).json(&["fix the login redirect", "--budget", "1k"]);
    let keys: Vec<&String> = pack.as_object().unwrap().keys().collect();
    for key in [
        "prompt",
        "tokens",
        "budget",
        "tokenizer",
        "ranked",
        "chunks",
        "excluded",
        "problems",
        "utilization",
        "bound",
        "redacted",
        "task_type",
        "inferred_from",
    ] {
        assert!(keys.iter().any(|k| *k == key), "{key} is not in {keys:?}");
    }
    assert_eq!(pack["budget"], 1_000);
    let share = pack["tokens"].as_f64().unwrap() / 1_000.0;
    assert_eq!(pack["utilization"].as_f64().unwrap(), share);
    assert!((0.0..=1.0).contains(&pack["bound"].as_f64().unwrap()));
    let best = &pack["ranked"][0];
    assert_eq!(best["source"], "src/login.rs");
    let sum = |scored: &Value| -> i64 {
        let parts = scored["parts"].as_array().unwrap();
        parts
            .iter()
            .map(|part| part["value"].as_i64().unwrap())
            .sum()
    };
    assert_eq!(best["score"], sum(best));
    let login = chunk(&pack, "src/login.rs");
    assert_eq!(login["score"], sum(login));
    assert_eq!(login["chunk_type"], "file");
    assert_eq!(login["level"], "full");
    assert_eq!(login["lines"], serde_json::json!([[1, 3]]));
    assert!(login["tokens"].as_u64().unwrap() > 5);
    assert!(login["reason"]["kind"].is_string());
}

#[test]
fn p06_scores_fall_in_ranked_and_every_part_has_a_name() {
    let pack = repository(&FILES).json(&["fix the login redirect"]);
    let ranked = pack["ranked"].as_array().unwrap();
    let scores: Vec<i64> = ranked
        .iter()
        .map(|r| r["score"].as_i64().unwrap())
        .collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    for part in ranked
        .iter()
        .flat_map(|ranked| ranked["parts"].as_array().unwrap())
    {
        assert!(!part["name"].as_str().unwrap().is_empty());
    }
    let hit = chunk(&pack, "src/login.rs");
    assert_eq!(hit["parts"][0]["name"], "base");
}

/// What is told of a folder must not depend on where or when it is.
#[test]
fn p02_the_json_is_the_same_in_another_folder_and_process() {
    let args = ["fix the login redirect", "--json"];
    let told = |tree: &Tree| tree.pack(&args).success();
    let (one, other) = (repository(&FILES), repository(&FILES));
    let first = told(&one);
    assert_eq!(first, told(&one), "warm");
    assert_eq!(first, told(&other), "elsewhere");
    for threads in ["1", "4"] {
        let mut command = other.command(&args);
        command
            .env("RAYON_NUM_THREADS", threads)
            .stdin(std::process::Stdio::null());
        let output = crate::run::finish(command, None);
        assert_eq!(first, output.success(), "{threads} threads");
    }
    let root = one.path();
    let root = root.to_str().unwrap();
    assert!(
        !first.contains(root) && !first.contains("project/"),
        "{first}"
    );
    let elsewhere = one.pack(&[&args[..], &["--root", root]].concat()).success();
    assert_eq!(first, elsewhere, "with an absolute root");
}

#[test]
fn p10_every_form_is_within_the_budget_and_has_the_code() {
    let tree = repository(&FILES);
    for form in ["prompt", "markdown", "xml", "json", "anthropic", "openai"] {
        let args = [
            "fix the login redirect",
            "--budget",
            "600",
            "--format",
            form,
        ];
        let printed = tree.pack(&args).success();
        let pack = tree.json(&args);
        assert_eq!(
            printed.trim_end(),
            text(&pack, "prompt").trim_end(),
            "{form}"
        );
        assert!(pack["tokens"].as_u64().unwrap() <= 600);
        let code = "pub fn login() {\n    redirect()\n}";
        if matches!(form, "prompt" | "markdown" | "xml") {
            assert!(printed.contains(code), "{form}: {printed}");
        } else {
            let parsed: Value = serde_json::from_str(&printed).unwrap();
            let holds = strings(&parsed).iter().any(|text| text.contains(code));
            assert!(holds, "{form}: {printed}");
        }
    }
}

/// All strings in a JSON value.
fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn p10_the_prompt_ends_in_the_request() {
    let prompt = tree(&FILES)
        .pack(&["fix the login redirect", "--task-type", "implement"])
        .success();
    let place = |part: &str| {
        prompt
            .find(part)
            .unwrap_or_else(|| panic!("{part}: {prompt}"))
    };
    assert!(
        place("src/login.rs") < place("## Request\nfix the login redirect"),
        "{prompt}"
    );
    assert!(
        place("```rust\npub fn login()") < place("## Request"),
        "{prompt}"
    );
}
