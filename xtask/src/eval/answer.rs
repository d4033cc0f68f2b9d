//! Asks the program: what is read of the JSON that `kitbag pack --json` prints.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde::Deserialize;

/// As much of the answer as is scored. The program's own token count is not among it.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Answer {
    pub(super) prompt: String,
    pub(super) ranked: Vec<RankedFile>,
    pub(super) chunks: Vec<Chunk>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct RankedFile {
    pub(super) source: String,
}

/// Something that the prompt holds.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Chunk {
    pub(super) source: String,
    pub(super) chunk_type: String,
    pub(super) level: String,
    /// First and last visible lines, counted from one.
    pub(super) lines: Vec<(usize, usize)>,
}

/// Runs the command and gives its answer and how many seconds it took.
pub(super) fn ask(command: &mut Command, limit: Duration) -> Result<(Answer, f64)> {
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("could not start the program")?;
    let (stdout, stderr) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
    let receive =
        // The limit holds for both pipes together.
        |bytes: Receiver<Vec<u8>>| bytes.recv_timeout(limit.saturating_sub(start.elapsed()));
    let output = receive(stdout).and_then(|stdout| Ok((stdout, receive(stderr)?)));
    if output.is_err() {
        // It may have ended by itself in the meantime, which is as good.
        drop(child.kill());
    }
    let status = child.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    let (stdout, stderr) = output.map_err(|_| anyhow!("no answer within {} s", limit.as_secs()))?;
    if !status.success() {
        let stderr = String::from_utf8_lossy(&stderr);
        bail!("{status}: {}", stderr.trim_end());
    }
    let answer = serde_json::from_slice(&stdout).context("unexpected answer")?;
    Ok((answer, seconds))
}

/// Both pipes are read at once: a child that fills one of them would wait for ever.
fn read_all(from: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe is an answer cut short, which the JSON will show.
        if let Some(mut from) = from {
            drop(from.read_to_end(&mut bytes));
        }
        sender.send(bytes)
    });
    receiver
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn an_answer_is_read_while_stderr_is_full() {
        let json = r#"{"prompt":"p","ranked":[{"source":"a","score":1}],"chunks":[],"more":1}"#;
        let script = format!("head -c 300000 /dev/zero >&2; echo '{json}'");
        let (answer, _) = ask(&mut shell(&script), Duration::from_secs(60)).unwrap();
        assert_eq!(answer.prompt, "p");
        assert_eq!(answer.ranked.first().unwrap().source, "a");
    }

    #[test]
    fn failures_and_silence_are_errors() {
        let failed = ask(
            &mut shell("echo no such file >&2; exit 3"),
            Duration::from_secs(60),
        );
        let message = failed.unwrap_err().to_string();
        assert!(message.contains('3') && message.contains("no such file"));
        let silent = ask(&mut shell("exec sleep 60"), Duration::ZERO);
        let message = silent.unwrap_err().to_string();
        assert!(message.contains("no answer"), "{message}");
    }
}
