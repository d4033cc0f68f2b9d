//! Splits a file into records, lines or values of a JSON array, and holds one record at a time.
//!
//! Only brackets and strings of values are examined. The reader of a record decides if it is valid
//! JSON, so that a bad one costs no other.

use std::io::{self, BufRead};

use memchr::memchr2;

use super::ahead::Ahead;
use super::input::{Input, Opened};
use super::opening::Opening;
use super::{ImportFormat, Place};

/// The records of one file after the other.
#[derive(Debug)]
pub(super) struct Records<R> {
    reader: Ahead<Input<R>>,
    /// Not known before the first byte that counts was seen.
    framing: Option<Framing>,
    /// The line that is read, counted from 1.
    line: u64,
    /// The number of records that were begun.
    pub(super) count: u64,
}

/// The borders of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Lines,
    /// The values of an array.
    Array,
    /// Values that stand one after the other without one.
    Values,
}

/// The outcome of one reading.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Record,
    /// A record that is too long; nothing of it is held.
    TooLong,
    End,
    /// The file ends inside a value or before the end of the array.
    Unfinished,
}

impl<R: BufRead> Records<R> {
    pub(super) fn of(reader: R) -> Self {
        Self {
            reader: Ahead::new(Input::new(reader)),
            framing: None,
            line: 1,
            count: 0,
        }
    }

    /// The files that the records come from.
    pub(super) fn input(&mut self) -> &mut Input<R> {
        self.reader.below()
    }

    /// Goes to the next file.
    pub(super) fn open_next(&mut self) -> io::Result<Opened> {
        self.reader.clear();
        self.framing = None;
        self.line = 1;
        self.count = 0;
        self.input().open_next()
    }

    /// Finds out the borders of the records, and the format where that tells it: objects that stand in
    /// lines are lines.
    pub(super) fn open(&mut self, format: &mut Option<ImportFormat>) -> io::Result<()> {
        const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];
        if self.framing.is_some() {
            return Ok(());
        }
        // The three bytes of the mark cannot begin JSON, so that they may be skipped one by one.
        let first = self.skip(|byte| is_blank(byte) || MARK.contains(&byte))?;
        let opening = match (*format, first) {
            (Some(ImportFormat::Lines), _) => Opening::Line,
            (_, Some(b'[')) => Opening::Wrapper(1),
            (_, Some(b'{')) => Opening::of(&mut self.reader)?,
            _ => Opening::Line,
        };
        self.framing = Some(match (opening, *format) {
            (Opening::Wrapper(length), _) => {
                self.reader.consume_all(length)?;
                Framing::Array
            }
            (Opening::Line, None | Some(ImportFormat::Lines)) => {
                *format = Some(ImportFormat::Lines);
                Framing::Lines
            }
            (Opening::Value | Opening::Line, _) => Framing::Values,
        });
        Ok(())
    }

    /// The place of the record that was read last.
    pub(super) fn place(&self) -> Place {
        match self.framing {
            Some(Framing::Lines) => Place::Line(self.line),
            _ => Place::Record(self.count),
        }
    }

    /// Reads the next record into `record`, which is empty.
    pub(super) fn next(&mut self, record: &mut Vec<u8>, limit: usize) -> io::Result<Found> {
        let is_line = self.framing == Some(Framing::Lines);
        let is_array = self.framing == Some(Framing::Array);
        // Superfluous commas between values are forgiven: each value stands for itself.
        let first = self.skip(|byte| is_blank(byte) || (byte == b',' && !is_line))?;
        self.count += 1;
        match first {
            None if is_array => return Ok(Found::Unfinished),
            None => return Ok(Found::End),
            Some(b']') if is_array => return Ok(Found::End),
            Some(_) => {}
        }
        let mut scan = Scan::default();
        let mut is_too_long = false;
        loop {
            let bytes = self.reader.fill_buf()?;
            let end = match is_line {
                true => memchr::memchr(b'\n', bytes),
                false => scan.end_in(bytes),
            };
            let is_file_end = bytes.is_empty();
            // Only a line, or a value without brackets such as a number, may end with the file.
            if is_file_end && !is_line && (is_array || !scan.is_scalar_so_far()) {
                return Ok(Found::Unfinished);
            }
            let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes);
            is_too_long |= record.len() + part.len() > limit;
            if is_too_long {
                // The rest of a record that is too long is read and dropped, so that the next one is found.
                record.clear();
            } else {
                record.extend_from_slice(part);
            }
            let length = part.len();
            self.reader.consume(length);
            if end.is_some() || is_file_end {
                return Ok(match is_too_long {
                    true => Found::TooLong,
                    false => Found::Record,
                });
            }
        }
    }

    /// Goes to the first byte that is not between records, which stays to be read, and counts lines.
    fn skip(&mut self, is_between: impl Fn(u8) -> bool) -> io::Result<Option<u8>> {
        loop {
            let first = self.reader.fill_buf()?.first().copied();
            let Some(between) = first.filter(|&byte| is_between(byte)) else {
                return Ok(first);
            };
            self.line += u64::from(between == b'\n');
            self.reader.consume(1);
        }
    }
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

/// The place in a value that the reading has come to.
#[derive(Default)]
struct Scan {
    depth: u32,
    in_string: bool,
    is_escaped: bool,
}

impl Scan {
    /// The end of the value in these bytes, if it is there.
    fn end_in(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if self.in_string {
                if self.is_escaped {
                    self.is_escaped = false;
                } else {
                    // Most of an export is text, which is skipped at the speed of `memchr`.
                    at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
                    self.is_escaped = bytes.get(at) == Some(&b'\\');
                    self.in_string = self.is_escaped;
                    if !self.in_string && self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                at += 1;
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                // A superfluous bracket is a value of its own: an empty record would never end the loop.
                b'}' | b']' => match self.depth {
                    0 => return Some(at.max(1)),
                    1 => return Some(at + 1),
                    _ => self.depth -= 1,
                },
                b',' if self.depth == 0 => return Some(at),
                _ if byte.is_ascii_whitespace() && self.depth == 0 => return Some(at),
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn is_scalar_so_far(&self) -> bool {
        self.depth == 0 && !self.in_string
    }
}
