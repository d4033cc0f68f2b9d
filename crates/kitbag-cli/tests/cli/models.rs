//! `kitbag models`: what is known of models, in columns and in detail.

use serde_json::Value;

use crate::run::Folder;

const KEY: &str = "sk-kitbag-test-0123456789abcdef";

#[test]
fn o07_all_models_fit_on_a_hundred_columns() {
    let folder = Folder::new();
    let printed = folder.run(&["models"]).success();
    assert!(printed.lines().count() > 130, "{printed}");
    for line in printed.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    let some = folder.run(&["models", "haiku"]).success();
    assert!(
        some.lines().skip(1).all(|line| line.contains("haiku")),
        "{some}"
    );
    assert!(some.lines().count() > 2, "{some}");
}

#[test]
fn o07_one_model_is_told_with_steps_sources_and_whether_there_is_a_key() {
    let folder = Folder::new();
    folder.write(
        "mine.yaml",
        "providers: {mine: {kind: openai, base_url: 'http://127.0.0.1:9', model: m}}\n",
    );
    let args = ["models", "claude-haiku-5-5", "--config", "mine.yaml"];
    let told = folder
        .run_with(&[("ANTHROPIC_API_KEY", KEY)], &args)
        .success();
    for part in [
        "ANTHROPIC_API_KEY, set",
        "above 100,000 tokens in, × 5 in and × 5 out",
        "a third party",
        "127.0.0.1:9",
        "claude-code  claude-code  -                  -                  its own login",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let json = folder
        .run_with(
            &[("ANTHROPIC_API_KEY", KEY)],
            &[&args[..], &["--json"]].concat(),
        )
        .success();
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["models"][0]["price"]["steps"][0]["above"], 100_000);
    assert_eq!(report["providers"][0]["name"], "mine");
    for printed in [told, json] {
        assert!(!printed.contains(KEY), "{printed}");
    }
}

#[test]
fn o07_an_unknown_model_is_an_error_with_a_hint() {
    let error = Folder::new().run(&["models", "nonsense-x"]).failure(1);
    assert_eq!(
        error,
        "error: unknown model `nonsense-x`\nhint: `kitbag models` lists all models\n"
    );
}
