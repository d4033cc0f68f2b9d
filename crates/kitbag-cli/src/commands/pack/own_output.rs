//! Leaves the output file of a pack out of the pack: it may be inside the project.

use std::fs;
use std::path::{Path, PathBuf};

use crate::output::{behind_links, folder_of};

/// Patterns that leave out the file of `--output`, or the one that stdout is redirected to.
///
/// So a second run shows what the first one did, and no prompt holds the one before.
pub(super) fn patterns(root: &Path, output: Option<&Path>) -> Vec<String> {
    let written = match output {
        Some(file) => whole_path(file),
        None => redirected(),
    };
    let pattern = written.and_then(|file| {
        let below = file.strip_prefix(root.canonicalize().ok()?).ok()?;
        Some(pattern(&below.to_str()?.replace('\\', "/")))
    });
    pattern.into_iter().collect()
}

/// The path of a file that may not exist yet.
fn whole_path(file: &Path) -> Option<PathBuf> {
    let file = behind_links(file);
    // The folder and not the file, which may not exist yet.
    let folder = folder_of(&file).canonicalize().ok()?;
    Some(folder.join(file.file_name()?))
}

/// The file that stdout is redirected to, on systems with `/dev/stdout`.
fn redirected() -> Option<PathBuf> {
    let file = fs::canonicalize("/dev/stdout").ok()?;
    file.is_file().then_some(file)
}

/// A pattern that matches one path alone.
fn pattern(path: &str) -> String {
    let mut pattern = String::from("/");
    for c in path.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | ' ') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
