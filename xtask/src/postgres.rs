//! A PostgreSQL for the tests, and a PgBouncer in transaction mode before it.
//!
//! They live in a temporary folder, listen on UNIX sockets in it and nowhere else, and leave nothing
//! behind: they are watched by a shell script of their own process group, which ends them when this
//! task ends, however it ends. No data outlive a run, so nothing is flushed to the disk (`fsync` is
//! off): such a server says nothing about what a power failure does.

mod programs;

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::command::{announce_as_and_run, output_of, program, show};
use crate::debian::are_we_root;
use programs::Programs;

/// The variable in which tests find the address of the server's superuser.
const SERVER: &str = "KITBAG_TEST_POSTGRES";
/// The variable in which tests find the address of the same superuser behind the pooler.
const POOLER: &str = "KITBAG_TEST_PGBOUNCER";

/// Runs a command with a server of its own.
pub(crate) fn with_server(command: &[OsString]) -> Result<()> {
    let (name, arguments) = command
        .split_first()
        .context("there is no command to run")?;
    Server::start()?.run("command", Command::new(name).args(arguments))
}

/// A server that runs until this is dropped.
pub(crate) struct Server {
    watch: Child,
    server: String,
    pooler: String,
}

impl Server {
    /// Installs what is missing, and starts.
    pub(crate) fn start() -> Result<Self> {
        Self::start_with(&Programs::found_or_installed()?)
    }

    fn start_with(programs: &Programs) -> Result<Self> {
        eprintln!("\n== server: {}", programs.postgres.display());
        let folder = tempfile::Builder::new().prefix("kitbag-").tempdir()?;
        let owner = owner(folder.path())?;
        let mut watch = Command::new("sh");
        watch
            .args(["-c", include_str!("postgres/watch.sh"), "watch"])
            .arg(folder.path())
            .args([&programs.postgres, &programs.pgbouncer])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        set_apart(&mut watch, owner);
        let starting = || format!("could not start `sh` in {}", folder.path().display());
        let watch = watch.spawn().with_context(starting)?;
        // From here on the script deletes the folder.
        let folder = folder.keep();
        let mut server = Self {
            watch,
            server: address(&folder),
            pooler: address(&folder.join("pooler")),
        };
        server.wait_until_ready()?;
        Ok(server)
    }

    /// Says what is run, runs it with the addresses in its environment, and fails when it fails.
    pub(crate) fn run(&self, step: &str, command: &mut Command) -> Result<()> {
        let shown = format!("cargo xtask postgres -- {}", show(command));
        command.env(SERVER, &self.server).env(POOLER, &self.pooler);
        announce_as_and_run(step, &shown, command)
    }

    /// Runs a command with the addresses in its environment, and gives what it printed.
    pub(crate) fn output(&self, command: &mut Command) -> Result<String> {
        command.env(SERVER, &self.server).env(POOLER, &self.pooler);
        output_of(command)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let stdout = self.watch.stdout.take().context("no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        if line.trim_end() != "ready" {
            bail!("the server for the tests did not start; what it wrote is above");
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The script waits for the end of its standard input.
        drop(self.watch.stdin.take());
        if let Err(error) = self.watch.wait() {
            eprintln!("the server for the tests may still run: {error}");
        }
    }
}

/// A user other than root, and the user's group.
struct Owner {
    user: u32,
    group: u32,
}

/// Who runs the server: the user that PostgreSQL's package made when we are root, which PostgreSQL
/// refuses, else ourselves. The folder becomes the owner's.
fn owner(folder: &Path) -> Result<Option<Owner>> {
    if !are_we_root()? {
        return Ok(None);
    }
    let id = |which| -> Result<u32> {
        let number = output_of(program("id").args([which, "postgres"])).context(
            "PostgreSQL refuses to run as root, and there is no user `postgres` to run it",
        )?;
        Ok(number.trim_end().parse()?)
    };
    output_of(program("chown").arg("postgres").arg(folder))?;
    Ok(Some(Owner {
        user: id("-u")?,
        group: id("-g")?,
    }))
}

/// Runs it as the owner, and in a process group of its own: an interrupt at the keyboard ends the
/// tests but not the script that cleans up after them.
#[cfg(unix)]
fn set_apart(command: &mut Command, owner: Option<Owner>) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
    if let Some(Owner { user, group }) = owner {
        command.uid(user).gid(group);
    }
}

#[cfg(not(unix))]
fn set_apart(_: &mut Command, _: Option<Owner>) {}

/// The address of the superuser at the socket in `folder`.
fn address(folder: &Path) -> String {
    let mut host = String::new();
    for byte in folder.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) {
            host.push(char::from(*byte));
        } else {
            host.push_str(&format!("%{byte:02X}"));
        }
    }
    format!("postgresql://postgres@{host}/postgres")
}

#[cfg(test)]
mod tests;
