//! A file of lines, or stdin, that knows how many lines were read of it.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use crate::failure::Failure;

/// What is read, and called `name` in errors.
pub(super) struct Source {
    reader: Box<dyn BufRead>,
    lines: LineCount,
}

/// How many lines were read, shared with whoever reads.
#[derive(Clone, Default)]
pub(super) struct LineCount(Rc<Cell<Lines>>);

#[derive(Clone, Copy, Default)]
struct Lines {
    ended: u64,
    is_within: bool,
}

impl LineCount {
    /// The number of the line that was read last, from 1.
    pub(super) fn last(&self) -> u64 {
        let lines = self.0.get();
        lines.ended + u64::from(lines.is_within)
    }
}

impl Source {
    /// Opens a file, or stdin for `-`.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let reader: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(BufReader::with_capacity(1 << 16, io::stdin()))
        } else {
            let failed =
                |error| Failure::new(format_args!("cannot read {}: {error}", path.display()));
            let file = File::open(path).map_err(failed)?;
            if file.metadata().is_ok_and(|file| file.is_dir()) {
                return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
            }
            Box::new(BufReader::with_capacity(1 << 16, file))
        };
        Ok(Self {
            reader,
            lines: LineCount::default(),
        })
    }

    /// The count, which goes on when the source is handed to a reader.
    pub(super) fn lines(&self) -> LineCount {
        self.lines.clone()
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.reader.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        let mut lines = self.lines.0.get();
        // What is consumed stands in the buffer, so that this reads nothing.
        if let Some(consumed) = self
            .reader
            .fill_buf()
            .ok()
            .and_then(|all| all.get(..amount))
        {
            let ended = consumed.iter().filter(|&&byte| byte == b'\n').count();
            lines.ended += u64::try_from(ended).unwrap_or(u64::MAX);
            if let Some(last) = consumed.last() {
                lines.is_within = *last != b'\n';
            }
        }
        self.lines.0.set(lines);
        self.reader.consume(amount);
    }
}
