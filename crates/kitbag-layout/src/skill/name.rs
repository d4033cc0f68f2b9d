//! The names of skills, as the reference validator judges them.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The most characters of a name.
const LONGEST: usize = 64;

/// The name in the form in which names are compared.
pub(super) fn composed(name: &str) -> String {
    name.trim().nfkc().collect()
}

/// What is wrong with a composed name; nothing where it can be used.
pub(super) fn wrong_with(name: &str) -> Option<String> {
    let length = name.chars().count();
    // A vowel sign is a letter to Unicode, and none to the validator.
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
