//! A reader whose next bytes can be seen before they are taken.

use std::io::{self, BufRead, ErrorKind, Read};

/// A reader and the bytes of it that were looked at but not taken.
#[derive(Debug)]
pub(super) struct Ahead<R> {
    reader: R,
    seen: Vec<u8>,
    at: usize,
}

impl<R> Ahead<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            seen: Vec::new(),
            at: 0,
        }
    }

    /// The underlying reader, whose bytes begin after those that were read ahead.
    pub(super) fn below(&mut self) -> &mut R {
        &mut self.reader
    }

    /// Forgets what was looked at.
    pub(super) fn clear(&mut self) {
        self.seen.clear();
        self.at = 0;
    }

    fn seen(&self) -> &[u8] {
        self.seen.get(self.at..).unwrap_or_default()
    }
}

impl<R: BufRead> Ahead<R> {
    /// The next bytes, at least `count` unless the reader ends.
    pub(super) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.seen().len() < count && self.look_on()? {}
        Ok(self.seen())
    }

    /// Takes `count` bytes that were read ahead.
    pub(super) fn consume_all(&mut self, count: usize) -> io::Result<()> {
        let mut left = count;
        while left > 0 {
            let there = self.fill_buf()?.len().min(left);
            if there == 0 {
                break;
            }
            self.consume(there);
            left -= there;
        }
        Ok(())
    }

    /// Reads more bytes ahead, and returns `false` at the end.
    fn look_on(&mut self) -> io::Result<bool> {
        if self.at > 0 {
            // Bytes that were taken are dropped first, so that the buffer holds no more than what was peeked.
            self.seen.drain(..self.at.min(self.seen.len()));
            self.at = 0;
        }
        let more = fill(&mut self.reader)?;
        let count = more.len();
        self.seen.extend_from_slice(more);
        self.reader.consume(count);
        Ok(count > 0)
    }
}

impl<R: BufRead> Read for Ahead<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Ahead<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at < self.seen.len() {
            return Ok(self.seen.get(self.at..).unwrap_or_default());
        }
        self.clear();
        fill(&mut self.reader)
    }

    fn consume(&mut self, amount: usize) {
        match self.at < self.seen.len() {
            true => self.at = (self.at + amount).min(self.seen.len()),
            false => self.reader.consume(amount),
        }
    }
}

/// The bytes that are there to be read; empty at the end.
fn fill<R: BufRead>(reader: &mut R) -> io::Result<&[u8]> {
    // An interrupted call is repeated, as the readers of the standard library do.
    loop {
        match reader.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    // Called again, since the borrow checker does not let a borrow leave the loop. It costs nothing: the
    // buffer is filled.
    reader.fill_buf()
}
