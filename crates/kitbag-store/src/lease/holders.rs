//! Tells if the holders of leases are alive, by a lock on a file next to the database, which the
//! operating system releases when a process ends in any way.
//!
//! Each holder of a lease shares the lock, so a process that gets it exclusively knows that no
//! lease has a living holder. Without such a file, as on PostgreSQL, or where it cannot be locked,
//! leases end by time alone.

use std::fs::File;
use std::io;
use std::sync::Arc;

use crate::store::Store;

/// The mark behind the name of an owner who shares the lock, in the row of a lease.
const SHARES: &str = "+lock";

/// The lock, shared for as long as a lease may be used.
#[derive(Debug, Clone)]
pub(crate) struct SharedLock(#[expect(dead_code, reason = "holds the lock")] Arc<File>);

/// The lock, held exclusively.
#[derive(Debug, Clone)]
pub(crate) struct ExclusiveLock(#[expect(dead_code, reason = "holds the lock")] Arc<File>);

/// Shares the lock; none if that is not possible at once.
pub(super) fn share(store: &Store) -> Option<SharedLock> {
    let file = open(store)?.ok()?;
    file.try_lock_shared().ok()?;
    Some(SharedLock(Arc::new(file)))
}

/// Takes the lock exclusively; none while a lease may have a living holder.
pub(super) fn take_exclusive(store: &Store) -> Option<ExclusiveLock> {
    let file = open(store)?.ok()?;
    file.try_lock().ok()?;
    Some(ExclusiveLock(Arc::new(file)))
}

/// The name of an owner as the row of a lease has it.
pub(super) fn signed(owner: &str, shared: Option<&SharedLock>) -> String {
    match shared {
        Some(_) => format!("{owner}{SHARES}"),
        None => owner.to_owned(),
    }
}

/// Returns true if an owner shares the lock while it holds its lease.
pub(super) fn shares(owner: &str) -> bool {
    owner.ends_with(SHARES)
}

#[cfg(feature = "sqlite")]
fn open(store: &Store) -> Option<io::Result<File>> {
    let mut name = std::ffi::OsString::from(store.file()?.path());
    name.push("-lease");
    let mut options = File::options();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    Some(options.open(name))
}

#[cfg(not(feature = "sqlite"))]
fn open(_: &Store) -> Option<io::Result<File>> {
    None
}
