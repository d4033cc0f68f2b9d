//! Decodes bytes to text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The part of a file that is searched for signs of binary content. Reading all of a large file for
/// it would cost too much.
const HEAD: usize = 8 << 10;

/// Decodes a file, borrowing it if it is valid UTF-8 already. Returns none if the bytes are no
/// text. A byte order mark is removed.
///
/// UTF-16 is recognised by its mark, or by the zero bytes of Latin letters. Everything else counts
/// as Windows-1252, which contains Latin-1 and gives every byte a character.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match bytes {
        [0xEF, 0xBB, 0xBF, text @ ..] => return Some(eight_bit(text)),
        // UTF-32 is not used for source code, and its mark begins like that of UTF-16.
        [0xFF, 0xFE, 0, 0, ..] => return None,
        [0xFF, 0xFE, text @ ..] => return Some(read(UTF_16LE, text)),
        [0xFE, 0xFF, text @ ..] => return Some(read(UTF_16BE, text)),
        _ => {}
    }
    match zeros(bytes) {
        Zeros::None => Some(eight_bit(bytes)),
        Zeros::Odd => Some(read(UTF_16LE, bytes)),
        Zeros::Even => Some(read(UTF_16BE, bytes)),
        Zeros::Scattered => None,
    }
}

/// Returns true if [`decode`] would find no text. It looks at the head only.
#[must_use]
pub fn is_binary(bytes: &[u8]) -> bool {
    match bytes {
        [0xFF, 0xFE, 0, 0, ..] => true,
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => false,
        _ => matches!(zeros(bytes), Zeros::Scattered),
    }
}

fn eight_bit(bytes: &[u8]) -> Cow<'_, str> {
    // UTF-8 first: other encodings accept its bytes too, but hardly any other text is valid UTF-8.
    match std::str::from_utf8(bytes) {
        Ok(text) => text.into(),
        Err(_) => read(WINDOWS_1252, bytes),
    }
}

fn read<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Cow<'a, str> {
    encoding.decode_without_bom_handling(bytes).0
}

/// The places of zero bytes in a head.
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
    // Latin letters in UTF-16 give nearly every pair a zero byte, always at the same place. A
    // quarter of the pairs may hold other characters.
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

    fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf_8_is_borrowed() {
        let text = decode("naïve €".as_bytes());
        assert!(matches!(text, Some(Cow::Borrowed("naïve €"))));
        assert_eq!(decode(b"").as_deref(), Some(""));
    }

    #[test]
    fn marks_are_taken_off() {
        let marked = |bytes| utf16("\u{feff}a€\n", bytes);
        for bytes in [
            "\u{feff}a€\n".into(),
            marked(u16::to_le_bytes),
            marked(u16::to_be_bytes),
        ] {
            assert_eq!(decode(&bytes).as_deref(), Some("a€\n"), "{bytes:?}");
        }
    }

    #[test]
    fn utf_16_without_a_mark_shows_by_its_zeros() {
        let source = "using System; // na\u{ef}ve \u{20ac}\r\n";
        let low = utf16(source, u16::to_le_bytes);
        assert_eq!(decode(&low).as_deref(), Some(source));
        let high = utf16(source, u16::to_be_bytes);
        assert_eq!(decode(&high).as_deref(), Some(source));
    }

    #[test]
    fn other_bytes_are_taken_for_windows_1252() {
        let text = decode(b"caf\xe9 \x96 \x93x\x94");
        assert_eq!(text.as_deref(), Some("café – “x”"));
    }

    #[test]
    fn zeros_elsewhere_are_no_text() {
        assert_eq!(decode(b"\x7fELF\x02\x01\x01\0\0\0\0\0"), None);
        assert_eq!(decode(b"plain text, then \0 a zero"), None);
        assert_eq!(decode(b"\xff\xfe\0\0a\0\0\0"), None);
        assert_eq!(decode(b"\0"), None);
        assert_eq!(decode(&[0; 100]), None);
        assert!(is_binary(b"GIF89a\0\0") && !is_binary(b"GIF89a"));
    }
}
