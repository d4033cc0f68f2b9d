//! Reports a failure of memory once in a session. A mark in the cache folder remembers the report.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kitbag::hook::HookEvent;
use kitbag::workspace::cache::default_folder;

use crate::failure::Failure;

/// The age at which marks are removed: not every agent reports the end of a session.
const OLDEST: Duration = Duration::from_hours(7 * 24);

/// The line that reports a failure, or `None` if the session has seen one already.
pub(super) fn once(event: &HookEvent, failure: Failure) -> Option<String> {
    let is_told = mark(event).is_some_and(|mark| {
        let folder = mark.parent().map_or(Ok(()), |folder| {
            forget_old(folder);
            fs::create_dir_all(folder)
        });
        // `create_new` decides between hooks that run at the same time: only one of them makes the mark.
        let made = folder.and_then(|()| OpenOptions::new().write(true).create_new(true).open(mark));
        made.is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    });
    (!is_told).then(|| format!("kitbag adds no memory: {}", failure.into_line()))
}

/// Removes the mark when the session ends.
pub(super) fn forget(event: &HookEvent) {
    if let Some(mark) = mark(event) {
        // Usually there is none.
        drop(fs::remove_file(mark));
    }
}

/// Removes old marks. One that cannot be examined stays.
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
    // The name of a session comes from the agent, and must not lead out of the folder.
    let name: String = event.session.chars().filter(is_plain).take(64).collect();
    // Sessions without a usable name share one mark. A missing notice is better than one for each prompt.
    let name = match name.is_empty() {
        true => "unnamed".to_owned(),
        false => name,
    };
    Some(default_folder()?.join("hooks").join(name))
}
