//! A path as a person types it, from where they are or from the root, as the workspace has it.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The path of a file below the root.
pub(crate) fn place(root: &Path, typed: &str) -> Result<String, Misplaced> {
    let misplaced = |why| Misplaced {
        typed: typed.to_owned(),
        root: root.to_owned(),
        why,
    };
    let Ok(whole_root) = root.canonicalize() else {
        // Whoever opens the root says why it cannot be.
        return Ok(typed.to_owned());
    };
    let found = [root.join(typed), PathBuf::from(typed)]
        .iter()
        .find_map(|path| path.canonicalize().ok())
        .ok_or_else(|| misplaced(Why::Missing))?;
    let below = found
        .strip_prefix(whole_root)
        .map_err(|_| misplaced(Why::Outside))?;
    let below = below.to_str().ok_or_else(|| misplaced(Why::NoUtf8))?;
    match fs::metadata(&found) {
        Ok(metadata) if metadata.is_dir() => Err(misplaced(Why::Folder)),
        Ok(metadata) if !metadata.is_file() => Err(misplaced(Why::NotAFile)),
        _ => Ok(below.replace('\\', "/")),
    }
}

/// A path that is none of a file in the workspace.
#[derive(Debug)]
pub(crate) struct Misplaced {
    typed: String,
    root: PathBuf,
    why: Why,
}

#[derive(Debug, Clone, Copy)]
enum Why {
    Missing,
    Outside,
    Folder,
    NotAFile,
    NoUtf8,
}

impl Misplaced {
    /// What to do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self.why {
            Why::Missing => "name it relative to the root, as `src/main.rs`",
            Why::Outside => "name a folder above it with `--root`",
            Why::Folder => "name one of its files",
            Why::NotAFile => "write what it holds into a file, or pipe it in",
            Why::NoUtf8 => "rename it",
        }
    }
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (typed, root) = (&self.typed, self.root.display());
        match self.why {
            Why::Missing => write!(f, "there is no file `{typed}` below the root `{root}`"),
            Why::Outside => write!(f, "`{typed}` is outside the root `{root}`"),
            Why::Folder => write!(f, "`{typed}` is a folder"),
            Why::NotAFile => write!(f, "`{typed}` is a pipe, a socket or a device"),
            Why::NoUtf8 => write!(f, "the name of `{typed}` is no UTF-8"),
        }
    }
}
