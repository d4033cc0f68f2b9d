//! Logs on stderr.

use serde_json::{Value, json};

use crate::run::Folder;

fn folder() -> Folder {
    let folder = Folder::new();
    let chunks = json!([
        {"content": "fn login() {}", "source": "login.rs", "chunk_type": "file", "priority": "HIGH"},
        {"content": "x ".repeat(900), "source": "large.rs", "chunk_type": "file", "priority": "LOW"}
    ]);
    folder.write("chunks.json", chunks.to_string());
    folder
}

const FIT: [&str; 4] = ["fit", "chunks.json", "--budget", "100"];

fn with(args: &[&'static str]) -> Vec<&'static str> {
    [&FIT[..], args].concat()
}

#[test]
fn p11_each_fit_is_logged_with_its_figures() {
    let output = folder().run(&with(&["--log-format", "json"]));
    let lines: Vec<Value> = output
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let event = lines
        .iter()
        .find(|line| line["event"] == "context_compressed")
        .unwrap();
    assert_eq!(event["level"], "DEBUG");
    assert_eq!(
        (&event["chunks_in"], &event["chunks_out"]),
        (&json!(2), &json!(1))
    );
    let (tokens, share) = (&event["tokens"], event["utilization"].as_f64().unwrap());
    assert_eq!(tokens.as_f64().unwrap() / 100.0, share);
    let summary = lines.last().unwrap();
    assert_eq!(summary["level"], "INFO");
    let said = summary["message"].as_str().unwrap();
    assert!(said.contains("1 of 2 chunks"), "{said}");
    output.success();
}

#[test]
fn p11_logs_are_off_unless_they_are_asked_for() {
    let folder = folder();
    let logged = |output: crate::run::Output| output.stderr.contains("context_compressed");
    assert!(!logged(folder.run(&FIT)));
    assert!(logged(folder.run(&with(&["--log", "debug"]))));
    assert!(logged(
        folder.run(&[&["--log", "trace"], &FIT[..]].concat())
    ));
    assert!(!logged(folder.run(&with(&[
        "--log",
        "warn",
        "--log-format",
        "text"
    ]))));
    let debug = [("KITBAG_LOG", "debug")];
    assert!(logged(folder.run_with(&debug, &FIT)));
    assert!(!logged(folder.run_with(&debug, &with(&["--log", "off"]))));
    assert!(!logged(folder.run_with(&[("KITBAG_LOG", "")], &FIT)));
}

#[test]
fn p11_text_logs_have_no_colour() {
    let output = folder().run(&with(&["--log", "debug"]));
    let line = output.stderr.lines().find(|line| line.contains("DEBUG"));
    let line = line.unwrap();
    assert!(
        line.contains("context_compressed") && line.contains("chunks_in=2"),
        "{line}"
    );
    assert!(!output.stderr.contains('\u{1b}'), "{}", output.stderr);
}

#[test]
fn x01_errors_are_lines_of_json_too() {
    let error = folder()
        .run(&[
            "fit",
            "missing\u{9b}.json",
            "--budget",
            "9",
            "--log-format",
            "json",
        ])
        .failure(1);
    let line: Value = serde_json::from_str(&error).unwrap();
    assert_eq!(line["level"], "ERROR");
    assert!(
        line["message"]
            .as_str()
            .unwrap()
            .starts_with("cannot read missing")
    );
    assert!(!error.contains('\u{9b}'), "{error:?}");
}

#[test]
fn x01_an_unknown_level_is_a_usage_error() {
    let folder = folder();
    let error = folder.run_with(&[("KITBAG_LOG", "loud")], &FIT).failure(2);
    assert!(
        error.contains("`loud`") && error.contains("hint: the levels are"),
        "{error}"
    );
    folder.run(&with(&["--log", "loud"])).failure(2);
}
