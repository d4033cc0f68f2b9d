//! Rules for each Rust file: it says what it holds, stays short, and is never `mod.rs`.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::Problem;
use super::line_count::code_lines;
use crate::command::{output_of, program};

const CODE_LIMIT: usize = 400;
const TEST_LIMIT: usize = 1500;

/// A Rust file of the project, its path from the root with forward slashes.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
}

/// Reads the Rust files that git tracks, or would track.
pub(super) fn load(root: &Path) -> Result<Vec<Source>> {
    let listed = output_of(
        program("git")
            .args(["ls-files", "-z", "--cached", "--others"])
            .args(["--exclude-standard", "--", "crates", "xtask"]),
    )?;
    let mut sources = Vec::new();
    for path in listed.split('\0').filter(|path| path.ends_with(".rs")) {
        let file = root.join(path);
        // A tracked file may have been deleted without a commit yet.
        if file.exists() {
            let text = fs::read_to_string(&file).with_context(|| format!("reading {path}"))?;
            let path = path.to_owned();
            sources.push(Source { path, text });
        }
    }
    // Git lists a file in conflict once for each side.
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    sources.dedup_by(|a, b| a.path == b.path);
    Ok(sources)
}

/// The words of the code, without comments.
pub(super) fn code_words(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| !line.starts_with("//")).flat_map(words)
}

/// The words of a text, as identifiers are words.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty())
}

pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    sources.iter().flat_map(check_one).collect()
}

fn check_one(Source { path, text }: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !text.starts_with("//!") {
        problems.push(Problem::new(
            path,
            "does not say what it holds",
            "begin it with a `//!` comment: what it holds, and what it deliberately does not do",
        ));
    }
    if path.ends_with("/mod.rs") {
        problems.push(Problem::new(
            path,
            "is a mod.rs",
            "name the file after its module, beside the folder",
        ));
    }
    let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
    let limit = if is_test { TEST_LIMIT } else { CODE_LIMIT };
    let lines = code_lines(text);
    if lines > limit {
        problems.push(Problem::new(
            path,
            format!("has {lines} lines of code, more than {limit}"),
            "split it: one idea a file",
        ));
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(path: &str, text: &str) -> Vec<String> {
        let (path, text) = (path.to_owned(), text.to_owned());
        let problems = check(&[Source { path, text }]);
        problems.into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn a_file_must_say_what_it_holds_and_not_be_mod_rs() {
        assert_eq!(
            problems_of("crates/a/src/b/mod.rs", "fn a() {}\n"),
            ["does not say what it holds", "is a mod.rs"]
        );
        assert!(problems_of("crates/a/src/b.rs", "//! B.\n").is_empty());
    }

    #[test]
    fn tests_may_be_longer_than_code() {
        let text = format!("//! Long.\n{}", "a();\n".repeat(401));
        assert_eq!(
            problems_of("crates/a/src/b.rs", &text),
            ["has 401 lines of code, more than 400"]
        );
        assert!(problems_of("crates/a/src/b/tests.rs", &text).is_empty());
        assert!(problems_of("crates/a/tests/b.rs", &text).is_empty());
    }
}
