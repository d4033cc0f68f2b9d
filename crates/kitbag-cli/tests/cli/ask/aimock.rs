//! aimock, which answers as three APIs do: streams and faults that somebody else made.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::key::assert_key_is_nowhere;
use super::{MODULES, ask_served, served_at};
use crate::run::Folder;

/// Chunks are twenty characters long. Those of a stream that is cut come one by one.
const FIXTURES: &str = r#"{"fixtures": [
  {"match": {"userMessage": "Where?"},
   "response": {"content": "In Porto, by the river, where the bees are.", "usage": {"prompt_tokens": 90, "completion_tokens": 7}}},
  {"match": {"userMessage": "And when?"}, "response": {"content": "In May.", "reasoning": "Bees sleep."}},
  {"match": {"userMessage": "limit"},
   "response": {"error": {"message": "Rate limited", "type": "rate_limit_error"}, "status": 429, "retryAfter": 1}},
  {"match": {"userMessage": "refuse"},
   "response": {"error": {"message": "Out of order", "type": "api_error"}, "status": 500}},
  {"match": {"userMessage": "cut"}, "latency": 20, "truncateAfterChunks": 20,
   "response": {"content": "In Porto, by the river, where the bees are, and where they stay until it is May, when they fly out to the gardens on the other side, and come home in the evening. There they sit on the roof of the house until it is dark, and sing of the flowers that they have seen, of the river and of the boats on it, of the children at the gate and of the dog that looks after them, and of the rain that is to come before the week ends, as it does in each week of the spring in that town."}},
  {"match": {"userMessage": "drop"}, "response": {"content": "no"}, "chaos": {"disconnectRate": 1}},
  {"match": {"userMessage": "garble"}, "response": {"content": "no"}, "chaos": {"malformedRate": 1}}
]}"#;

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn o07_aimock_as_anthropic() {
    talk_with("anthropic", "");
}

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn o07_aimock_as_chat_completions() {
    talk_with("openai", "/v1");
}

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn o07_aimock_as_responses() {
    talk_with("responses", "/v1");
}

fn talk_with(kind: &str, path: &str) {
    let aimock = Aimock::start();
    let folder = served_at(&format!("{}{path}", aimock.address), kind);
    let told = ask_served(&folder, "Where?", &[]);
    assert!(told.stderr.contains("90 tokens in, 7 out"), "{told:?}");
    assert_key_is_nowhere(&folder, &told);
    assert_eq!(
        told.success(),
        "In Porto, by the river, where the bees are.\n"
    );
    let args = [
        "--store",
        "sqlite:memory.db",
        "chat",
        "--config",
        "served.yaml",
    ];
    let chat = folder.run_with_stdin(&args, b"Where?\nAnd when?\n");
    assert_eq!(
        chat.success(),
        "In Porto, by the river, where the bees are.\nIn May.\n"
    );

    let faults = [
        ("cut", "the answer was cut off"),
        ("limit", "answered 429: Rate limited"),
        ("refuse", "answered 500: Out of order"),
        ("drop", "cannot connect to"),
        ("garble", "the answer cannot be read"),
    ];
    for (fault, told) in faults {
        // Of two messages that nobody answered aimock sees one.
        let output = ask_served(&folder, fault, &["--conversation", fault]);
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(output.stderr.contains(told), "{output:?}");
        assert_eq!(
            output.stdout.starts_with("In Porto,"),
            fault == "cut",
            "{output:?}"
        );
        assert_key_is_nowhere(&folder, &output);
        let again = ask_served(&folder, "And when?", &["--conversation", fault]);
        assert_eq!(again.success(), "In May.\n");
    }
    let export = ["--store", "sqlite:memory.db", "memory", "export"];
    let kept = folder.run(&export).success();
    for (fault, _) in faults {
        let said = format!(r#""text":"{fault}""#);
        assert_eq!(kept.matches(&said).count(), 1, "{fault}: {kept}");
    }
}

/// Its program, which ends with this value.
struct Aimock {
    address: String,
    child: Child,
    _folder: Folder,
}

impl Aimock {
    fn start() -> Self {
        let modules = std::env::var(MODULES).unwrap_or_else(|_| {
            panic!("no aimock: run the tests with `cargo xtask test`, or set {MODULES} to what `cargo xtask npm` prints")
        });
        let program = PathBuf::from(modules).join("@copilotkit/aimock/dist/cli.js");
        let folder = Folder::new();
        let fixtures = folder.write("fixtures.json", FIXTURES);
        let mut child = Command::new("node")
            .arg(program)
            .args(["--port", "0", "--fixtures"])
            .arg(fixtures)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map(Result::unwrap);
        let address = lines.find_map(|line| Some(line.split_once("listening on ")?.1.to_owned()));
        // It would stop at a pipe that nobody reads.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            address: address.unwrap(),
            child,
            _folder: folder,
        }
    }
}

impl Drop for Aimock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
