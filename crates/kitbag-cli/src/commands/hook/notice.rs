//! What went wrong with memory, told once in a session: a mark in the cache folder says that it was.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::PathBuf;

use kitbag::hook::HookEvent;
use kitbag::workspace::cache::default_folder;

use crate::failure::Failure;

/// The line that tells a failure; nothing if the session was told of one already.
pub(super) fn once(event: &HookEvent, failure: Failure) -> Option<String> {
    let is_told = mark(event).is_some_and(|mark| {
        let folder = mark.parent().map_or(Ok(()), fs::create_dir_all);
        let made = folder.and_then(|()| OpenOptions::new().write(true).create_new(true).open(mark));
        made.is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    });
    (!is_told).then(|| format!("kitbag adds no memory: {}", failure.into_line()))
}

/// Takes the mark away when the session ends.
pub(super) fn forget(event: &HookEvent) {
    if let Some(mark) = mark(event) {
        // Mostly there is none.
        drop(fs::remove_file(mark));
    }
}

fn mark(event: &HookEvent) -> Option<PathBuf> {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let name: String = event.session.chars().filter(is_plain).take(64).collect();
    Some(default_folder()?.join("hooks").join(name))
}
