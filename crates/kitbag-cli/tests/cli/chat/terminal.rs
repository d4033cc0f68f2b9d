//! A chat at a terminal: keys, and what they bring back.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ExitStatus};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use super::{history, scripted};
use crate::run::Folder;

const UP: &str = "\x1b[A";
const CTRL_D: &str = "\x04";

#[test]
fn o08_the_arrow_keys_bring_back_what_is_remembered_and_nothing_that_was_forgotten() {
    let folder = scripted();
    let mut chat = Terminal::chat(&folder);
    chat.types("home?\r", "In Porto.");
    chat.types("I live in Bonn.\r", "Noted.");
    chat.types("/forget yes about Bonn\r", "forgot 1 message");
    // Neither the command nor the message that is gone: the message before them.
    chat.types(&format!("{UP}\r"), "In Porto.");
    assert!(chat.end().success());
    let mut chat = Terminal::chat(&folder);
    chat.types("/facts\r", "nothing is known");
    assert!(chat.end().success());
    let mut chat = Terminal::chat(&folder);
    chat.types(&format!("{UP}\r"), "In Porto.");
    assert!(chat.end().success());
    let said = history(&folder, "1.1");
    assert_eq!(said.matches("home?").count(), 3, "{said}");
    assert_nowhere(folder.path(), b"Bonn");
    assert_nowhere(folder.path(), b"/facts");
}

#[test]
fn o08_a_message_that_is_left_in_the_middle_is_not_sent() {
    let folder = scripted();
    let mut chat = Terminal::chat(&folder);
    chat.types("\"\"\"\r", ". ");
    chat.types("one\r", ". ");
    assert!(chat.end().success());
    let kept = ["--store", "sqlite:memory.db", "memory", "history"];
    assert_eq!(folder.run(&kept).success(), "");
}

#[test]
fn t08_a_tool_that_writes_is_asked_about_at_the_terminal() {
    let folder = scripted();
    let note = |when: &str, key: &str| {
        let call = json!({"id": "a", "name": "remember", "arguments": {"key": key, "text": "tea"}});
        let entry = json!({"when": when, "tool_calls": [call], "then": [{"text": "Done."}]});
        entry.to_string() + "\n"
    };
    let keys = ["first", "second", "third", "fourth", "fifth"];
    let script: String = keys.iter().map(|key| note(key, key)).collect();
    folder.write("answers.jsonl", script);
    let mut chat = Terminal::chat_with(&folder, &["--tools"]);
    let question = "call it? [y/N/always] ";
    // Everything but a yes is a no: an empty line, and Ctrl-C.
    chat.types("first\r", question);
    chat.types("\r", "Done.");
    chat.types("second\r", question);
    chat.types("\x03", "Done.");
    chat.types("third\r", question);
    chat.types("y\r", "Done.");
    chat.types("fourth\r", question);
    chat.types("always\r", "Done.");
    chat.types("fifth\r", "Done.");
    assert!(chat.end().success());
    let facts = ["--store", "sqlite:memory.db", "memory", "facts", "list"];
    let facts = folder.run(&facts).success();
    let known: Vec<&str> = keys.into_iter().filter(|key| facts.contains(key)).collect();
    assert_eq!(known, ["third", "fourth", "fifth"], "{facts}");
}

/// No file below the folder holds these bytes.
fn assert_nowhere(folder: &Path, bytes: &[u8]) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            assert_nowhere(&path, bytes);
        } else {
            let content = fs::read(&path).unwrap();
            let is_there = content.windows(bytes.len()).any(|window| window == bytes);
            assert!(!is_there, "{}", path.display());
        }
    }
}

/// A chat whose keys are pressed by a test.
struct Terminal {
    keys: File,
    child: Child,
}

impl Terminal {
    fn chat(folder: &Folder) -> Self {
        Self::chat_with(folder, &[])
    }

    fn chat_with(folder: &Folder, args: &[&str]) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap();
        let screen = OpenOptions::new()
            .read(true)
            .write(true)
            .open(name.to_str().unwrap())
            .unwrap();
        let mut command = folder.command(&["--store", "sqlite:memory.db", "chat"]);
        command.args(args);
        command
            .env("XDG_DATA_HOME", folder.path().join("data"))
            .env("TERM", "xterm")
            .stdin(screen.try_clone().unwrap())
            .stdout(screen);
        let mut chat = Self {
            keys: keys.into(),
            child: command.spawn().unwrap(),
        };
        chat.reads("> ");
        chat
    }

    /// Presses keys, and waits for this and for the next prompt.
    fn types(&mut self, keys: &str, expected: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.reads(expected);
        if !expected.ends_with(' ') {
            self.reads("> ");
        }
    }

    fn reads(&mut self, expected: &str) {
        let mut read = Vec::new();
        while !read.ends_with(expected.as_bytes()) {
            let mut byte = [0];
            self.keys.read_exact(&mut byte).unwrap();
            read.push(byte[0]);
        }
    }

    fn end(mut self) -> ExitStatus {
        self.keys.write_all(CTRL_D.as_bytes()).unwrap();
        self.child.wait().unwrap()
    }
}
