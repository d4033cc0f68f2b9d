//! `cargo xtask python`: programs of other people in Python, in environments of their own under the target
//! folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::{announce_and_run, program};
use crate::metadata::Metadata;

/// The variable in which tests find the Python that has the packages.
pub(crate) const VARIABLE: &str = "KITBAG_TEST_PYTHON";

/// The official SDKs of the Model Context Protocol, of Anthropic, of OpenAI and of Slack, as clients, the
/// reference validator of skills, Schemathesis, which asks all that an OpenAPI document describes, and `llm`, which people use at
/// the command line.
const PACKAGES: [&str; 7] = [
    "mcp==2.3.0",
    "skills-ref==0.1.1",
    "anthropic==2.8.0",
    "openai==3.49.0",
    "slack_sdk==3.46.0",
    "schemathesis==4.32.5",
    "llm==0.36",
];

/// The Python that has the packages of the tests, which are fetched where they are missing.
pub(crate) fn python() -> Result<PathBuf> {
    let folder = Metadata::load()?.target_directory.join("python");
    environment(&folder, &PACKAGES).context("the tests need `python3` with `venv` and `pip`")
}

/// The Python of an environment in which packages are installed.
pub(crate) fn environment(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let python = folder.join(match cfg!(windows) {
        true => "Scripts/python.exe",
        false => "bin/python",
    });
    if !python.exists() {
        let create = ["-m", "venv"];
        announce_and_run("python", program("python3").args(create).arg(folder))?;
    }
    let install = ["-m", "pip", "install", "--quiet"];
    announce_and_run("python", program(&python).args(install).args(packages))?;
    Ok(python)
}
