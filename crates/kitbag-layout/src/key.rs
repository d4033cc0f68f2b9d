//! The key by which a model distinguishes the prompt's own tags from imitations in a text.
//!
//! It belongs to an epoch of the conversation: drawn when that begins, stored, and passed in.
//! Nothing here is random; the caller supplies the bytes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Sixteen random bytes, written as 32 hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct SecurityKey(String);

impl SecurityKey {
    /// Makes the key of these bytes.
    ///
    /// ```
    /// use kitbag_layout::SecurityKey;
    ///
    /// let key = SecurityKey::from_bytes([0xab; 16]);
    /// assert_eq!(key.as_str(), "abababababababababababababababab");
    /// ```
    #[must_use]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Draws keys until one occurs in none of the texts.
    ///
    /// A text that contains the key of this conversation could imitate its tags. The caller then
    /// begins a new epoch with the drawn key.
    ///
    /// # Errors
    /// When the source of random bytes fails.
    pub fn draw<'a, E>(
        mut random: impl FnMut() -> Result<[u8; 16], E>,
        texts: impl IntoIterator<Item = &'a str> + Clone,
    ) -> Result<Self, E> {
        // A second round is unlikely: a text would have to contain 128 random bits.
        loop {
            let key = Self::from_bytes(random()?);
            if !key.occurs_in(texts.clone()) {
                return Ok(key);
            }
        }
    }

    /// Returns true if the key occurs in one of the texts, in upper or lower case.
    #[must_use]
    pub fn occurs_in<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> bool {
        texts
            .into_iter()
            .any(|text| text.to_ascii_lowercase().contains(&self.0))
    }

    /// The text without the key, in upper or lower case.
    #[must_use]
    pub fn hide_in(&self, text: &str) -> String {
        // Lower case in ASCII changes no offset, so matches in it are places of the original.
        let lower = text.to_ascii_lowercase();
        let mut hidden = String::with_capacity(text.len());
        let mut end = 0;
        for (at, key) in lower.match_indices(&self.0) {
            hidden.push_str(text.get(end..at).unwrap_or_default());
            hidden.push_str("[security key]");
            end = at + key.len();
        }
        hidden.push_str(text.get(end..).unwrap_or_default());
        hidden
    }

    /// The 32 digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SecurityKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SecurityKey {
    /// Keeps the key out of logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecurityKey(…)")
    }
}

impl FromStr for SecurityKey {
    type Err = SecurityKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_key = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match is_key {
            // One spelling, so that keys compare as texts.
            true => Ok(Self(text.to_ascii_lowercase())),
            false => Err(SecurityKeyError {
                length: text.chars().count(),
            }),
        }
    }
}

impl TryFrom<String> for SecurityKey {
    type Error = SecurityKeyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// A text that is no key. It is not repeated, since it may be a mistyped one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a security key has 32 hexadecimal digits; this text has {length} characters")]
pub struct SecurityKeyError {
    length: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c07_a_key_that_a_text_contains_is_not_drawn() {
        let known = SecurityKey::from_bytes([1; 16]);
        let text = format!("I know it: {}", known.as_str().to_uppercase());
        let mut next = 0;
        let key = SecurityKey::draw(
            || {
                next += 1;
                Ok::<_, ()>([next; 16])
            },
            [text.as_str()],
        );
        assert_eq!(key, Ok(SecurityKey::from_bytes([2; 16])));
    }

    #[test]
    fn c07_a_key_is_hidden_in_whatever_case() {
        let key = SecurityKey::from_bytes([0xab; 16]);
        let text = format!("ä {} b {key}!", key.as_str().to_uppercase());
        assert_eq!(key.hide_in(&text), "ä [security key] b [security key]!");
        assert_eq!(key.hide_in("nothing"), "nothing");
    }

    #[test]
    fn a_key_is_read_back_and_never_logged() {
        let key = SecurityKey::from_bytes([0x0f; 16]);
        assert_eq!(key.to_string().parse(), Ok(key.clone()));
        assert_eq!(format!("{key:?}"), "SecurityKey(…)");
        assert!("0f0f".parse::<SecurityKey>().is_err());
    }
}
