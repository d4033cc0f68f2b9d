//! Finds credentials in an address: `scheme://user:password@host`, `scheme://token@host`,
//! `user:password@tcp(host)`, `jdbc:oracle:thin:user/password@host`.

use std::ops::Range;

use super::file::File;
use super::{MARKER, Rank, Span, value};

/// The addresses without a scheme as Go writes them.
pub(super) const SOCKETS: &[&str] = &["@tcp(", "@tcp6(", "@unix("];

/// The beginnings of Oracle's addresses.
pub(super) const ORACLE: &[&str] = &["jdbc:oracle:thin:", "jdbc:oracle:oci:"];

/// Finds the password before a socket.
pub(super) fn before_socket(text: &str, socket: Range<usize>, file: File) -> Option<Span> {
    let before = value::line_before(text, socket.start);
    let login = before
        .rsplit(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '='))
        .next()?;
    let (user, password) = login.split_once(':')?;
    let range = socket.start - password.len()..socket.start;
    (!user.is_empty() && is_secret(user, password, file))
        .then(|| Span::new(Rank::Format(0), range, "url-password"))
}

/// Finds the password between a user and a host.
pub(super) fn in_oracle(text: &str, scheme: Range<usize>, file: File) -> Option<Span> {
    let rest = value::window(text, scheme.end, LONGEST);
    let end = rest.find(|c: char| c.is_whitespace() || "\"'`<>\\".contains(c));
    let (login, _) = rest.get(..end.unwrap_or(rest.len()))?.split_once('@')?;
    let (user, password) = login.split_once('/')?;
    let start = scheme.end + user.len() + 1;
    let range = start..start + password.len();
    is_secret(user, password, file).then(|| Span::new(Rank::Format(0), range, "url-password"))
}

/// Finds the password, or the token that stands in its place.
pub(super) fn at(text: &str, separator: Range<usize>, file: File) -> Option<Span> {
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
    } else if is_secret(user, password, file) {
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

/// Letters alone count when they are many, or in a configuration: `user:pass@` is how people write
/// examples.
fn is_secret(user: &str, password: &str, file: File) -> bool {
    let letters = password.bytes().all(|byte| byte.is_ascii_alphabetic());
    let plain = percent_free(password);
    user != password
        && user != "anonymous"
        && !value::is_reference(password)
        && !value::is_stand_in(password)
        && (value::is_password(&plain)
            || letters && password.len() >= 16
            || file.config && value::is_chosen(&plain, 6))
}

/// A password without percent escapes, whose digits would make any word look strong.
fn percent_free(password: &str) -> String {
    let mut parts = password.split('%');
    let first = parts.next().unwrap_or_default();
    parts.fold(String::from(first), |text, part| {
        text + part.get(2..).unwrap_or_default()
    })
}
