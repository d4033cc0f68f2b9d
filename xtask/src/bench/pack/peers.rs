//! The programs that packing is measured against, installed once into the target folder.

use std::env::consts::EXE_EXTENSION;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::command::{announce_and_run, cargo, program, succeeds};
use crate::python::environment;

const RIPGREP: &str = "15.2.0";
const REPOMIX: &str = "1.18.1";
/// The release of Node.js that this version of repomix needs.
const NODE: &str = "22";
const AIDER: &str = "0.86.2";

/// Searches text, the fastest that there is.
pub(super) fn ripgrep(folder: &Path) -> Result<PathBuf> {
    let root = folder.join("tools");
    let installed = root.join("bin/rg").with_extension(EXE_EXTENSION);
    if !installed.exists() {
        let mut install = cargo();
        install.args(["install", "--quiet", "--locked", "ripgrep"]);
        install.args(["--version", RIPGREP, "--root"]).arg(&root);
        announce_and_run("ripgrep", &mut install)?;
    }
    Ok(installed)
}

/// Packs whole code bases, without a task.
pub(super) fn repomix(folder: &Path) -> Result<Command> {
    let root = folder.join("repomix");
    let bin = root.join("node_modules/.bin");
    if !bin.join("repomix").exists() {
        fs::create_dir_all(&root)?;
        let mut npm = program("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"]);
        npm.arg(&root).arg(format!("node@{NODE}"));
        announce_and_run("repomix", npm.arg(format!("repomix@{REPOMIX}")))?;
    }
    let command = || {
        let mut command = program(bin.join("node"));
        command.arg(bin.join("repomix"));
        command
    };
    if !succeeds(command().arg("--version")) {
        bail!("repomix {REPOMIX} does not start");
    }
    Ok(command())
}

/// Maps the definitions of a code base within a budget.
pub(super) fn aider(folder: &Path) -> Result<Command> {
    let python = environment(&folder.join("aider"), &[&format!("aider-chat=={AIDER}")])?;
    let script = folder.join("aider_map.py");
    fs::write(&script, include_str!("aider_map.py"))?;
    let mut command = program(&python);
    command.arg(&script);
    Ok(command)
}
