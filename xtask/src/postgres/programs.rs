//! Finds PostgreSQL and PgBouncer, or installs their Debian packages.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::command::{output_of, program};
use crate::debian::found_or_installed;

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

/// The folder that `pg_config` names, else the newest one of Debian's. A client alone is not enough.
fn postgres() -> Option<PathBuf> {
    let configured = output_of(program("pg_config").arg("--bindir")).ok();
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
    // By number: as texts, 9 would come after 16.
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
