//! The key of a prompt that is only looked at.

use kitbag::layout::SecurityKey;

use crate::failure::Failure;

/// The key that was given, or one that stands in none of the texts.
pub(super) fn key(given: Option<&SecurityKey>, texts: &[&str]) -> Result<SecurityKey, Failure> {
    match given {
        Some(key) => Ok(key.clone()),
        None => SecurityKey::draw(random, texts.iter().copied())
            .map_err(|error| Failure::new(format_args!("cannot draw a key: {error}"))),
    }
}

fn random() -> Result<[u8; 16], getrandom::Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
