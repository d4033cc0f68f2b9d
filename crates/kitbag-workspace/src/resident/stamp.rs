//! The mark of one file or folder, by which a change is seen.

use std::path::Path;
use std::time::SystemTime;

/// The time, the size and the number of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) modified: SystemTime,
    size: u64,
    number: u64,
    /// Changes also where the time of the content was set back, and with the rights.
    changed: (i64, i64),
}

/// A folder below which files are looked at.
pub(super) struct Folder {
    /// The system finds what is below an open folder in half the time that whole paths take.
    #[cfg(unix)]
    root: Option<std::os::fd::OwnedFd>,
    #[cfg(not(unix))]
    root: std::path::PathBuf,
}

#[cfg(unix)]
impl Folder {
    pub(super) fn open(root: &Path) -> Self {
        use rustix::fs::{Mode, OFlags, open};
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        Self {
            root: open(root, flags, Mode::empty()).ok(),
        }
    }

    /// The mark of a path below the folder, or of a whole path; none where nothing is there, or nothing
    /// that may be looked at.
    pub(super) fn stamp(&self, path: &Path) -> Option<Stamp> {
        use rustix::fs::{AtFlags, statat};
        let nofollow = AtFlags::SYMLINK_NOFOLLOW;
        // An empty path is the folder itself.
        let stat = match path.as_os_str().is_empty() {
            true => statat(self.root.as_ref()?, ".", nofollow),
            false => statat(self.root.as_ref()?, path, nofollow),
        };
        let stat = stat.ok()?;
        let nanoseconds = |part| u32::try_from(part).ok();
        let modified = time(stat.st_mtime, nanoseconds(stat.st_mtime_nsec)?)?;
        Some(Stamp {
            modified,
            size: u64::try_from(stat.st_size).ok()?,
            number: stat.st_ino,
            changed: (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).ok()?),
        })
    }
}

#[cfg(unix)]
fn time(seconds: i64, nanoseconds: u32) -> Option<SystemTime> {
    use std::time::Duration;
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let whole = match seconds < 0 {
        true => SystemTime::UNIX_EPOCH.checked_sub(whole),
        false => SystemTime::UNIX_EPOCH.checked_add(whole),
    };
    whole?.checked_add(Duration::from_nanos(nanoseconds.into()))
}

#[cfg(not(unix))]
impl Folder {
    pub(super) fn open(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// The mark of a path below the folder, or of a whole path; none where nothing is there, or nothing
    /// that may be looked at.
    pub(super) fn stamp(&self, path: &Path) -> Option<Stamp> {
        let metadata = std::fs::symlink_metadata(self.root.join(path)).ok()?;
        Some(Stamp {
            modified: metadata.modified().ok()?,
            size: metadata.len(),
            number: 0,
            changed: (0, 0),
        })
    }
}
