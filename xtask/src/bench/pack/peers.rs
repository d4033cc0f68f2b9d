//! The programs that packing is measured against, installed once into the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::command::{announce_and_run, cargo, program, succeeds};

const RIPGREP: &str = "15.2.0";
const REPOMIX: &str = "1.18.1";
/// What that version of repomix asks for.
const NODE: &str = "22";
const AIDER: &str = "0.86.2";

/// Searches text, the fastest that there is.
pub(super) fn ripgrep(folder: &Path) -> Result<PathBuf> {
    let root = folder.join("tools");
    let installed = root
        .join("bin/rg")
        .with_extension(std::env::consts::EXE_EXTENSION);
    if !installed.exists() {
        announce_and_run(
            "ripgrep",
            cargo()
                .args(["install", "--quiet", "--locked", "ripgrep"])
                .args(["--version", RIPGREP, "--root"])
                .arg(&root),
        )?;
    }
    Ok(installed)
}

/// Packs whole code bases, without a task.
pub(super) struct Repomix {
    bin: PathBuf,
}

impl Repomix {
    pub(super) fn install(folder: &Path) -> Result<Self> {
        let root = folder.join("repomix");
        let bin = root.join("node_modules/.bin");
        if !bin.join("repomix").exists() {
            fs::create_dir_all(&root)?;
            announce_and_run(
                "repomix",
                program("npm")
                    .args(["install", "--silent", "--no-audit", "--no-fund", "--prefix"])
                    .arg(&root)
                    .arg(format!("node@{NODE}"))
                    .arg(format!("repomix@{REPOMIX}")),
            )?;
        }
        let repomix = Self { bin };
        if !succeeds(repomix.command().arg("--version")) {
            bail!("repomix {REPOMIX} does not start");
        }
        Ok(repomix)
    }

    pub(super) fn pack(&self, tree: &Path, out: &Path) -> Command {
        let mut command = self.command();
        command.arg(tree).arg("--output").arg(out);
        command
    }

    fn command(&self) -> Command {
        let mut command = program(self.bin.join("node"));
        command.arg(self.bin.join("repomix"));
        command
    }
}

/// Maps the definitions of a code base within a budget.
pub(super) struct Aider {
    python: PathBuf,
    script: PathBuf,
}

impl Aider {
    pub(super) fn install(folder: &Path) -> Result<Self> {
        let root = folder.join("aider");
        let python = root.join("bin/python");
        let package = format!("aider-chat=={AIDER}");
        let script = folder.join("aider_map.py");
        fs::write(&script, include_str!("aider_map.py"))?;
        let aider = Self { python, script };
        if !succeeds(program(&aider.python).args(["-c", "import aider.repomap"])) {
            announce_and_run("aider", program("python3").args(["-m", "venv"]).arg(&root))?;
            announce_and_run(
                "aider",
                program(&aider.python).args(["-m", "pip", "install", "--quiet", &package]),
            )?;
        }
        Ok(aider)
    }

    pub(super) fn map(&self, tree: &Path, task: &Path, budget: u32) -> Command {
        let mut command = program(&self.python);
        command.arg(&self.script).args([tree, task]);
        command.arg(budget.to_string());
        command
    }
}
