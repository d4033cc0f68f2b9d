//! A program that answers on stdout: its input, its lines, and its end.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The longest line, in bytes. A longer one is not of this format, and would fill the memory.
const LONGEST: u64 = 32 << 20;

/// The most bytes of stderr that are kept.
const MOST_ERRORS: usize = 4 << 10;

/// The longest wait for the end of a program that has answered: another program that it started may
/// keep its pipes open.
const PATIENCE: Duration = Duration::from_secs(2);

/// A program in a process group of its own, which is killed when this is dropped.
pub(super) struct Child {
    process: tokio::process::Child,
    #[cfg(unix)]
    group: Option<rustix::process::Pid>,
    stdout: Option<BufReader<ChildStdout>>,
    errors: Option<JoinHandle<String>>,
}

impl Child {
    /// Starts a program that reads `input`.
    pub(super) fn start(mut command: Command, input: Vec<u8>) -> io::Result<Self> {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A group of its own, so that killing it also ends the tools that the program started.
        #[cfg(unix)]
        command.process_group(0);
        let mut process = command.spawn()?;
        if let Some(mut stdin) = process.stdin.take() {
            // In a task of its own: a program that answers before it has read everything would otherwise wait
            // for us while we wait for it. An error of writing means that it ended early, which its end explains.
            tokio::spawn(async move { stdin.write_all(&input).await });
        }
        let errors = process
            .stderr
            .take()
            .map(|errors| tokio::spawn(beginning(errors)));
        #[cfg(unix)]
        let group = process
            .id()
            .and_then(|id| rustix::process::Pid::from_raw(id.cast_signed()));
        Ok(Self {
            #[cfg(unix)]
            group,
            stdout: process.stdout.take().map(BufReader::new),
            process,
            errors,
        })
    }

    /// The next line of stdout, or `None` at its end.
    pub(super) async fn line(&mut self) -> io::Result<Option<String>> {
        let Some(stdout) = &mut self.stdout else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let count = stdout.take(LONGEST).read_until(b'\n', &mut line).await?;
        // `take` stopped the reading, so the line has no end yet.
        if count as u64 == LONGEST {
            return Err(io::Error::other("one of its lines is too long"));
        }
        Ok((count > 0).then(|| String::from_utf8_lossy(&line).trim().to_owned()))
    }

    /// Waits for the end of the program, kills the programs that it leaves running, and returns the exit
    /// code with the text of stderr.
    pub(super) async fn end(&mut self) -> String {
        let rest = async {
            // Reads the rest, so that the program does not block on a full pipe and can end.
            while let Ok(Some(_)) = self.line().await {}
            self.process.wait().await
        };
        let code = match timeout(PATIENCE, rest).await {
            Ok(Ok(status)) => format!("ended with {status}"),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "did not end by itself".to_owned(),
        };
        self.kill();
        let said = match self.errors.take() {
            Some(errors) => timeout(PATIENCE, errors).await.ok().and_then(Result::ok),
            None => None,
        };
        match said
            .as_deref()
            .map(str::trim)
            .filter(|said| !said.is_empty())
        {
            Some(said) => format!("{code}: {said}"),
            None => code,
        }
    }

    /// Kills the program and everything that it started. Only once: later its id may belong to another
    /// program.
    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group.take() {
            // An error means that the group has ended already.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The beginning of a program's stderr. The rest is read and dropped: otherwise a full pipe would
/// block the program.
async fn beginning(mut errors: ChildStderr) -> String {
    let mut said = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        let room = MOST_ERRORS.saturating_sub(said.len());
        said.extend(buffer.iter().take(count.min(room)));
    }
    String::from_utf8_lossy(&said).into_owned()
}
