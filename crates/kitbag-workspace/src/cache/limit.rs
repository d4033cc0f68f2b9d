//! Keeps the folder within its limit, and in few files.
//!
//! What was not used for longest goes first. Other processes may do the same at once: what is gone
//! already is no problem, and what both have merged is merged again later.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::entry;
use super::segment::{self, Segment, UNFINISHED, Unwritten};

/// Deletes the segments that were not used for longest until four fifths of the limit are left, if
/// it is passed; merges small segments if there are many; removes what crashed runs left behind.
pub(super) fn keep(folder: &Path, max_bytes: u64) -> io::Result<()> {
    remove_abandoned(folder);
    let (mut segments, damaged) = segment::all_in(folder);
    // They can never be read again, and would count toward the limit.
    for path in damaged {
        remove(&path)?;
    }
    let mut total: u64 = segments.iter().map(|segment| segment.size).sum();
    if total > max_bytes {
        // The path breaks ties: several processes then delete the same segments first.
        segments.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
        // Down to four fifths, or the next flush would have to delete again.
        while total > max_bytes / 5 * 4 && !segments.is_empty() {
            let oldest = segments.remove(0);
            total -= oldest.size;
            close_and_remove(oldest)?;
        }
    }
    if segments.len() > MANY {
        // The smallest ones: merging them copies the fewest bytes.
        segments.sort_by(|a, b| (a.size, &a.path).cmp(&(b.size, &b.path)));
        segments.truncate(MANY / 2);
        merge(folder, segments)?;
    }
    Ok(())
}

/// Each costs a few system calls whenever a cache is opened.
const MANY: usize = 32;

/// Unfinished files are this old only if nobody will finish them.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

fn merge(folder: &Path, segments: Vec<Segment>) -> io::Result<()> {
    let mut merged = Unwritten::default();
    for (key, bytes) in segments.iter().flat_map(Segment::entries) {
        // A damaged value must not hide an intact one under the same key.
        if merged.get(&key).is_none() && entry::payload(&key, &bytes).is_some() {
            merged.add(key, &bytes);
        }
    }
    let place = merged.write_to(folder)?;
    // Where one held all that the others do, it has been written again.
    let mut superfluous = segments.into_iter().filter(|segment| segment.path != place);
    superfluous.try_for_each(close_and_remove)
}

/// Removes a segment; some systems do not delete what is open.
fn close_and_remove(segment: Segment) -> io::Result<()> {
    let path = segment.path.clone();
    drop(segment);
    remove(&path)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        // Another process may have deleted it first.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn remove_abandoned(folder: &Path) {
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let unfinished = file
            .file_name()
            .as_encoded_bytes()
            .starts_with(UNFINISHED.as_bytes());
        let changed = file.metadata().and_then(|about| about.modified());
        if unfinished && changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED)) {
            drop(fs::remove_file(file.path()));
        }
    }
}
