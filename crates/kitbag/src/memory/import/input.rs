//! The files of an import: a single file, or the files of an archive that hold conversations.

use std::io::{self, BufRead, Read};

use super::ahead::Ahead;
use super::archive::Archive;
use super::contents::Contents;
use super::unicode::Utf8;

/// Bytes in UTF-8, file by file: the end of a file is an end of reading until the next is opened.
#[derive(Debug)]
pub(super) struct Input<R> {
    state: State<R>,
    /// The files of an archive that were met.
    pub(super) contents: Contents,
}

#[derive(Debug)]
enum State<R> {
    Unopened(Ahead<R>),
    Plain(Utf8<Ahead<R>>),
    Archive(Utf8<Archive<R>>),
    Over,
}

/// A file that was opened.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Opened {
    /// The file itself, which is no archive.
    Plain,
    /// A file of an archive, by its path.
    Entry(String),
    /// There is none any more.
    None,
}

impl<R: BufRead> Input<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            state: State::Unopened(Ahead::new(reader)),
            contents: Contents::default(),
        }
    }

    /// Returns whether the files are those of an archive.
    pub(super) fn is_archive(&self) -> bool {
        matches!(self.state, State::Archive(_))
    }

    /// Goes to the next file.
    pub(super) fn open_next(&mut self) -> io::Result<Opened> {
        self.state = match std::mem::replace(&mut self.state, State::Over) {
            State::Unopened(mut reader) => {
                if !Archive::<R>::begins(reader.peek(4)?) {
                    self.state = State::Plain(Utf8::new(reader));
                    return Ok(Opened::Plain);
                }
                State::Archive(Utf8::new(Archive::new(reader)))
            }
            State::Plain(_) | State::Over => State::Over,
            // An archive stays open until its last file.
            archive @ State::Archive(_) => archive,
        };
        let State::Archive(files) = &mut self.state else {
            return Ok(Opened::None);
        };
        loop {
            let archive = files.restart();
            let Some(path) = archive.go_to_next()? else {
                return Ok(Opened::None);
            };
            if holds_conversations(&path) {
                archive.unpack()?;
                self.contents.add_read(&path);
                return Ok(Opened::Entry(path));
            }
            // Folders have entries of their own, and are not files that were left out.
            if !path.ends_with('/') {
                self.contents.add_passed(&path);
            }
        }
    }
}

/// Tells by the path of a file in an archive if it is to be read. Large exports are divided into
/// `conversations-000.json` and so on.
fn holds_conversations(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let (folder, name) = path.rsplit_once(['/', '\\']).unwrap_or(("", &path));
    let Some((stem, "json" | "jsonl" | "ndjson")) = name.rsplit_once('.') else {
        return false;
    };
    let is_memory = stem == "memories" || folder.rsplit(['/', '\\']).next() == Some("memories");
    // macOS stores attributes of a file as `._conversations.json`, which is no JSON.
    let is_hidden = stem.starts_with('.');
    !is_hidden && (stem.starts_with("conversations") || is_memory || !name.ends_with(".json"))
}

impl<R: BufRead> Read for Input<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Input<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.state {
            State::Unopened(_) | State::Over => Ok(&[]),
            State::Plain(file) => file.fill_buf(),
            State::Archive(files) => files.fill_buf(),
        }
    }

    fn consume(&mut self, amount: usize) {
        match &mut self.state {
            State::Unopened(_) | State::Over => {}
            State::Plain(file) => file.consume(amount),
            State::Archive(files) => files.consume(amount),
        }
    }
}
