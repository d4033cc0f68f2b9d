//! Routing in `kitbag ask` and `kitbag chat`: which model answers, and where the choice is told.

use serde_json::Value;

use crate::ask::KEY;
use crate::ask::upstream::{self, Reply, Upstream};
use crate::run::{Folder, Output, finish};

const PROVIDERS: &str = "settings: {model: usual}\nproviders:\n  usual: {kind: script, answers: usual.jsonl}\n  \
    strong: {kind: script, answers: strong.jsonl}\n  cheap: {kind: script, answers: cheap.jsonl}\n";

const RULES: &str = "routing:\n  rules:\n    - {name: code, words: [stack trace], model: strong}\n    \
    - {name: long, longer_than: 500, model: strong/large}\n    - {name: files, attachments: true, model: strong}\n";

const CLASSES: &str = "  classes:\n    deep: {description: design and debugging, model: strong}\n    \
    quick: {description: small talk, model: usual}\n  classifier: {model: cheap}\n";

fn folder(routing: &str) -> Folder {
    let folder = Folder::new();
    folder.write("kitbag.yaml", format!("{PROVIDERS}{routing}"));
    folder.write("usual.jsonl", r#"{"text": "Usual."}"#);
    folder.write("strong.jsonl", r#"{"text": "Strong."}"#);
    let judge = [
        r#"{"when": "locks", "text": "`deep`.", "usage": {"input": 90, "output": 1}}"#,
        r#"{"when": "hello", "text": "deep or quick, who knows"}"#,
        r#"{"when": "broken", "error": "out of order"}"#,
        r#"{"text": "quick"}"#,
    ];
    folder.write("cheap.jsonl", judge.join("\n"));
    folder
}

fn run(folder: &Folder, args: &[&str]) -> Output {
    folder.run(&[&["--store", "sqlite:memory.db"], args].concat())
}

#[test]
fn o11_a_rule_chooses_the_model_and_a_named_model_wins() {
    let folder = folder(RULES);
    assert_eq!(run(&folder, &["ask", "Hello."]).success(), "Usual.\n");
    let asked = run(&folder, &["ask", "Read this stack trace."]);
    assert!(
        asked.stderr.contains(", chosen by rule code\n"),
        "{}",
        asked.stderr
    );
    assert_eq!(asked.success(), "Strong.\n");
    let long = "word ".repeat(200);
    let json = run(&folder, &["ask", &long, "--json"]).success();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&json["text"], &json["model"]),
        (&"Strong.".into(), &"large".into())
    );
    insta::assert_snapshot!(json["route"], @r#"{"by":"rule","model":"strong/large","name":"long","reason":"it has more than 500 characters"}"#);
    let file = folder.write("notes.txt", "Some notes.");
    let file = file.display().to_string();
    let attached = run(&folder, &["ask", "What is it?", "--attach", &file]);
    assert_eq!(attached.success(), "Strong.\n");
    let named = ["ask", "Read this stack trace.", "--model", "usual"];
    assert_eq!(run(&folder, &named).success(), "Usual.\n");
    let turn = run(&folder, &["memory", "history", "1.1.2"]).success();
    assert!(
        turn.contains("route: strong (rule code: the message has `stack trace`)"),
        "{turn}"
    );
}

#[test]
fn o11_a_cheap_model_names_the_class_and_its_cost_is_in_the_record() {
    let folder = folder(&format!("{RULES}{CLASSES}"));
    let asked = run(
        &folder,
        &["ask", "How should the locks be taken?", "--json"],
    );
    let json: Value = serde_json::from_str(&asked.success()).unwrap();
    assert_eq!(json["text"], "Strong.");
    assert_eq!(json["route"]["by"], "class");
    assert_eq!(
        json["usage"]["input"], 90,
        "the classifier is part of the bill"
    );
    let turn = run(&folder, &["memory", "history", "1.1.1"]).success();
    assert!(
        turn.contains("routing: script (cheap), 90 tokens in"),
        "{turn}"
    );
    assert!(
        turn.contains("route: strong (class deep: cheap named it)"),
        "{turn}"
    );
    // A rule that holds costs nothing.
    let json = run(&folder, &["ask", "A stack trace.", "--json"]).success();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["route"]["by"], "rule");
    let status = run(&folder, &["ask", "/status"]).success();
    let told = "each message may be routed: strong by rule code, strong/large by rule long, strong by rule \
                files, cheap names deep (strong) or quick (usual)";
    assert!(status.contains(told), "{status}");
    let model = run(&folder, &["ask", "/model"]).success();
    assert!(model.contains(told), "{model}");
}

