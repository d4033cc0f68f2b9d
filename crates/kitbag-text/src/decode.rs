//! Turns bytes into text.

use std::borrow::Cow;

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Only this much of a file is searched for signs that it is no text.
const HEAD: usize = 8 << 10;

/// How a text was encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Encoding {
    /// UTF-8, with or without a byte order mark.
    Utf8,
    /// UTF-16, the low byte first.
    Utf16Le,
    /// UTF-16, the high byte first.
    Utf16Be,
    /// Windows-1252, of which Latin-1 is a part. Every byte stands for something in it, so this is
    /// what a text is taken for that is nothing else.
    Windows1252,
}

/// A file's text, or the finding that it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decoded<'a> {
    /// The text, borrowed where it is valid UTF-8 already. No byte order mark is left.
    Text {
        /// The text.
        text: Cow<'a, str>,
        /// How it was encoded.
        encoding: Encoding,
    },
    /// The bytes are no text.
    Binary,
}

impl<'a> Decoded<'a> {
    /// The text, if there is one.
    #[must_use]
    pub fn into_text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Binary => None,
        }
    }
}

/// Decodes a file. UTF-16 is known by its mark, or by the zero bytes of plain letters.
#[must_use]
pub fn decode(bytes: &[u8]) -> Decoded<'_> {
    let utf16 = |bytes, encoding| {
        let decoder = match encoding {
            Encoding::Utf16Be => UTF_16BE,
            _ => UTF_16LE,
        };
        let (text, _) = decoder.decode_without_bom_handling(bytes);
        Decoded::Text { text, encoding }
    };
    match bytes {
        [0xEF, 0xBB, 0xBF, text @ ..] => return eight_bit(text),
        // UTF-32 has no use in source, and its mark begins as that of UTF-16 does.
        [0xFF, 0xFE, 0, 0, ..] => return Decoded::Binary,
        [0xFF, 0xFE, text @ ..] => return utf16(text, Encoding::Utf16Le),
        [0xFE, 0xFF, text @ ..] => return utf16(text, Encoding::Utf16Be),
        _ => {}
    }
    match zeros(bytes) {
        Zeros::None => eight_bit(bytes),
        Zeros::Odd => utf16(bytes, Encoding::Utf16Le),
        Zeros::Even => utf16(bytes, Encoding::Utf16Be),
        Zeros::Scattered => Decoded::Binary,
    }
}

/// Whether [`decode`] would find no text; looks at the head only.
#[must_use]
pub fn is_binary(bytes: &[u8]) -> bool {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] => true,
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => false,
        _ => matches!(zeros(bytes), Zeros::Scattered),
    }
}

fn eight_bit(bytes: &[u8]) -> Decoded<'_> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Decoded::Text {
            text: text.into(),
            encoding: Encoding::Utf8,
        },
        Err(_) => Decoded::Text {
            text: WINDOWS_1252.decode_without_bom_handling(bytes).0,
            encoding: Encoding::Windows1252,
        },
    }
}

/// Where the zero bytes of a head are.
enum Zeros {
    None,
    Odd,
    Even,
    Scattered,
}

fn zeros(bytes: &[u8]) -> Zeros {
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    if memchr::memchr(0, head).is_none() {
        return Zeros::None;
    }
    let (pairs, _) = head.as_chunks::<2>();
    let even = pairs.iter().filter(|[first, _]| *first == 0).count();
    let odd = pairs.iter().filter(|[_, second]| *second == 0).count();
    // Text of Latin letters has a zero in nearly every pair, and always at the same place.
    let most = pairs.len() - pairs.len() / 4;
    match (even, odd) {
        (0, odd) if odd >= most && pairs.len() > 1 => Zeros::Odd,
        (even, 0) if even >= most && pairs.len() > 1 => Zeros::Even,
        _ => Zeros::Scattered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Option<(String, Encoding)> {
        match decode(bytes) {
            Decoded::Text { text, encoding } => Some((text.into_owned(), encoding)),
            Decoded::Binary => None,
        }
    }

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf_8_is_borrowed() {
        let bytes = "naïve €".as_bytes();
        let Decoded::Text { text, encoding } = decode(bytes) else {
            panic!("no text");
        };
        assert!(matches!(text, Cow::Borrowed("naïve €")));
        assert_eq!(encoding, Encoding::Utf8);
        assert_eq!(self::text(b""), Some((String::new(), Encoding::Utf8)));
    }

    #[test]
    fn marks_are_taken_off() {
        let expected = |encoding| Some(("a€\n".to_owned(), encoding));
        assert_eq!(text("\u{feff}a€\n".as_bytes()), expected(Encoding::Utf8));
        let marked = |bytes| utf16("\u{feff}a€\n", bytes);
        assert_eq!(text(&marked(u16::to_le_bytes)), expected(Encoding::Utf16Le));
        assert_eq!(text(&marked(u16::to_be_bytes)), expected(Encoding::Utf16Be));
    }

    #[test]
    fn utf_16_without_a_mark_shows_by_its_zeros() {
        let source = "using System; // na\u{ef}ve \u{20ac}\r\n";
        let expected = |encoding| Some((source.to_owned(), encoding));
        let low = utf16(source, u16::to_le_bytes);
        assert_eq!(text(&low), expected(Encoding::Utf16Le));
        let high = utf16(source, u16::to_be_bytes);
        assert_eq!(text(&high), expected(Encoding::Utf16Be));
    }

    #[test]
    fn other_bytes_are_taken_for_windows_1252() {
        let expected = Some(("café – “x”".to_owned(), Encoding::Windows1252));
        assert_eq!(text(b"caf\xe9 \x96 \x93x\x94"), expected);
    }

    #[test]
    fn zeros_elsewhere_are_no_text() {
        assert_eq!(text(b"\x7fELF\x02\x01\x01\0\0\0\0\0"), None);
        assert_eq!(text(b"plain text, then \0 a zero"), None);
        assert_eq!(text(b"\xff\xfe\0\0a\0\0\0"), None);
        assert_eq!(text(b"\0"), None);
        assert_eq!(text(&[0; 100]), None);
        assert!(is_binary(b"GIF89a\0\0") && !is_binary(b"GIF89a"));
    }
}
