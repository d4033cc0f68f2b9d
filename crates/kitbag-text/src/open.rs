//! Opens regular files only.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a regular file for reading, and returns it with its size.
///
/// A link as the last part of the path is refused where the system supports that, and a pipe does
/// not block.
///
/// # Errors
/// When the path is no regular file, or cannot be opened.
pub fn regular(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, NO_FOLLOW | NO_BLOCK);
    let file = options.open(path)?;
    // Asked of the open file: its path could lead to another one by now.
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file",
        ));
    }
    Ok((file, metadata.len()))
}

/// Returns true if an error of [`regular`] means that the path is no regular file.
#[must_use]
pub fn is_no_file(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::InvalidInput
        || error.kind() == io::ErrorKind::IsADirectory
        || error.raw_os_error() == Some(TOO_MANY_LINKS)
}

// The standard library has no names for these flags. On systems missing here they are 0, which
// turns the protection off.
const LINUX: bool = cfg!(any(target_os = "linux", target_os = "android"));
const BSD: bool = cfg!(any(target_vendor = "apple", target_os = "freebsd"));
const COMMON: bool = cfg!(any(
    target_arch = "x86_64",
    target_arch = "x86",
    target_arch = "riscv64",
    target_arch = "s390x"
));
const ARM: bool = cfg!(any(target_arch = "aarch64", target_arch = "arm"));

/// `O_NOFOLLOW`.
const NO_FOLLOW: i32 = match (LINUX, BSD) {
    (true, _) if COMMON => 0o400_000,
    (true, _) if ARM => 0o100_000,
    (_, true) => 0x100,
    _ => 0,
};

/// `O_NONBLOCK`.
const NO_BLOCK: i32 = match (LINUX, BSD) {
    (true, _) if COMMON || ARM => 0o4_000,
    (_, true) => 0x4,
    _ => 0,
};

/// `ELOOP`.
const TOO_MANY_LINKS: i32 = if LINUX { 40 } else { 62 };
