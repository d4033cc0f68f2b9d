//! The documents that a visitor expects must exist and say something.

use std::fs;
use std::path::Path;

use super::Problem;

const EXPECTED: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    ".ci/run",
];

pub(super) fn check(root: &Path) -> Vec<Problem> {
    let problem = |path: &&str| match fs::read_to_string(root.join(path)) {
        Ok(text) if text.trim().is_empty() => Some(Problem::new(*path, "is empty", "write it")),
        Ok(_) => None,
        Err(error) => Some(Problem::new(*path, error.to_string(), "write it")),
    };
    EXPECTED.iter().filter_map(problem).collect()
}
