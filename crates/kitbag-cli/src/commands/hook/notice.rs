//! Says once in a session that memory failed: a mark in the cache folder remembers that it was said.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kitbag::hook::HookEvent;
use kitbag::workspace::cache::default_folder;

use crate::failure::Failure;

/// Not every agent tells when a session ends, so that marks are taken away when they are this old.
const OLDEST: Duration = Duration::from_hours(7 * 24);

/// The line that tells a failure; nothing if the session was told of one already.
pub(super) fn once(event: &HookEvent, failure: Failure) -> Option<String> {
    let is_told = mark(event).is_some_and(|mark| {
        let folder = mark.parent().map_or(Ok(()), |folder| {
            forget_old(folder);
            fs::create_dir_all(folder)
        });
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

/// Takes old marks away. One that cannot be looked at stays.
fn forget_old(folder: &Path) {
    for mark in fs::read_dir(folder).into_iter().flatten().flatten() {
        let made = mark.metadata().and_then(|it| it.modified()).ok();
        let age = made.and_then(|made| made.elapsed().ok());
        if age.is_some_and(|age| age > OLDEST) {
            drop(fs::remove_file(mark.path()));
        }
    }
}

fn mark(event: &HookEvent) -> Option<PathBuf> {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let name: String = event.session.chars().filter(is_plain).take(64).collect();
    Some(default_folder()?.join("hooks").join(name))
}
