//! Patterns in a configuration: regular expressions, and names with stars.

use regex::{Regex, RegexBuilder};

use crate::yaml::Field;

/// The most bytes that a compiled pattern may take.
const LARGEST: usize = 1 << 20;

/// A regular expression that was checked when the file was read. Its time grows with the length of a text alone.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles a regular expression.
    ///
    /// # Errors
    /// When it is none, or too large; the text says why.
    pub fn new(text: &str) -> Result<Self, String> {
        let compiled = RegexBuilder::new(text).size_limit(LARGEST).build();
        compiled.map(Self).map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            // The first lines only show the pattern again.
            error => error
                .to_string()
                .lines()
                .last()
                .unwrap_or_default()
                .trim()
                .to_owned(),
        })
    }

    /// Returns true if it stands somewhere in a text.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// The text as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub(super) fn read(field: &Field<'_>) -> Option<Self> {
        let text = field.text()?;
        match Self::new(&text) {
            Ok(pattern) => Some(pattern),
            Err(problem) => {
                let problem = problem
                    .strip_prefix("error: ")
                    .unwrap_or(&problem)
                    .to_owned();
                field.error(format!("`{text}` is no regular expression: {problem}"))
            }
        }
    }
}

/// A name in which each star stands for any letters.
///
/// ```
/// use kitbag_layout::config::NamePattern;
///
/// let pattern = NamePattern::new("mcp__github__*");
/// assert!(pattern.is_of("mcp__github__merge"));
/// assert!(!pattern.is_of("mcp__gitlab__merge"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern(String);

impl NamePattern {
    /// A pattern; one without a star is the name itself.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns true if it is the pattern of a name.
    #[must_use]
    pub fn is_of(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = name.strip_prefix(first) else {
            return false;
        };
        let Some(last) = parts.next_back() else {
            return rest.is_empty();
        };
        for part in parts {
            match rest.split_once(part) {
                Some((_, behind)) => rest = behind,
                None => return false,
            }
        }
        rest.ends_with(last)
    }

    /// The text as it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t08_a_star_stands_for_any_letters() {
        for (pattern, name, is_of) in [
            ("pack", "pack", true),
            ("pack", "packs", false),
            ("*", "", true),
            ("a*c", "abc", true),
            ("a*c", "ac", true),
            ("ab*bc", "abc", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c2b", false),
            ("**x", "x", true),
        ] {
            assert_eq!(
                NamePattern::new(pattern).is_of(name),
                is_of,
                "{pattern} {name}"
            );
        }
    }
}
