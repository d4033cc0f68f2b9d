//! The scripts of characters, as far as cutting and stemming words depends on them.

/// The script of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Script {
    /// Latin letters and digits.
    Latin,
    /// Cyrillic letters.
    Cyrillic,
    /// Greek letters.
    Greek,
    /// Arabic letters.
    Arabic,
    /// Tamil letters.
    Tamil,
    /// Scripts without spaces between words, and Korean, whose words carry their grammar with them.
    Unspaced,
    /// Emoji and other pictures: each is a word.
    Symbol,
    /// All other scripts.
    Other,
}

impl Script {
    /// Returns the script of a character that words are made of; none for spaces and punctuation.
    #[must_use]
    pub fn of(c: char) -> Option<Self> {
        let script = match u32::from(c) {
            // ASCII first: that is most of what is read.
            0x30..=0x39 | 0x41..=0x5a | 0x61..=0x7a => return Some(Self::Latin),
            0..=0xa9 => return None,
            0x0370..=0x03ff | 0x1f00..=0x1fff => Self::Greek,
            0x0400..=0x052f | 0x1c80..=0x1c8f | 0x2de0..=0x2dff | 0xa640..=0xa69f => Self::Cyrillic,
            0x0600..=0x06ff
            | 0x0750..=0x077f
            | 0x08a0..=0x08ff
            | 0xfb50..=0xfdff
            | 0xfe70..=0xfeff => Self::Arabic,
            0x0b80..=0x0bff => Self::Tamil,
            // Skin tones belong to the emoji before them.
            0x1f3fb..=0x1f3ff => return None,
            0x2600..=0x27bf | 0x1f000..=0x1faff => return Some(Self::Symbol),
            0x0e00..=0x0eff
            | 0x1000..=0x109f
            | 0x1100..=0x11ff
            | 0x1780..=0x17ff
            | 0x3005..=0x3007
            | 0x3041..=0x318f
            | 0x31a0..=0x31ff
            | 0x3400..=0x9fff
            | 0xa960..=0xa97f
            | 0xac00..=0xd7ff
            | 0xf900..=0xfaff
            | 0xff66..=0xffdc
            | 0x1b000..=0x1b16f
            | 0x20000..=0x3ffff => Self::Unspaced,
            0xaa..=0x024f
            | 0x1e00..=0x1eff
            | 0x2c60..=0x2c7f
            | 0xa720..=0xa7ff
            | 0xff10..=0xff5a => Self::Latin,
            _ => Self::Other,
        };
        c.is_alphanumeric().then_some(script)
    }

    /// Tells whether words of this script are separated by spaces.
    #[must_use]
    pub(super) const fn is_spaced(self) -> bool {
        !matches!(self, Self::Unspaced)
    }
}
