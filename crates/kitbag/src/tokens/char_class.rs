//! Characters that no pre-tokenizer tells apart.
//!
//! Vocabularies split text into pieces by patterns over classes of characters. Two characters of one
//! [`CharClass`] are in the same classes of every pattern, so that a run of them is one piece
//! throughout; only white space has an inner order, by [`is_line_end`]. Only characters that are certain are classified: what is left out costs speed, never
//! exactness. Digits are left out because patterns count them.

/// Whether a vocabulary's pattern ends a word where lower case meets upper case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LetterCase {
    Splits,
    Ignored,
}

/// Whether a vocabulary's pattern parts format characters, such as a joiner, from signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FormatChars {
    Apart,
    Together,
}

/// Characters with one meaning for every pattern, away from the ends of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharClass {
    AsciiLower,
    AsciiUpper,
    AsciiPunctuation,
    Slash,
    White,
    CyrillicLower,
    CyrillicUpper,
    Han,
    Kana,
    Hangul,
}

impl CharClass {
    pub(super) fn of(character: char, case: LetterCase) -> Option<Self> {
        let class = match character {
            'a'..='z' => Self::AsciiLower,
            'A'..='Z' => Self::AsciiUpper,
            ' ' | '\t' | '\n' | '\r' => Self::White,
            // Some patterns let slashes follow a line end where other punctuation begins a piece.
            '/' => Self::Slash,
            '!'..='.' | ':'..='@' | '['..='`' | '{'..='~' => Self::AsciiPunctuation,
            'а'..='џ' => Self::CyrillicLower,
            'Ѐ'..='Я' => Self::CyrillicUpper,
            // Where every pattern that sets Chinese apart agrees on what is Chinese.
            '\u{4E00}'..='\u{9FA5}' => Self::Han,
            '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' => Self::Kana,
            '\u{AC00}'..='\u{D7A3}' => Self::Hangul,
            _ => return None,
        };
        Some(match (case, class) {
            (LetterCase::Ignored, Self::AsciiUpper) => Self::AsciiLower,
            (LetterCase::Ignored, Self::CyrillicUpper) => Self::CyrillicLower,
            _ => class,
        })
    }
}

/// Whether patterns take it for the end of a line.
pub(super) fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r')
}
