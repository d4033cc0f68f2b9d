//! Takes the values of a JSON array apart without reading the whole: one value is held at a time.
//!
//! Only brackets and strings are looked at. Whether a value is good JSON is for its reader to say, so
//! that a bad one costs no other.

use std::io::{self, BufRead, ErrorKind};

/// The values of an array, or those that stand one after the other without one.
#[derive(Debug)]
pub(super) struct Values<R> {
    reader: R,
    in_array: bool,
}

/// What was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    Value,
    /// A value that is too long; nothing of it is held.
    TooLong,
    End,
    /// The file ends inside a value or before the end of the array.
    Unfinished,
}

impl<R: BufRead> Values<R> {
    /// The values of a reader that stands at the first byte that counts.
    pub(super) fn of(mut reader: R) -> io::Result<Self> {
        let in_array = fill(&mut reader)?.first() == Some(&b'[');
        if in_array {
            reader.consume(1);
        }
        Ok(Self { reader, in_array })
    }

    /// Reads the next value into `value`, which is empty.
    pub(super) fn next(&mut self, value: &mut Vec<u8>, limit: usize) -> io::Result<Found> {
        let Some(mut scan) = self.begin()? else {
            return Ok(Found::End);
        };
        let mut is_too_long = false;
        loop {
            let bytes = fill(&mut self.reader)?;
            if bytes.is_empty() {
                let is_whole = scan.is_scalar_so_far() && !self.in_array;
                return Ok(if is_whole && !value.is_empty() {
                    Found::Value
                } else {
                    Found::Unfinished
                });
            }
            let end = scan.end_in(bytes);
            let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or(bytes);
            is_too_long |= value.len() + part.len() > limit;
            if is_too_long {
                value.clear();
            } else {
                value.extend_from_slice(part);
            }
            let length = part.len();
            self.reader.consume(length);
            if end.is_some() {
                return Ok(if is_too_long {
                    Found::TooLong
                } else {
                    Found::Value
                });
            }
        }
    }

    /// Goes to the next value; none at the end.
    fn begin(&mut self) -> io::Result<Option<Scan>> {
        loop {
            let Some(&first) = fill(&mut self.reader)?.first() else {
                // An array without an end is found out by the value that does not come.
                return Ok(self.in_array.then(Scan::default));
            };
            if first == b']' && self.in_array {
                return Ok(None);
            }
            if !first.is_ascii_whitespace() && first != b',' {
                return Ok(Some(Scan::default()));
            }
            self.reader.consume(1);
        }
    }
}

/// Where in a value the reading stands.
#[derive(Default)]
struct Scan {
    depth: u32,
    in_string: bool,
    is_escaped: bool,
}

impl Scan {
    /// Where the value ends in these bytes, if it does.
    fn end_in(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                // A bracket too many is a value of its own, or the reading would stand still.
                b'}' | b']' => match self.depth {
                    0 => return Some(at.max(1)),
                    1 => return Some(at + 1),
                    _ => self.depth -= 1,
                },
                b',' if self.depth == 0 => return Some(at),
                _ if byte.is_ascii_whitespace() && self.depth == 0 => return Some(at),
                _ => {}
            }
        }
        None
    }

    fn is_scalar_so_far(&self) -> bool {
        self.depth == 0 && !self.in_string
    }
}

/// What is there to be read; empty at the end.
pub(super) fn fill<R: BufRead>(reader: &mut R) -> io::Result<&[u8]> {
    // A call that was interrupted is made again, as the readers of the standard library do.
    loop {
        match reader.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    reader.fill_buf()
}
