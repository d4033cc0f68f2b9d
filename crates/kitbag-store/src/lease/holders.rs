//! Tells that the holders of leases are gone, however they ended: a lock on a file beside the database,
//! which the operating system takes from a process that ends.
//!
//! Whoever holds a lease shares the lock. Whoever gets it alone knows that no lease has a holder any more.
//! Without such a file, as on PostgreSQL, or where it cannot be locked, leases end by time alone.

use std::fs::File;
use std::io;
use std::sync::Arc;

use crate::store::Store;

/// Stands in the row of a lease behind the name of an owner who shares the lock.
const SHARES: &str = "+lock";

/// The lock, shared for as long as a lease may be used.
#[derive(Debug, Clone)]
pub(crate) struct Shared(#[expect(dead_code, reason = "holds the lock")] Arc<File>);

/// The lock, held alone.
#[derive(Debug, Clone)]
pub(super) struct Alone(#[expect(dead_code, reason = "holds the lock")] Arc<File>);

/// Shares the lock; none where that cannot be done at once.
pub(super) fn share(store: &Store) -> Option<Shared> {
    let file = open(store)?.ok()?;
    file.try_lock_shared().ok()?;
    Some(Shared(Arc::new(file)))
}

/// Holds the lock alone; none while there may be a holder of a lease.
pub(super) fn hold_alone(store: &Store) -> Option<Alone> {
    let file = open(store)?.ok()?;
    file.try_lock().ok()?;
    Some(Alone(Arc::new(file)))
}

/// The name of an owner in the row of a lease.
pub(super) fn signed(owner: &str, shared: Option<&Shared>) -> String {
    match shared {
        Some(_) => format!("{owner}{SHARES}"),
        None => owner.to_owned(),
    }
}

/// Returns whether an owner shares the lock while its lease is held.
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
