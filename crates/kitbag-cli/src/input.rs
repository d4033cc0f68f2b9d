//! Texts that a person names or pipes in: files, and stdin.
//!
//! Whoever starts the program may leave it a pipe into which nothing is ever written, as editors,
//! build services and agents do. Nothing tells such a pipe from one whose writer is slow. What was
//! asked for is waited for as long as it takes, and so is everything where a person sees the note
//! about it; elsewhere it is waited for only a short time, and told when that has passed.

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Read};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use kitbag::text::decode;

use crate::failure::Failure;
use crate::output::{self, grouped};

/// Time that the first byte of a pipe nobody asked for may take: a program that fetches something
/// has begun by then, and one that is started with an idle pipe is not held up for long.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most that is read, and what to do about more.
#[derive(Clone, Copy)]
struct Limit {
    bytes: u64,
    hint: &'static str,
}

/// Far beyond what any model takes.
const TEXT: Limit = Limit {
    bytes: 16 << 20,
    hint: "give the part that matters, such as the last lines of a log: `tail -n 1000`",
};

/// JSON and YAML may hold much that no prompt shows.
const DATA: Limit = Limit {
    bytes: 64 << 20,
    hint: "leave out what cannot matter, such as whole files that a shorter text stands for",
};

/// Tells whether a path means stdin.
pub(crate) fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Tells whether stdin is a file, a pipe or a socket. A terminal and `/dev/null` hold nothing.
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
            .and_then(|stdin| File::from(stdin).metadata())
            .map(|stdin| stdin.file_type());
        kind.is_ok_and(|kind| kind.is_file() || kind.is_fifo() || kind.is_socket())
    }
    #[cfg(not(unix))]
    true
}

/// All of stdin, which is `what` was asked for.
pub(crate) fn read(what: &str) -> Result<String, Failure> {
    text(&all(Some(what), TEXT)?.unwrap_or_default(), "stdin")
}

/// All of stdin; nothing if nothing comes soon and nobody sees that it is waited for.
pub(crate) fn read_soon() -> Result<Option<String>, Failure> {
    let what = io::stderr().is_terminal().then_some("the attachment");
    let all = all(what, TEXT)?;
    all.map(|bytes| text(&bytes, "stdin")).transpose()
}

/// The text of a file in any encoding, or of stdin for `-`.
pub(crate) fn read_text(file: &Path, what: &str) -> Result<String, Failure> {
    if is_stdin(file) {
        return read(what);
    }
    let name = format!("{what} from `{}`", file.display());
    text(&read_file(file, &name, TEXT)?, &name)
}

/// A file of JSON or YAML, or stdin for `-`: its name in errors, and its text.
pub(crate) fn read_data(file: &Path, what: &str) -> Result<(String, String), Failure> {
    let (name, mut bytes) = if is_stdin(file) {
        let all = all(Some(what), DATA)?;
        ("stdin".to_owned(), all.unwrap_or_default())
    } else {
        let name = file.display().to_string();
        let bytes = read_file(file, &name, DATA)?;
        (name, bytes)
    };
    // Some editors begin a file with a mark that JSON does not know.
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Failure::new(format_args!("{name} is not UTF-8 text at byte {offset}"))
            .hint("convert it to UTF-8")
    })?;
    Ok((name, text))
}

fn text(bytes: &[u8], name: &str) -> Result<String, Failure> {
    let text = decode(bytes).ok_or_else(|| {
        Failure::new(format_args!("cannot read {name}: it is no text")).hint("give it as text")
    })?;
    Ok(text.into_owned())
}

fn read_file(file: &Path, name: &str, limit: Limit) -> Result<Vec<u8>, Failure> {
    let file = File::open(file).map_err(|error| cannot_read(name, &error))?;
    limited(file, name, limit)
}

fn limited(source: impl Read, name: &str, limit: Limit) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = source.take(limit.bytes + 1).read_to_end(&mut bytes);
    read.map_err(|error| cannot_read(name, &error))?;
    if bytes.len() as u64 > limit.bytes {
        let most = grouped(limit.bytes);
        let what = format!("{name} has more than {most} bytes, the most that is read");
        return Err(Failure::new(what).hint(limit.hint));
    }
    Ok(bytes)
}

fn cannot_read(name: &str, error: &io::Error) -> Failure {
    Failure::new(format_args!("cannot read {name}: {error}"))
}

/// All of stdin. What nobody asked for, and so has no name, is given up if nothing comes soon.
///
/// It is read beside the rest of the program, for a read cannot be given up once it waits.
fn all(what: Option<&str>, limit: Limit) -> Result<Option<Vec<u8>>, Failure> {
    let (tell, came) = mpsc::channel();
    let read = move || {
        let mut stdin = io::stdin().lock();
        // Nothing yet says that something is there, or the end. A failure to read is met again below.
        // If nobody listens any more, there is no one to tell.
        if stdin.fill_buf().is_ok() {
            let _ = tell.send(None);
        }
        let _ = tell.send(Some(limited(stdin, "stdin", limit)));
    };
    let reader = thread::Builder::new().name("stdin".into()).spawn(read);
    reader.map_err(|error| cannot_read("stdin", &error))?;
    match (came.recv_timeout(PATIENCE), what) {
        (Ok(Some(all)), _) => return all.map(Some),
        (Ok(None), _) => {}
        (Err(_), Some(what)) => output::say(format_args!("note: waiting for {what} on stdin")),
        // The reader is left behind: it ends with the program.
        (Err(_), None) => return Ok(None),
    }
    match came.into_iter().flatten().next() {
        Some(all) => all.map(Some),
        None => Err(Failure::new("stdin could not be read")),
    }
}
