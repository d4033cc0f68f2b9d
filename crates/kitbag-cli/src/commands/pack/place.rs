//! Turns a path that a person typed, relative to the current folder or the root, into the workspace's path.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The path of a file below the root.
pub(crate) fn place(root: &Path, typed: &str) -> Result<String, Failure> {
    let Ok(whole_root) = root.canonicalize() else {
        // Opening the root reports the reason.
        return Ok(typed.to_owned());
    };
    let misplaced = |what: String, hint: &str| Failure::usage(what).hint(hint);
    let shown = root.display();
    // The root comes first: paths in a pack are relative to it, and people copy them from there.
    let found = [root.join(typed), PathBuf::from(typed)];
    // Canonical paths, so that a link inside the root that leads out of it is refused.
    let found = found.iter().find_map(|path| path.canonicalize().ok());
    let found = found.ok_or_else(|| {
        let what = format!("there is no file `{typed}` below the root `{shown}`");
        misplaced(what, "name it relative to the root, as `src/main.rs`")
    })?;
    let below = found.strip_prefix(whole_root).map_err(|_| {
        let what = format!("`{typed}` is outside the root `{shown}`");
        misplaced(what, "name a folder above it with `--root`")
    })?;
    let below = below.to_str().ok_or_else(|| {
        let what = format!("the name of `{typed}` is not UTF-8");
        misplaced(what, "rename it")
    })?;
    match fs::metadata(&found) {
        Ok(metadata) if metadata.is_dir() => {
            let what = format!("`{typed}` is a folder");
            Err(misplaced(what, "name one of its files"))
        }
        Ok(metadata) if !metadata.is_file() => {
            let what = format!("`{typed}` is a pipe, a socket or a device");
            Err(misplaced(
                what,
                "write its content to a file, or pipe it in",
            ))
        }
        _ => Ok(below.replace('\\', "/")),
    }
}
