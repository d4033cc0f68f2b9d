//! A reader that goes away, as `head` does.

use std::io::{BufRead, BufReader, Read};
use std::process::Command;

use serde_json::json;

use crate::run::Folder;

#[test]
fn x01_a_closed_pipe_is_met_with_silence() {
    let folder = Folder::new();
    let line = "the quick brown fox jumps over the lazy dog\n";
    let chunk = json!([{"content": line.repeat(50_000), "source": "a.txt", "chunk_type": "file",
        "priority": "CRITICAL"}]);
    folder.write("chunks.json", chunk.to_string());
    for form in [&[][..], &["--json"]] {
        let args = [&["fit", "chunks.json", "--budget", "2000k"], form].concat();
        leave_after_a_line(folder.command(&args));
    }
}

/// Reads a line of what the command prints, goes away, and expects that it ends without a word.
/// More is to come than a pipe holds, so that it is still writing.
#[track_caller]
pub(crate) fn leave_after_a_line(mut command: Command) {
    let mut child = command.spawn().unwrap();
    drop(child.stdin.take());
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert!(!first.is_empty(), "{command:?}");
    drop(stdout);
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(said, "", "{command:?}");
    assert_eq!(child.wait().unwrap().code(), Some(0), "{command:?}");
}
