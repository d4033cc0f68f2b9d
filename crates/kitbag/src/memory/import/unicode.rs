//! Reads text in UTF-16 as UTF-8, piece by piece.

use std::fmt;
use std::io::{self, BufRead, Read};

use encoding_rs::{Decoder, Encoding, UTF_16BE, UTF_16LE};

/// The bytes of UTF-8 that are made at a time.
const PIECE: usize = 64 << 10;

/// A reader that decodes UTF-16 with a byte order mark to UTF-8. All other bytes pass unchanged.
pub(super) struct Utf8<R> {
    reader: R,
    encoding: Option<TextEncoding>,
    text: Vec<u8>,
    at: usize,
}

enum TextEncoding {
    Utf8,
    Utf16(Box<Decoder>),
    /// UTF-16 that was decoded to its end.
    Ended,
}

impl<R> Utf8<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            encoding: None,
            text: Vec::new(),
            at: 0,
        }
    }

    /// The reader below, after whose change another file begins.
    pub(super) fn restart(&mut self) -> &mut R {
        self.encoding = None;
        self.text.clear();
        self.at = 0;
        &mut self.reader
    }
}

impl<R: BufRead> Utf8<R> {
    /// Decodes until there is text, or the end.
    fn decode_on(&mut self) -> io::Result<()> {
        while let Some(TextEncoding::Utf16(decoder)) = &mut self.encoding {
            let bytes = self.reader.fill_buf()?;
            let is_last = bytes.is_empty();
            // No more room than the bytes can need, because clearing it costs time. Two bytes of UTF-16 become at
            // most three of UTF-8.
            let room = bytes.len().saturating_mul(3).clamp(64, PIECE);
            self.text.resize(room, 0);
            let (_, read, written, _) = decoder.decode_to_utf8(bytes, &mut self.text, is_last);
            self.text.truncate(written);
            self.at = 0;
            self.reader.consume(read);
            if is_last {
                self.encoding = Some(TextEncoding::Ended);
            }
            // Half of a character gives no text yet, and an empty buffer would mean the end.
            if written > 0 {
                break;
            }
        }
        Ok(())
    }
}

/// The encoding whose byte order mark begins with this byte: neither can begin UTF-8.
fn encoding_of(first: Option<u8>) -> Option<&'static Encoding> {
    match first {
        Some(0xFF) => Some(UTF_16LE),
        Some(0xFE) => Some(UTF_16BE),
        _ => None,
    }
}

impl<R: BufRead> Read for Utf8<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Utf8<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.encoding.is_none() {
            let first = self.reader.fill_buf()?.first().copied();
            self.encoding = Some(match encoding_of(first) {
                // The decoder checks the second byte of the mark itself.
                Some(known) => TextEncoding::Utf16(Box::new(known.new_decoder_with_bom_removal())),
                None => TextEncoding::Utf8,
            });
        }
        if matches!(self.encoding, Some(TextEncoding::Utf8)) {
            return self.reader.fill_buf();
        }
        if self.at >= self.text.len() {
            self.text.clear();
            self.at = 0;
            self.decode_on()?;
        }
        Ok(self.text.get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, amount: usize) {
        match &self.encoding {
            Some(TextEncoding::Utf8) => self.reader.consume(amount),
            _ => self.at = (self.at + amount).min(self.text.len()),
        }
    }
}

impl<R: fmt::Debug> fmt::Debug for Utf8<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Utf8").field(&self.reader).finish()
    }
}
