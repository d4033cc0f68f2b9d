//! Finds PostgreSQL and PgBouncer, or installs their Debian packages.
//!
//! Elsewhere than on Debian and its kin it only says what is missing.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{announce_and_run, output_of, program, succeeds};

/// The programs that a server for the tests is made of.
pub(super) struct Programs {
    /// The folder with `initdb` and `pg_ctl`.
    pub(super) postgres: PathBuf,
    pub(super) pgbouncer: PathBuf,
}

impl Programs {
    pub(super) fn found_or_installed() -> Result<Self> {
        Ok(Self {
            postgres: found_or_installed("PostgreSQL", "postgresql", postgres)?,
            pgbouncer: found_or_installed("PgBouncer", "pgbouncer", pgbouncer)?,
        })
    }

    /// As the tests of this module need them: they install nothing.
    #[cfg(test)]
    pub(super) fn found() -> Option<Self> {
        Some(Self {
            postgres: postgres()?,
            pgbouncer: pgbouncer()?,
        })
    }
}

pub(super) fn are_we_root() -> Result<bool> {
    Ok(output_of(program("id").arg("-u"))?.trim_end() == "0")
}

fn found_or_installed(name: &str, package: &str, find: fn() -> Option<PathBuf>) -> Result<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    install(package).with_context(|| {
        format!("{name} is missing: the tests need it; install the package `{package}`")
    })?;
    find().with_context(|| format!("the package `{package}` is installed but {name} is not found"))
}

/// Installs a Debian package; the list of packages is read anew when that alone does not do.
fn install(package: &str) -> Result<()> {
    if !succeeds(program("apt-get").arg("--version")) {
        bail!("there is no `apt-get` to install it with");
    }
    let mut words = Vec::new();
    if !are_we_root()? {
        if !succeeds(program("sudo").arg("--version")) {
            bail!("only root may install it, and there is no `sudo`");
        }
        words.push("sudo");
    }
    words.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
    let apt_get = |arguments: &[&str]| -> Result<()> {
        let (first, rest) = words.split_first().context("no command")?;
        announce_and_run("install", program(first).args(rest).args(arguments))
    };
    let arguments = ["install", "--yes", "--no-install-recommends", package];
    apt_get(&arguments).or_else(|_| {
        apt_get(&["update"])?;
        apt_get(&arguments)
    })
}

/// The folder that `pg_config` names, else the newest one of Debian's. A client alone is not enough.
fn postgres() -> Option<PathBuf> {
    let configured = stdout_of(program("pg_config").arg("--bindir"));
    let configured = configured.map(|folder| PathBuf::from(folder.trim_end()));
    let mut versions: Vec<(u32, PathBuf)> = Path::new("/usr/lib/postgresql")
        .read_dir()
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let version = entry.file_name().to_str()?.parse().ok()?;
            Some((version, entry.path().join("bin")))
        })
        .collect();
    versions.sort();
    let newest_first = versions.into_iter().rev().map(|(_, folder)| folder);
    configured
        .into_iter()
        .chain(newest_first)
        .find(|folder| folder.join("initdb").exists() && folder.join("pg_ctl").exists())
}

/// In the PATH, or where Debian puts what only an administrator has in the PATH.
fn pgbouncer() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .map(|folder| folder.join("pgbouncer"))
        .find(|file| file.is_file())
}

/// What it writes, when it is there and succeeds.
fn stdout_of(command: &mut Command) -> Option<String> {
    let output = command.output().ok()?;
    let stdout = String::from_utf8(output.stdout).ok()?;
    output.status.success().then_some(stdout)
}
