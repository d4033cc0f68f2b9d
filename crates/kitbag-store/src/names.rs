//! Rules for names, which are checked once, when they enter the store.

use crate::error::{Result, StoreError};

/// The longest name of a channel, a sender, a conversation, a reference or a speaker, in
/// characters.
pub(crate) const LONGEST: usize = 500;

/// Checks that a name is not empty and has no control characters.
pub(crate) fn name(field: &'static str, text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(StoreError::invalid(field, "is empty"));
    }
    label(field, text)
}

/// Checks a name that may be empty.
pub(crate) fn label(field: &'static str, text: &str) -> Result<()> {
    // PostgreSQL's text refuses NUL, and others would break the lines of a list.
    if let Some(control) = text.chars().find(|c| c.is_control()) {
        let problem = format!("has a control character, {}", control.escape_unicode());
        return Err(StoreError::invalid(field, problem));
    }
    limit(field, text, LONGEST)
}

/// Checks that a text has at most `most` characters.
pub(crate) fn limit(field: &'static str, text: &str, most: usize) -> Result<()> {
    let length = text.chars().count();
    if length > most {
        let problem = format!("has {length} characters, and at most {most} are taken");
        return Err(StoreError::invalid(field, problem));
    }
    Ok(())
}
