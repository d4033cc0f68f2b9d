//! Python's packages in environments of their own under the target folder, and tiktoken among them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::command::{announce_and_run, output_of, program};

const PACKAGE: &str = "tiktoken==0.14.0";

/// The Python of an environment in which a package is installed.
pub(super) fn environment(folder: &Path, package: &str) -> Result<PathBuf> {
    let python = folder.join(match cfg!(windows) {
        true => "Scripts/python.exe",
        false => "bin/python",
    });
    if !python.exists() {
        let create = ["-m", "venv"];
        announce_and_run("python", program("python3").args(create).arg(folder))?;
    }
    let install = ["-m", "pip", "install", "--quiet", package];
    announce_and_run("python", program(&python).args(install))?;
    Ok(python)
}

/// What Python took, best of three.
#[derive(Deserialize)]
pub(super) struct Counted {
    pub(super) seconds: f64,
}

/// Counts the files of `list` and writes the counts.
pub(super) fn count(
    folder: &Path,
    vocabulary: &Path,
    list: &Path,
    counts: &Path,
) -> Result<Counted> {
    let python = environment(&folder.join("venv"), PACKAGE)?;
    let script = folder.join("count.py");
    fs::write(&script, include_str!("count.py"))?;
    eprintln!("measuring {PACKAGE}");
    let json = output_of(program(&python).args([script.as_path(), vocabulary, list, counts]))?;
    serde_json::from_str(&json).with_context(|| format!("unexpected output: {json}"))
}
