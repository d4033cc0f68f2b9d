//! Counts a stream of any length in bounded memory.
//!
//! A text is cut only where counts add up: after a newline, before a character that is neither
//! white space nor a slash. A text without such a place is read whole.

use std::io::{self, Read};

use super::{Counter, long_text};

/// The bytes to read before searching a place to cut.
const BLOCK: usize = 4 << 20;

impl Counter {
    /// The number of tokens and of bytes in what `reader` gives, which must be UTF-8.
    ///
    /// # Errors
    /// When reading fails, or at the first byte that is not UTF-8.
    pub fn count_reader(&self, mut reader: impl Read) -> Result<StreamCount, StreamError> {
        let mut base = 0_u64;
        let mut bytes = 0_u64;
        let mut block: Vec<u8> = Vec::new();
        loop {
            let read = reader.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
            let end = if read == 0 {
                // At the end of the stream the rest is a text by itself.
                Some(block.len())
            } else {
                last_cut(&block)
            };
            // The block grows until it has a place to cut.
            let Some(end) = end else {
                continue;
            };
            let rest = block.split_off(end);
            let text = str::from_utf8(&block).map_err(|error| StreamError::NotUtf8 {
                // A cut is after an ASCII byte, so no character is ever split between blocks.
                offset: bytes + error.valid_up_to() as u64,
            })?;
            base += long_text::count(self.vocabulary, text) as u64;
            bytes += text.len() as u64;
            block = rest;
            if read == 0 {
                // Scaled once, at the end: rounding up each block would add a token for every one.
                let tokens = self.scale(base);
                return Ok(StreamCount { tokens, bytes });
            }
        }
    }
}

/// The size of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamCount {
    pub tokens: u64,
    pub bytes: u64,
}

/// An error of counting a stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// It could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It is not text.
    #[error("not UTF-8 text at byte {offset}")]
    NotUtf8 {
        /// The first byte that does not belong to a character.
        offset: u64,
    },
}

/// The last place at which counts add up.
fn last_cut(block: &[u8]) -> Option<usize> {
    // Only ASCII, although most other characters would do: a byte says enough about those.
    let begins = |byte: u8| byte.is_ascii_graphic() && byte != b'/';
    let cut = block
        .array_windows()
        .rposition(|&[before, after]| before == b'\n' && begins(after));
    cut.map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::Vocabulary;
    use kitbag_core::tokens::TokenCounter;

    #[test]
    fn p02_a_stream_counts_as_its_text() {
        let line = "fn main() { println!(\"höhe /n\"); }\n";
        let cases = [
            String::new(),
            "no newline".into(),
            line.repeat(300_000),
            " \n/".repeat(2_000_000),
        ];
        for counter in [
            Counter::for_vocabulary(Vocabulary::O200kBase).unwrap(),
            Counter::for_model("claude-sonnet-4-5").unwrap(),
        ] {
            for text in &cases {
                let count = counter.count_reader(text.as_bytes()).unwrap();
                assert_eq!(count.bytes, text.len() as u64);
                assert_eq!(count.tokens, u64::from(counter.count(text).0));
            }
        }
    }

    #[test]
    fn p02_a_byte_that_is_no_text_is_named_by_its_place() {
        let counter = Counter::for_vocabulary(Vocabulary::Cl100kBase).unwrap();
        let mut bytes = "line\n".repeat(1_000_000).into_bytes();
        bytes.push(0xff);
        let error = counter.count_reader(bytes.as_slice()).unwrap_err();
        assert!(
            matches!(error, StreamError::NotUtf8 { offset: 5_000_000 }),
            "{error}"
        );
    }
}
