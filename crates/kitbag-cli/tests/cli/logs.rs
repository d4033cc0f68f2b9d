//! Logs on stderr.

use serde_json::{Value, json};

use crate::pack::tree::tree;
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

/// The keys of a JSON object, each of which stands there once.
struct UniqueKeys(Vec<String>);

impl<'de> serde::Deserialize<'de> for UniqueKeys {
    fn deserialize<D: serde::Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> serde::de::Visitor<'de> for Keys {
            type Value = UniqueKeys;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut fields: A,
            ) -> Result<UniqueKeys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, _)) = fields.next_entry::<String, serde::de::IgnoredAny>()? {
                    if keys.contains(&key) {
                        let message = format!("`{key}` stands there twice");
                        return Err(serde::de::Error::custom(message));
                    }
                    keys.push(key);
                }
                Ok(UniqueKeys(keys))
            }
        }
        json.deserialize_map(Keys)
    }
}

#[test]
fn p11_every_line_is_json_with_unique_keys() {
    let tree = tree(&[
        ("src/login.rs", "pub fn login() {}\n"),
        (
            "src/keys.rs",
            "const TOKEN: &str = \"ghp_0123456789abcdefghijABCDEFGHIJ012345\"; // login\n",
        ),
        ("Cargo.lock", "login\n"),
        ("package.json", "{\"dependencies\": {"),
    ]);
    let runs: [(&[&str], i32); 9] = [
        (&["pack", "fix the login", "--budget", "120"], 0),
        (
            &["pack", "fix the login", "--model", "claude-sonnet-4-5"],
            0,
        ),
        (&["pack", "--exclude", "[z-"], 0),
        (&["explain", "fix the login"], 0),
        (&["pack", "--pin", "gone.rs", "fix it"], 2),
        (&["pack", "--budget", "many"], 2),
        (&["pack", "--no-such-option"], 2),
        (&["expand", "gone.rs"], 1),
        (&[], 2),
    ];
    for (args, code) in runs {
        for json in [
            &["--log-format", "json"][..],
            &["--log-format=json", "--log", "trace"],
        ] {
            let output = tree.run(&[args, json].concat());
            assert_eq!(output.code, Some(code), "{output:?}");
            if args.first() != Some(&"explain") {
                assert_ne!(output.stderr, "", "{args:?}");
            }
            for line in output.stderr.lines() {
                let keys: UniqueKeys = serde_json::from_str(line)
                    .unwrap_or_else(|error| panic!("{args:?}: {error}: {line}"));
                for key in ["level", "message"] {
                    let is_event = keys.0.iter().any(|key| key == "event");
                    let has = keys.0.iter().any(|k| k == key);
                    assert!(has || is_event, "{key}: {line}");
                }
            }
        }
    }
}

#[test]
fn x01_a_usage_error_has_its_hint_apart() {
    let args = ["pack", "--budgett", "8k", "--log-format", "json"];
    let error = folder().run(&args).failure(2);
    let line: Value = serde_json::from_str(&error).unwrap();
    assert_eq!(line["level"], "ERROR");
    let text = |key: &str| line[key].as_str().unwrap().to_owned();
    assert!(
        text("message").starts_with("unexpected argument '--budgett'"),
        "{line}"
    );
    assert!(text("hint").contains("'--budget'"), "{line}");
    // What stands after `--` is no option.
    let args = ["pack", "--budgett", "--", "--log-format", "json"];
    let error = folder().run(&args).failure(2);
    assert!(error.starts_with("error: "), "{error}");
}
