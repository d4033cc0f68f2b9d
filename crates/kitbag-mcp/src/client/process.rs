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
pub(super) struct Group {
    program: Child,
    #[cfg(unix)]
    watcher: Option<Watcher>,
}

impl Group {
    /// Starts a program, and gives the pipes to speak to it.
    pub(super) fn start(
        launch: &Launch,
        folder: &Path,
    ) -> Result<(Self, (ChildStdout, ChildStdin)), String> {
        let cannot = |error: io::Error| format!("`{}` cannot be started: {error}", launch.command);
        let mut group = Self::spawn(launch, folder).map_err(cannot)?;
        let pipes = group.program.stdout.take().zip(group.program.stdin.take());
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
        let program = command.spawn()?;
        Ok(Self {
            #[cfg(unix)]
            watcher: program.id().and_then(Watcher::of),
            program,
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        {
            // First, while the id of the group is still ours.
            drop(self.watcher.take());
            let id = self.program.id().map(u32::cast_signed);
            let group = id.and_then(rustix::process::Pid::from_raw);
            if let Some(group) = group {
                // An error means that the group has ended already.
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
        }
    }
}

/// A shell that kills a process group as soon as this process is gone: one that is killed cannot clean up. Linux could
/// signal a child when its parent ends, but not the programs that the child has started, and not without unsafe code.
#[cfg(unix)]
struct Watcher {
    // Dropped, and so killed, before the pipe: it signals nobody then.
    _shell: Child,
    // It waits for the end of this pipe, which closes with our process.
    _pipe: ChildStdin,
}

#[cfg(unix)]
impl Watcher {
    /// Without a shell there is no watcher, and a server ends when it notices the end of its input.
    fn of(group: u32) -> Option<Self> {
        let mut shell = Command::new("/bin/sh");
        shell
            // Not every shell knows `--` here.
            .args(["-c", "read -r _; kill -KILL \"-$1\"", "kitbag"])
            .arg(group.to_string())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            // Ctrl-C at a terminal is not meant for it.
            .process_group(0);
        let mut shell = shell.spawn().ok()?;
        let pipe = shell.stdin.take()?;
        Some(Self {
            _shell: shell,
            _pipe: pipe,
        })
    }
}
