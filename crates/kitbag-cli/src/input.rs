//! Texts that a person names or pipes in: files, and stdin.
//!
//! Editors, build services and agents often start a program with a pipe into which nothing is ever
//! written. Nothing tells such a pipe from one whose writer is slow. Input that an option asks for is
//! waited for as long as it takes, and so is all input if a person sees the note about it. Otherwise the
//! wait is short, and its end is reported.

use std::fs::File;
use std::io::{self, BufRead as _, IsTerminal as _, Read};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use kitbag::text::decode;

use crate::failure::Failure;
use crate::output::{self, grouped};

/// The wait for the first byte of a pipe that no option asks for: a program that fetches something has
/// begun by then, and an idle pipe does not delay the command for long.
const PATIENCE: Duration = Duration::from_secs(1);

/// The most bytes to read, with advice for more.
#[derive(Clone, Copy)]
struct Limit {
    bytes: u64,
    hint: &'static str,
}

/// The limit of texts, far beyond the window of any model.
const TEXT: Limit = Limit {
    bytes: 16 << 20,
    hint: "give only the relevant part, such as the last lines of a log: `tail -n 1000`",
};

/// The limit of JSON and YAML, which may hold much that no prompt shows.
const DATA: Limit = Limit {
    bytes: 64 << 20,
    hint: "leave out whatever is not needed, such as whole files that also have a shorter text",
};

/// Tells whether a path means stdin.
pub(crate) fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Tells whether stdin is a file, a pipe or a socket. A terminal and `/dev/null` hold nothing.
pub(crate) fn is_piped() -> bool {
    let stdin = io::stdin();
    // A person at a terminal has not prepared any input.
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
    // Elsewhere the kind of stdin is not known, so it counts as a pipe.
    #[cfg(not(unix))]
    true
}

/// All of stdin, for `what` an option asks for.
pub(crate) fn read(what: &str) -> Result<String, Failure> {
    text(&all(Some(what), TEXT)?.unwrap_or_default(), "stdin")
}

/// All of stdin, or `None` if nothing comes soon and no person sees the note about waiting.
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
    // Some editors begin a file with a byte order mark, which JSON does not allow.
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
        Failure::new(format_args!("cannot read {name}: it is not text")).hint("convert it to text")
    })?;
    Ok(text.into_owned())
}

fn read_file(file: &Path, name: &str, limit: Limit) -> Result<Vec<u8>, Failure> {
    let file = File::open(file).map_err(|error| cannot_read(name, &error))?;
    limited(file, name, limit)
}

fn limited(source: impl Read, name: &str, limit: Limit) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    // One byte more than the limit shows that there is more, also in a pipe of unknown length.
    let read = source.take(limit.bytes + 1).read_to_end(&mut bytes);
    read.map_err(|error| cannot_read(name, &error))?;
    if bytes.len() as u64 > limit.bytes {
        let most = grouped(limit.bytes);
        let what = format!("{name} is larger than the limit of {most} bytes");
        return Err(Failure::new(what).hint(limit.hint));
    }
    Ok(bytes)
}

fn cannot_read(name: &str, error: &io::Error) -> Failure {
    Failure::new(format_args!("cannot read {name}: {error}"))
}

/// All of stdin. Input without a name, which no option asks for, is given up if nothing comes soon.
///
/// It is read on a thread of its own, because a blocked read cannot be cancelled.
fn all(what: Option<&str>, limit: Limit) -> Result<Option<Vec<u8>>, Failure> {
    let (tell, came) = mpsc::channel();
    let read = move || {
        let mut stdin = io::stdin().lock();
        // `fill_buf` returns with the first byte or at the end. An error of reading comes again below.
        // Sending fails if the command has given up; then the result is of no use.
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
        // The thread stays blocked and ends with the program.
        (Err(_), None) => return Ok(None),
    }
    match came.into_iter().flatten().next() {
        Some(all) => all.map(Some),
        None => Err(Failure::new("stdin could not be read")),
    }
}