#[test]
fn o11_a_classifier_that_talks_nonsense_or_fails_leaves_the_fall_back() {
    let folder_of = |otherwise: &str| folder(&format!("routing:\n{CLASSES}{otherwise}"));
    for (message, problem) in [
        ("hello", "it said `deep or quick, who knows`"),
        ("a broken one", "out of order"),
    ] {
        let usual = folder_of("");
        let asked = run(&usual, &["ask", message]);
        let told = "warning: routing: cheap named no class, so the usual model answers: ";
        assert!(
            asked.stderr.contains(told) && asked.stderr.contains(problem),
            "{}",
            asked.stderr
        );
        assert_eq!(asked.success(), "Usual.\n");
        let otherwise = folder_of("  otherwise: deep\n");
        let json = run(&otherwise, &["ask", message, "--json"]).success();
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["text"], "Strong.");
        assert_eq!(json["route"]["by"], "otherwise");
        assert!(json["route"]["problem"].as_str().unwrap().contains(problem));
    }
}

#[test]
fn o11_a_dry_run_shows_the_choice_and_asks_nobody() {
    let folder = folder(&format!("{RULES}{CLASSES}"));
    std::fs::remove_file(folder.path().join("cheap.jsonl")).unwrap();
    let dry = run(
        &folder,
        &["ask", "A stack trace.", "--no-memory", "--dry-run"],
    );
    assert_eq!(
        dry.stderr,
        "route: strong (rule code: the message has `stack trace`)\n"
    );
    let dry = run(&folder, &["ask", "Hello.", "--no-memory", "--dry-run"]);
    assert_eq!(
        dry.stderr,
        "route: the usual model (usual: cheap would be asked to choose among deep, quick)\n"
    );
}

#[test]
fn o11_a_found_file_routes_no_message_to_a_provider_that_its_user_would_not_ask() {
    let upstream = Upstream::answering(|_| Reply::stream(upstream::CHAT));
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join(".config/kitbag")).unwrap();
    let own = "settings: {model: mine}\nproviders: {mine: {kind: script, answers: mine.jsonl}}\n";
    folder.write(".config/kitbag/kitbag.yaml", own);
    folder.write("mine.jsonl", r#"{"text": "Mine."}"#);
    let classes =
        "  classes: {a: {description: x, model: mine}, b: {description: y, model: mine}}\n";
    for (routing, told) in [
        (
            "routing:\n  rules: [{model: openai/gpt-5.1}]\n".to_owned(),
            "openai/gpt-5.1 (rule: it holds for every message) cannot be asked",
        ),
        (
            format!("routing:\n{classes}  classifier: {{model: openai/gpt-5.1}}\n"),
            "openai/gpt-5.1 named no class",
        ),
    ] {
        folder.write("kitbag.yaml", routing);
        let mut command = folder.command(&["--store", "sqlite:memory.db", "ask", "Hello."]);
        command
            .env("OPENAI_API_KEY", KEY)
            .env("OPENAI_BASE_URL", upstream.address())
            .env("NO_PROXY", "127.0.0.1");
        let asked = finish(command, None);
        assert!(asked.stderr.contains(told), "{}", asked.stderr);
        assert!(
            asked.stderr.contains("is named by a file of this folder"),
            "{}",
            asked.stderr
        );
        assert_eq!(asked.success(), "Mine.\n");
    }
    assert_eq!(upstream.requests(), Vec::<String>::new());
}

#[test]
fn o11_a_rule_that_cannot_be_read_is_told_with_its_line_and_holds_for_nothing() {
    let folder =
        folder("routing:\n  rules:\n    - {pattern: '(', model: strong}\n  otherwise: x\n");
    let asked = run(&folder, &["ask", "Hello."]);
    for told in [
        "routing.rules[0].pattern: `(` is no regular expression: unclosed group",
        "routing.otherwise: there is no class `x`",
    ] {
        assert!(asked.stderr.contains(told), "{}", asked.stderr);
    }
    assert_eq!(asked.success(), "Usual.\n");
}
