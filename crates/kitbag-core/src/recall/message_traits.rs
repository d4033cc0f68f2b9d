//! The traits of a message that ranking knows besides its words.

/// Yes-or-no properties of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageTraits(u32);

impl MessageTraits {
    /// It ends with a question.
    pub(super) const QUESTION: Self = Self(1);
    /// It has a word that denies.
    pub(super) const NEGATION: Self = Self(2);
    /// It has a word of dislike.
    pub(super) const DISLIKE: Self = Self(4);
    /// It has a word of liking.
    pub(super) const LIKING: Self = Self(8);

    /// Returns the traits as a number, for a store.
    #[must_use]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Returns the traits that a store kept; unknown bits stay as they are.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Tells whether all traits of `other` are here.
    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Joins these traits and those of `other`.
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Reads the traits that the signs of a text show.
    pub(super) fn of_text(text: &str) -> Self {
        let last = text.chars().rev().find(|c| is_telling(*c));
        match last {
            // The last of these is the Greek question mark, which looks like a semicolon.
            Some('?' | '？' | '؟' | '\u{37e}') => Self::QUESTION,
            _ => Self::default(),
        }
    }
}

/// Tells whether a character decides how a text ends: spaces, quotes, brackets and emoji do not.
fn is_telling(c: char) -> bool {
    c.is_alphanumeric()
        || (c.is_ascii_punctuation() && !matches!(c, '"' | '\'' | ')' | ']' | '*' | '_'))
        || matches!(c, '？' | '؟' | '\u{37e}' | '。' | '！' | '…')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x04_a_question_is_known_by_its_end() {
        for text in [
            "Why?",
            "And you? 😊",
            "(really?)",
            "\"Who?\" ",
            "¿Por qué?",
            "なぜ？",
            "متى؟",
        ] {
            assert!(
                MessageTraits::of_text(text).has(MessageTraits::QUESTION),
                "{text}"
            );
        }
        for text in ["Why? I know.", "Yes!", "", "?? no", "🎉"] {
            assert!(
                !MessageTraits::of_text(text).has(MessageTraits::QUESTION),
                "{text}"
            );
        }
        let kept = MessageTraits::from_bits(MessageTraits::QUESTION.bits());
        assert_eq!(kept, MessageTraits::QUESTION);
    }
}
