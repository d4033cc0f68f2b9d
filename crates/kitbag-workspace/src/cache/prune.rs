//! Keeps the cache within its size: the entries that were not used for longest go first.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The sum of what was written since the folder was last looked through.
const COUNTER: &str = "written";

/// Leftovers of processes that died while writing are this old at least.
const DEBRIS_AGE_SECONDS: u64 = 60 * 60;

/// Looks through the folder when an eighth of its size was written since that was last done.
/// Several processes may do so at once: each tolerates what the others deleted.
pub(super) fn after_writing(folder: &Path, written: u64, limit: u64) {
    let counter = folder.join(COUNTER);
    let before = fs::read_to_string(&counter)
        .ok()
        .and_then(|text| text.trim().parse::<u64>().ok());
    let sum = before.unwrap_or(limit).saturating_add(written);
    let left = if sum > limit / 8 {
        prune(&folder.join("entries"), limit);
        0
    } else {
        sum
    };
    // Two processes may overwrite each other's sums: then it is looked through a little later.
    let _ = fs::write(counter, left.to_string());
}

struct Entry {
    used: SystemTime,
    path: PathBuf,
    size: u64,
}

fn prune(entries: &Path, limit: u64) {
    let mut found = Vec::new();
    let mut total = 0_u64;
    let now = SystemTime::now();
    let shards = fs::read_dir(entries).into_iter().flatten().flatten();
    for entry in shards.flat_map(|shard| fs::read_dir(shard.path()).into_iter().flatten().flatten())
    {
        let Ok(about) = entry.metadata() else {
            continue;
        };
        let used = about.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        let age = now.duration_since(used).map_or(0, |age| age.as_secs());
        let is_debris = entry.file_name().to_string_lossy().starts_with(".tmp");
        if is_debris && age > DEBRIS_AGE_SECONDS {
            let _ = fs::remove_file(entry.path());
            continue;
        }
        total = total.saturating_add(about.len());
        found.push(Entry {
            used,
            path: entry.path(),
            size: about.len(),
        });
    }
    if total <= limit {
        return;
    }
    found.sort_by(|a, b| (a.used, &a.path).cmp(&(b.used, &b.path)));
    for entry in found {
        if total <= limit / 5 * 4 {
            break;
        }
        let _ = fs::remove_file(&entry.path);
        total = total.saturating_sub(entry.size);
    }
}
