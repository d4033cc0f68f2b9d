//! Finds what opens the door in a URL: `scheme://user:password@host`, `scheme://token@host`.

use std::ops::Range;

use super::{MARKER, Rank, Span, value};

/// Finds the password, or the token that stands in its place.
pub(super) fn at(text: &str, separator: Range<usize>) -> Option<Span> {
    let rest = value::window(text, separator.end, LONGEST);
    let end = rest.find(|c: char| c.is_whitespace() || ENDS.contains(c));
    let authority = rest.get(..end.unwrap_or(rest.len()))?;
    let (login, host) = authority.rsplit_once('@')?;
    if host.is_empty() || login.contains(MARKER) {
        return None;
    }
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (from, length, kind) = if password.is_empty() || password == "x-oauth-basic" {
        // The address of an error tracker is public and contains such a key.
        if host.contains("sentry") || !value::is_random(user, 16) || value::is_stand_in(user) {
            return None;
        }
        (0, user.len(), "url-token")
    } else if is_secret(user, password) {
        (user.len() + 1, password.len(), "url-password")
    } else {
        return None;
    };
    let start = separator.end + from;
    Some(Span::new(Rank::Format(0), start..start + length, kind))
}

const LONGEST: usize = 512;

/// The characters that end the authority of a URL, in the URL itself or in the text around it.
const ENDS: &str = "/?#\"'`<>\\|,";

/// Letters alone count when they are many: `user:pass@` is how people write examples.
fn is_secret(user: &str, password: &str) -> bool {
    let letters = password.bytes().all(|byte| byte.is_ascii_alphabetic());
    let plain = percent_free(password);
    user != password
        && user != "anonymous"
        && !value::is_reference(password)
        && !value::is_stand_in(password)
        && (value::is_password(&plain) || letters && password.len() >= 16)
}

/// A password without percent escapes, whose digits would make any word look strong.
fn percent_free(password: &str) -> String {
    let mut parts = password.split('%');
    let first = parts.next().unwrap_or_default();
    parts.fold(String::from(first), |text, part| {
        text + part.get(2..).unwrap_or_default()
    })
}
