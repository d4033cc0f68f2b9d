//! Characters that no pre-tokenizer tells apart.
//!
//! Vocabularies split text into pieces by patterns over classes of characters. Two characters of one
//! [`CharClass`] are in the same classes of every pattern, so that a run of them is one piece
//! throughout; only white space has an inner order, by [`is_line_end`]. Only characters that are certain
//! are classified: leaving one out costs speed, never exactness. Digits are left out because patterns
//! count them.

/// The treatment of case in a vocabulary's pattern: some end a word where lower case meets upper case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LetterCase {
    Splits,
    Ignored,
}

/// The treatment of format characters, such as a joiner: some patterns split them from signs.
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
            // The basic letters, which Unicode orders by case; beyond them the two cases alternate.
            'а'..='џ' => Self::CyrillicLower,
            'Ѐ'..='Я' => Self::CyrillicUpper,
            // The range on which all patterns with a class for Chinese agree; later additions are left out.
            '\u{4E00}'..='\u{9FA5}' => Self::Han,
            '\u{3041}'..='\u{3096}' | '\u{30A1}'..='\u{30FA}' => Self::Kana,
            '\u{AC00}'..='\u{D7A3}' => Self::Hangul,
            _ => return None,
        };
        Some(match (case, class) {
            // Then a run of mixed case is one piece, and must be one class to be shortened as a whole.
            (LetterCase::Ignored, Self::AsciiUpper) => Self::AsciiLower,
            (LetterCase::Ignored, Self::CyrillicUpper) => Self::CyrillicLower,
            _ => class,
        })
    }
}

/// Tells whether patterns treat a character as the end of a line.
pub(super) fn is_line_end(character: char) -> bool {
    matches!(character, '\n' | '\r')
}
