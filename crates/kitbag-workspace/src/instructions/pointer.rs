//! Files that only say where to read on.

use crate::relative::{folder_of, join};

/// More words than this around a path are instructions themselves.
const MAX_WORDS: usize = 8;

/// The file that `content` points to if it says nothing else, such as `@AGENTS.md` or
/// `See [AGENTS.md](../AGENTS.md).`, as a path from the root. `path` is where the content stands.
pub(super) fn target(path: &str, content: &str) -> Option<String> {
    let mut lines = content
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("<!--"));
    let line = lines.next().filter(|line| line.len() < 300)?;
    // With a second line it says something of its own.
    if lines.next().is_some() {
        return None;
    }
    let separates = |c: char| c.is_whitespace() || "`()[]<>\"',;:".contains(c);
    let mut found: Option<String> = None;
    let mut words = 0;
    for word in line.split(separates).filter(|word| !word.is_empty()) {
        let name = word.trim_start_matches('@').trim_end_matches('.');
        if !name.ends_with(".md") {
            // "and" begins something else to do.
            words += if word.eq_ignore_ascii_case("and") {
                MAX_WORDS
            } else {
                1
            };
            continue;
        }
        let target = join(folder_of(path), name)?;
        if found.as_ref().is_some_and(|found| *found != target) {
            return None;
        }
        found = Some(target);
    }
    found.filter(|target| target != path && words <= MAX_WORDS)
}
