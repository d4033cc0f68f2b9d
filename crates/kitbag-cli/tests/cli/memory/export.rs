//! Taking messages out, so that they can be brought in elsewhere.

use std::fs;

use serde_json::json;

use super::{Memory, talk};
use crate::pipe::leave_after_a_line;

#[test]
fn o06_an_export_is_imported_without_loss() {
    let mut messages = talk();
    messages.push(json!({"sender": "bob", "channel": "web", "text": "odd \u{0}\u{1b}[2J\u{202e} \"text\"\n\n \u{1F600}"}));
    messages.push(json!({"sender": "bob", "channel": "web", "conversation": "r", "text": "recalled", "recalled": true, "role": "tool"}));
    let memory = Memory::of(&messages);
    let output = memory.run(&["export"]);
    assert_eq!(output.stderr, "exported 7 messages\n");
    let exported = output.success();

    let other = Memory::new();
    other.0.write("all.jsonl", &exported);
    other.run(&["import", "all.jsonl"]).success();
    assert_eq!(other.run(&["export"]).success(), exported);
    let lines: Vec<serde_json::Value> = exported
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[..5], talk());
    assert_eq!(lines[5]["text"], messages[5]["text"]);
    assert_eq!(lines[6], messages[6]);
}

#[test]
fn o06_a_part_is_exported_to_a_file_in_one_step() {
    let memory = Memory::talk();
    memory
        .import(&[json!({"sender": "bob", "text": "hello"})])
        .success();
    memory.0.write("out.jsonl", "before");
    let args = [
        "export",
        "out.jsonl",
        "--sender",
        "bob",
        "--channel",
        "import",
    ];
    assert_eq!(memory.run(&args).success(), "");
    let written = fs::read_to_string(memory.0.path().join("out.jsonl")).unwrap();
    assert_eq!(written.lines().count(), 1);
    assert!(written.contains("hello"), "{written}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        memory.run(&["export", "new.jsonl"]).success();
        let file = fs::metadata(memory.0.path().join("new.jsonl")).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
    }
    let error = memory.run(&["export", "no/such/folder.jsonl"]).failure(1);
    assert!(
        error.contains("cannot write `no/such/folder.jsonl`"),
        "{error}"
    );
    assert_eq!(
        memory.run(&["export", "-", "--sender", "none"]).success(),
        ""
    );
}

#[test]
fn x01_an_export_whose_reader_goes_away_is_silent() {
    let text = "word ".repeat(2_000);
    let message = |number: u32| json!({"ref": number, "text": format!("{number} {text}")});
    let messages: Vec<_> = (0..300).map(message).collect();
    let memory = Memory::of(&messages);
    leave_after_a_line(
        memory
            .0
            .command(&["memory", "export", "--store", "memory.db"]),
    );
}

#[test]
fn x01_a_damaged_message_is_named_and_can_be_left_out() {
    let memory = Memory::talk();
    let raw = rusqlite::Connection::open(memory.0.path().join("memory.db")).unwrap();
    raw.execute_batch("UPDATE message SET body = x'fffe' WHERE ref = 'm2'")
        .unwrap();
    drop(raw);
    let error = memory.run(&["export", "out.jsonl"]).failure(1);
    assert!(
        error.contains("the text of message 1.1#2 is not"),
        "{error}"
    );
    assert!(error.contains("hint: `--skip-damaged` exports"), "{error}");
    assert!(!memory.0.path().join("out.jsonl").exists());
    let output = memory.run(&["export", "--skip-damaged"]);
    assert!(
        output.stderr.starts_with("left out: ") && output.stderr.contains("message 1.1#2"),
        "{output:?}"
    );
    let lines: Vec<serde_json::Value> = output
        .success()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut expected = talk();
    expected.remove(1);
    assert_eq!(lines, expected);
}
