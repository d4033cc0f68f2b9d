//! tiktoken, in an environment of its own.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::command::{output_of, program};
use crate::python::environment;

const PACKAGE: &str = "tiktoken==0.14.0";

/// Python's time, best of three.
#[derive(Deserialize)]
pub(super) struct PythonTime {
    pub(super) seconds: f64,
}

/// Counts the files of `list` and writes the counts.
pub(super) fn count(
    folder: &Path,
    vocabulary: &Path,
    list: &Path,
    counts: &Path,
) -> Result<PythonTime> {
    let python = environment(&folder.join("venv"), &[PACKAGE])?;
    let script = folder.join("count.py");
    fs::write(&script, include_str!("count.py"))?;
    eprintln!("measuring {PACKAGE}");
    let json = output_of(program(&python).args([script.as_path(), vocabulary, list, counts]))?;
    serde_json::from_str(&json).with_context(|| format!("unexpected output: {json}"))
}
