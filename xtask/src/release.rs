//! The program as users get it: the release build.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::command::{announce_and_run, cargo};

/// The program that was named, or else the one that is built, which is under the target folder.
pub(crate) fn given_or_built(given: Option<&PathBuf>, target: &Path) -> Result<PathBuf> {
    match given {
        Some(program) => Ok(program.clone()),
        None => build(target),
    }
}

/// Builds it and gives its path, which is under the target folder.
pub(crate) fn build(target: &Path) -> Result<PathBuf> {
    let arguments = ["build", "--release", "--quiet", "--package", "kitbag-cli"];
    announce_and_run("build", cargo().args(arguments))?;
    let program = target.join("release/kitbag");
    Ok(program.with_extension(std::env::consts::EXE_EXTENSION))
}
