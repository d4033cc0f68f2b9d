//! Looks for the key in every place that it could have got to.

use std::fs;
use std::path::Path;

use super::KEY;
use crate::run::{Folder, Output};

/// The key is neither in what was printed, with all of its logs, nor in any file, nor in what people
/// get out of the store: messages, archived prompts, their ledgers.
#[track_caller]
pub(super) fn assert_key_is_nowhere(folder: &Folder, printed: &Output) {
    assert_not_in(&printed.stdout, "stdout");
    assert_not_in(&printed.stderr, "stderr");
    search_files(folder.path());
    let store = ["--store", "sqlite:memory.db"];
    if !folder.path().join("memory.db").exists() {
        return;
    }
    let exported = folder.run(&[&store[..], &["memory", "export"]].concat());
    assert_not_in(&exported.success(), "the messages");
    // Where nothing was sent, there is no prompt to look at.
    let archived = folder.run(&[&store[..], &["replay", "1.1.1", "--json"]].concat());
    assert_not_in(&archived.stdout, "the archived prompt and its ledger");
}

#[track_caller]
fn assert_not_in(text: &str, place: &str) {
    assert!(!text.contains(KEY), "the key is in {place}: {text}");
}

#[track_caller]
fn search_files(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search_files(&path);
        } else if path.file_name().unwrap() != "key" {
            let bytes = fs::read(&path).unwrap();
            let is_there = bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes());
            assert!(!is_there, "the key is in {}", path.display());
        }
    }
}
