//! Programs that the tests need, from the packages of Debian and its kin.
//!
//! Elsewhere it only says what is missing.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::command::{announce_and_run, output_of, program, succeeds};

/// The program that `find` finds, after its package was installed if need be.
pub(crate) fn found_or_installed(
    name: &str,
    package: &str,
    find: fn() -> Option<PathBuf>,
) -> Result<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    install(package).with_context(|| {
        format!("{name} is missing: the tests need it; install the package `{package}`")
    })?;
    find().with_context(|| format!("the package `{package}` is installed but {name} is not found"))
}

pub(crate) fn are_we_root() -> Result<bool> {
    Ok(output_of(program("id").arg("-u"))?.trim_end() == "0")
}

/// Installs a Debian package. If that fails, it updates the list of packages and tries again.
fn install(package: &str) -> Result<()> {
    if !succeeds(program("apt-get").arg("--version")) {
        bail!("there is no `apt-get` to install it with");
    }
    let is_root = are_we_root()?;
    if !is_root && !succeeds(program("sudo").arg("--version")) {
        bail!("only root may install it, and there is no `sudo`");
    }
    let apt_get = |arguments: &[&str]| {
        let mut command = program(if is_root { "env" } else { "sudo" });
        // `sudo` drops the variables of its caller, so `env` sets them behind it.
        command.args((!is_root).then_some("env"));
        command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        announce_and_run("install", command.args(arguments))
    };
    let arguments = ["install", "--yes", "--no-install-recommends", package];
    // Images often come without a list of packages, or with an old one.
    apt_get(&arguments).or_else(|_| {
        apt_get(&["update"])?;
        apt_get(&arguments)
    })
}
