//! A file of lines, or stdin, that knows how many lines were read of it.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use crate::failure::Failure;
use crate::input;

/// What is read, and called `name` in errors.
pub(super) struct Source {
    reader: BufReader<Box<dyn Read>>,
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
        let from: Box<dyn Read> = if input::is_stdin(path) {
            Box::new(io::stdin())
        } else {
            let failed =
                |error| Failure::new(format_args!("cannot read {}: {error}", path.display()));
            let file = File::open(path).map_err(failed)?;
            if file.metadata().is_ok_and(|file| file.is_dir()) {
                return Err(failed(io::Error::from(io::ErrorKind::IsADirectory)));
            }
            Box::new(file)
        };
        let reader = BufReader::with_capacity(1 << 16, from);
        let lines = LineCount::default();
        Ok(Self { reader, lines })
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
        for byte in self.reader.buffer().iter().take(amount) {
            lines.is_within = *byte != b'\n';
            lines.ended += u64::from(*byte == b'\n');
        }
        self.lines.0.set(lines);
        self.reader.consume(amount);
    }
}
