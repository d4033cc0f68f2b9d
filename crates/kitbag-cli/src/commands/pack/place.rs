//! A path as a person types it, from where they are or from the root, as the workspace has it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// The path of a file below the root.
pub(crate) fn place(root: &Path, typed: &str) -> Result<String, Misplaced> {
    let Ok(whole_root) = root.canonicalize() else {
        // Whoever opens the root says why it cannot be.
        return Ok(typed.to_owned());
    };
    let shown = root.display();
    let found = [root.join(typed), PathBuf::from(typed)];
    let found = found.iter().find_map(|path| path.canonicalize().ok());
    let found = found.ok_or_else(|| Misplaced {
        what: format!("there is no file `{typed}` below the root `{shown}`"),
        hint: "name it relative to the root, as `src/main.rs`",
    })?;
    let below = found.strip_prefix(whole_root).map_err(|_| Misplaced {
        what: format!("`{typed}` is outside the root `{shown}`"),
        hint: "name a folder above it with `--root`",
    })?;
    let below = below.to_str().ok_or_else(|| Misplaced {
        what: format!("the name of `{typed}` is no UTF-8"),
        hint: "rename it",
    })?;
    match fs::metadata(&found) {
        Ok(metadata) if metadata.is_dir() => Err(Misplaced {
            what: format!("`{typed}` is a folder"),
            hint: "name one of its files",
        }),
        Ok(metadata) if !metadata.is_file() => Err(Misplaced {
            what: format!("`{typed}` is a pipe, a socket or a device"),
            hint: "write what it holds into a file, or pipe it in",
        }),
        _ => Ok(below.replace('\\', "/")),
    }
}

/// A path that is none of a file in the workspace.
pub(crate) struct Misplaced {
    what: String,
    hint: &'static str,
}

impl Misplaced {
    /// The failure of the option that names the path.
    pub(super) fn of(self, option: &str) -> Failure {
        Failure::usage(format_args!("{option}: {}", self.what)).hint(self.hint)
    }
}

impl From<Misplaced> for Failure {
    fn from(misplaced: Misplaced) -> Self {
        Self::usage(misplaced.what).hint(misplaced.hint)
    }
}
