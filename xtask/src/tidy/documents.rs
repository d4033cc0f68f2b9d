//! The documents that a visitor expects exist and say something, and the picture is that of its page.

use std::fs;
use std::path::Path;

use super::Problem;
use crate::picture::{self, PAGE, PICTURE};

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
    let mut problems: Vec<Problem> = EXPECTED.iter().filter_map(problem).collect();
    problems.extend(picture_problem(root));
    problems
}

fn picture_problem(root: &Path) -> Option<Problem> {
    let wrong = |what: String| Some(Problem::new(PICTURE, what, "run `cargo xtask picture`"));
    match (picture::drawn(root), fs::read_to_string(root.join(PICTURE))) {
        (Ok(drawn), Ok(there)) if drawn == there => None,
        (Ok(_), Ok(_)) => wrong(format!("is not the picture of {PAGE}")),
        (Err(error), _) => wrong(format!("{error:#}")),
        (_, Err(error)) => wrong(error.to_string()),
    }
}
