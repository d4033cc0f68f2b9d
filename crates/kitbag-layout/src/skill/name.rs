//! Checks the names of skills as the reference validator does.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The most characters of a name, by the format.
const LONGEST: usize = 64;

/// The name in the normal form in which names are compared.
pub(super) fn composed(name: &str) -> String {
    name.trim().nfkc().collect()
}

/// The problem with a normalised name; none if it can be used.
pub(super) fn wrong_with(name: &str) -> Option<String> {
    let length = name.chars().count();
    // Unicode counts vowel signs as letters, but the validator does not.
    let is_allowed = |c: char| c == '-' || (c.is_alphanumeric() && !is_combining_mark(c));
    if length > LONGEST {
        return Some(format!("{length} characters are more than {LONGEST}"));
    }
    if name.to_lowercase() != name {
        return Some(format!("`{name}` is not in lower case"));
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        let message = "begins or ends with a hyphen, or has two in a row";
        return Some(format!("`{name}` {message}"));
    }
    if !name.chars().all(is_allowed) {
        let message = "has other characters than letters, digits and hyphens";
        return Some(format!("`{name}` {message}"));
    }
    None
}
