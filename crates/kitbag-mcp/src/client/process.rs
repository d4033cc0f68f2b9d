//! A server that runs as a program, and is killed with everything that it started.

use std::io;
use std::path::Path;
use std::process::Stdio;

use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::config::Launch;

/// The variables of our environment that a server inherits. Keys are not among them: the file names those
/// that a server needs.
const VARIABLES: [&str; 12] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TEMP",
    "TERM",
    "TMPDIR",
    "USER",
    "SYSTEMROOT",
    "USERPROFILE",
];

/// A program in a process group of its own, which is killed when this is dropped.
pub(super) struct Group(Child);

impl Group {
    /// Starts a program, and gives the pipes to speak to it.
    pub(super) fn start(
        launch: &Launch,
        folder: &Path,
    ) -> Result<(Self, (ChildStdout, ChildStdin)), String> {
        let cannot = |error: io::Error| format!("`{}` cannot be started: {error}", launch.command);
        let mut group = Self::spawn(launch, folder).map_err(cannot)?;
        let pipes = group.0.stdout.take().zip(group.0.stdin.take());
        let pipes = pipes.ok_or_else(|| "it has no pipes".to_owned())?;
        Ok((group, pipes))
    }

    fn spawn(launch: &Launch, folder: &Path) -> io::Result<Self> {
        let mut command = Command::new(&launch.command);
        let inherited = VARIABLES.iter();
        let inherited = inherited.filter_map(|name| Some((name, std::env::var_os(name)?)));
        let folder = match folder.as_os_str().is_empty() {
            true => Path::new("."),
            false => folder,
        };
        command
            .args(&launch.args)
            .env_clear()
            .envs(inherited)
            .envs(&launch.env)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // The terminal belongs to the answer, and a full pipe that nobody reads would block the server.
            .stderr(Stdio::null())
            .kill_on_drop(true);
        // A group of its own, so that killing it also ends programs that the server started.
        #[cfg(unix)]
        command.process_group(0);
        Ok(Self(command.spawn()?))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            let id = self.0.id().map(u32::cast_signed);
            let group = id.and_then(rustix::process::Pid::from_raw);
            if let Some(group) = group {
                // An error means that the group has ended already.
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
        }
    }
}
