//! What is piped in: whether there is anything, and all of it.
//!
//! Whoever starts the program may leave it a pipe into which nothing is ever written, as editors,
//! build services and agents do. Nothing tells such a pipe from one whose writer is slow. What was
//! asked for is waited for as long as it takes, and so is everything where a person sees the note
//! about it; elsewhere it is waited for only a short time, and told when that has passed.

use std::io::{self, BufRead as _, IsTerminal as _, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use kitbag::text::decode;

use crate::failure::Failure;
use crate::output::{self, grouped};

/// How long the first byte of what was not asked for may take: a program that fetches something
/// has begun by then, and one that is started with an idle pipe is not held up for long.
const PATIENCE: Duration = Duration::from_secs(1);

/// More than this is not read: as text it is far beyond what any model takes.
const MOST_BYTES: u64 = 16 << 20;

/// Whether stdin is a file, a pipe or a socket. A terminal and `/dev/null` hold nothing.
pub(crate) fn is_piped() -> bool {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return false;
    }
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        use std::os::unix::fs::FileTypeExt as _;
        let kind = stdin
            .as_fd()
            .try_clone_to_owned()
            .and_then(|stdin| std::fs::File::from(stdin).metadata())
            .map(|stdin| stdin.file_type());
        kind.is_ok_and(|kind| kind.is_file() || kind.is_fifo() || kind.is_socket())
    }
    #[cfg(not(unix))]
    true
}

/// All of stdin, which is `what` was asked for.
pub(crate) fn read(what: &str) -> Result<String, Failure> {
    let came = reading()?;
    match came.recv_timeout(PATIENCE) {
        Ok(Came::All(read)) => return read,
        Ok(Came::First) => {}
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            output::say(format_args!("note: waiting for {what} on stdin"));
        }
    }
    rest(&came)
}

/// All of stdin; nothing if nothing comes soon and nobody sees that it is waited for.
pub(crate) fn read_soon() -> Result<Option<String>, Failure> {
    if io::stderr().is_terminal() {
        return read("the attachment").map(Some);
    }
    let came = reading()?;
    match came.recv_timeout(PATIENCE) {
        Ok(Came::All(read)) => read.map(Some),
        Ok(Came::First) => rest(&came).map(Some),
        // The reader is left behind: it ends with the program.
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Ok(None),
    }
}

/// All of a text, which is called `name` in errors.
pub(crate) fn read_text(source: impl Read, name: &str) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    source
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(format_args!("cannot read {name}: {error}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::new(format_args!(
            "{name} has more than {} bytes, the most that is read",
            grouped(MOST_BYTES)
        ))
        .hint("give the part that matters, such as the last lines of a log: `tail -n 1000`"));
    }
    let text = decode(&bytes).ok_or_else(|| {
        Failure::new(format_args!("cannot read {name}: it is no text")).hint("give it as text")
    })?;
    Ok(text.into_owned())
}

/// What the reader tells.
enum Came {
    /// Something is there, or the end.
    First,
    All(Result<String, Failure>),
}

/// Reads stdin beside the rest of the program, for a read cannot be given up once it waits.
fn reading() -> Result<Receiver<Came>, Failure> {
    let (tell, came) = mpsc::channel();
    let read = move || {
        let mut stdin = io::stdin().lock();
        // A failure to read is met again below. If nobody listens any more, there is no one to tell.
        if stdin.fill_buf().is_ok() {
            let _ = tell.send(Came::First);
        }
        let _ = tell.send(Came::All(read_text(stdin, "stdin")));
    };
    thread::Builder::new()
        .name("stdin".into())
        .spawn(read)
        .map_err(|error| Failure::new(format_args!("cannot read stdin: {error}")))?;
    Ok(came)
}

fn rest(came: &Receiver<Came>) -> Result<String, Failure> {
    for came in came {
        if let Came::All(read) = came {
            return read;
        }
    }
    Err(Failure::new("stdin could not be read"))
}
