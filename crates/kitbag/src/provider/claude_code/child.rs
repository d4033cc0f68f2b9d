//! A program that answers on stdout: its input, its lines, and its end, whoever brings it about.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStderr, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// The longest line, in bytes: beyond it a program does not speak this format.
const LONGEST: u64 = 32 << 20;

/// No more of stderr is kept.
const MOST_ERRORS: usize = 4 << 10;

/// A program that has said everything is not waited for longer: something that it started may keep
/// its pipes open.
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
        #[cfg(unix)]
        command.process_group(0);
        let mut process = command.spawn()?;
        if let Some(mut stdin) = process.stdin.take() {
            // Aside, since the program may answer before it has read everything. One that ends early
            // does not read all of it, and says why elsewhere.
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

    /// The next line of stdout; none at its end.
    pub(super) async fn line(&mut self) -> io::Result<Option<String>> {
        let Some(stdout) = &mut self.stdout else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let count = stdout.take(LONGEST).read_until(b'\n', &mut line).await?;
        if count as u64 == LONGEST {
            return Err(io::Error::other("one of its lines is too long"));
        }
        Ok((count > 0).then(|| String::from_utf8_lossy(&line).trim().to_owned()))
    }

    /// Waits for the end of the program, kills what it leaves behind, and returns what is known about
    /// its end: the code, and the words on stderr.
    pub(super) async fn end(&mut self) -> String {
        let rest = async {
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

    /// Kills the program and all that it started. Once: later its number may be another's.
    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group.take() {
            // One that has ended already is what is wanted.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The beginning of what a program says on stderr. The rest is read too, so that the program does not
/// wait for a reader.
async fn beginning(mut errors: ChildStderr) -> String {
    let mut said = Vec::new();
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        let room = MOST_ERRORS.saturating_sub(said.len());
        said.extend(buffer.iter().take(count.min(room)));
    }
    String::from_utf8_lossy(&said).into_owned()
}
