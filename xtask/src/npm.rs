//! `cargo xtask npm`: the real Handlebars.js, which the tests of templates compare with.
//!
//! It comes from the registry of npm, in one release, and stays in the target folder; no script of a
//! package is run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::{announce_and_run, program, succeeds};
use crate::debian::found_or_installed;
use crate::metadata::Metadata;

/// Where tests find the packages.
pub(crate) const VARIABLE: &str = "KITBAG_TEST_NODE_MODULES";

const PACKAGE: &str = "handlebars@4.7.10";

/// The folder of packages, which are fetched where they are missing.
pub(crate) fn folder() -> Result<PathBuf> {
    found_or_installed("Node.js", "nodejs", || found("node"))?;
    let folder = Metadata::load()?.target_directory.join("npm").join(PACKAGE);
    let modules = folder.join("node_modules");
    if !modules.join("handlebars/package.json").is_file() {
        fetch(&folder).context("the tests need Handlebars.js: `npm` fetches it")?;
    }
    Ok(modules)
}

fn fetch(folder: &Path) -> Result<()> {
    let npm = found_or_installed("npm", "npm", || found("npm"))?;
    fs::create_dir_all(folder)?;
    let mut npm = program(npm);
    npm.args(["install", PACKAGE, "--no-save", "--ignore-scripts"])
        .args(["--no-audit", "--no-fund", "--loglevel", "error", "--prefix"]);
    announce_and_run("npm", npm.arg(folder))
}

/// The program of that name, if it starts.
fn found(name: &str) -> Option<PathBuf> {
    succeeds(program(name).arg("--version")).then(|| name.into())
}
