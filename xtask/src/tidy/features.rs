//! The useful combinations of the library's features compile.

use super::Problem;
use crate::command::{announce_and_run, cargo};

/// Budgets alone; a workspace; agents; memory in a file; memory on a server with agents; providers
/// alone, and with memory.
const COMBINATIONS: &[&str] = &[
    "",
    "workspace",
    "layouts",
    "sqlite",
    "postgres,layouts",
    "providers",
    "providers,sqlite",
];

pub(super) fn check() -> Vec<Problem> {
    let fails = |features: &&&str| {
        let mut cargo = cargo();
        // The package alone: in a build of the whole workspace another crate could turn on what is
        // missing.
        cargo.args(["check", "--quiet", "--package", "kitbag"]);
        cargo.args(["--no-default-features", "--features", features]);
        announce_and_run("features", &mut cargo).is_err()
    };
    COMBINATIONS
        .iter()
        .filter(fails)
        .map(|features| {
            Problem::new(
                "crates/kitbag",
                format!("does not compile with the features `{features}` alone"),
                "put what needs another feature behind it",
            )
        })
        .collect()
}
