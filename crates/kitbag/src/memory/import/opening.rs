//! Recognises the records of a file that opens with `{` by its beginning.

use std::io::{self, BufRead};

use super::ahead::Ahead;

/// The bytes to look at. A list of conversations that begins later is not found.
const LONGEST: usize = 64 << 10;

/// The contents of a file that opens with `{`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// An object on one line, so that more may follow.
    Line,
    /// An object on several lines.
    Value,
    /// An object with a list of conversations, whose first element begins after this many bytes.
    Wrapper(usize),
}

impl Opening {
    /// Looks at the beginning, and takes nothing.
    pub(super) fn of<R: BufRead>(reader: &mut Ahead<R>) -> io::Result<Self> {
        let mut scan = Scan::default();
        let mut scanned = 0;
        loop {
            let bytes = reader.peek(scanned + 1)?;
            let more = bytes.get(scanned..).unwrap_or_default();
            for byte in more {
                scanned += 1;
                if let Some(found) = scan.take(*byte, scanned) {
                    return Ok(found);
                }
            }
            if more.is_empty() || scanned >= LONGEST {
                return Ok(scan.so_far());
            }
        }
    }
}

#[derive(Default)]
struct Scan {
    depth: u32,
    in_string: bool,
    is_escaped: bool,
    /// The string that was read last, as long as it may be the key.
    key: Vec<u8>,
    /// A colon followed the key.
    has_colon: bool,
    /// A line ended inside the object.
    has_lines: bool,
    /// Nothing but blanks stands on this line yet.
    is_line_start: bool,
}

const KEY: &[u8] = b"conversations";

impl Scan {
    fn take(&mut self, byte: u8, end: usize) -> Option<Opening> {
        if self.in_string {
            match byte {
                // A string in JSON cannot hold a line end, so this line is a broken record.
                b'\n' => return Some(self.so_far()),
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_string = false,
                // One byte more than the key, so that a longer string is not taken for it.
                _ if self.key.len() <= KEY.len() => self.key.push(byte),
                _ => {}
            }
            return None;
        }
        if byte == b'\n' {
            self.is_line_start = true;
            return None;
        }
        if byte.is_ascii_whitespace() {
            return None;
        }
        if self.is_line_start {
            self.is_line_start = false;
            // Inside an object a line begins with a key or a bracket that ends it, unless it is one of
            // several records, of which the one before is broken.
            if self.depth == 1 && byte == b'{' && !self.has_lines {
                return Some(Opening::Line);
            }
            self.has_lines = true;
        }
        match byte {
            b'"' => {
                self.in_string = true;
                self.key.clear();
                self.has_colon = false;
            }
            b':' => self.has_colon = true,
            b'[' if self.depth == 1 && self.has_colon && self.key == KEY => {
                // Known as soon as the list begins: the rest of the file is not looked at.
                return Some(Opening::Wrapper(end));
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    return Some(self.so_far());
                }
            }
            // Another value after the key, such as a number.
            _ => self.has_colon = false,
        }
        None
    }

    fn so_far(&self) -> Opening {
        match self.has_lines {
            true => Opening::Value,
            false => Opening::Line,
        }
    }
}
