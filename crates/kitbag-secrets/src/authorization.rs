//! Finds the credentials of HTTP requests: `Bearer …`, `Basic …`, `Token …`.

use std::ops::Range;

use super::{Rank, Span, value};

pub(super) const KEYWORDS: &[&str] = &["bearer ", "basic ", "authorization"];

/// Finds the credentials behind a scheme, or behind the header's name.
pub(super) fn at(text: &str, keyword: Range<usize>) -> Option<Span> {
    let word = text.get(keyword.clone())?;
    let rest = value::window(text, keyword.end, LONGEST);
    let (skipped, kind) = match word.as_bytes().first()?.to_ascii_lowercase() {
        b'a' => (behind_header(rest)?, "authorization"),
        b'b' if word.len() == "bearer ".len() => (0, "bearer-token"),
        _ => (0, "basic-auth"),
    };
    let rest = rest.get(skipped..)?;
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+/=_-.~%:".contains(c));
    let credentials = rest.get(..length.unwrap_or(rest.len()))?;
    let secret = match kind {
        "basic-auth" => decode(credentials).is_some_and(|login| is_login(&login)),
        _ => value::is_random(credentials, 16) && !value::is_stand_in(credentials),
    };
    let start = keyword.end + skipped;
    let range = start..start + credentials.len();
    (secret && super::token::begins_here(text, keyword.start)).then_some(Span::new(
        Rank::Place,
        range,
        kind,
    ))
}

const LONGEST: usize = 2048;

/// The length of the text between a header's name and its credentials: quotes, a colon, a custom
/// scheme. Bearer and Basic have rules of their own.
fn behind_header(rest: &str) -> Option<usize> {
    let value = rest.trim_start_matches(['"', '\'', ']', ' ', ':', '=', ',', '>', '\\']);
    let lower = value.get(..6).unwrap_or(value).to_ascii_lowercase();
    if value.len() == rest.len() || lower.starts_with("basic ") || lower.starts_with("bearer") {
        return None;
    }
    let scheme = value.bytes().take_while(u8::is_ascii_alphabetic).count();
    let behind = value
        .get(scheme..)?
        .strip_prefix(' ')
        .filter(|_| scheme <= 12);
    Some(rest.len() - behind.unwrap_or(value).len())
}

/// Whether it is `user:password` with a password that is no example.
fn is_login(login: &str) -> bool {
    login.split_once(':').is_some_and(|(user, password)| {
        password.len() >= 4
            && user != password
            && !value::is_stand_in(login)
            && (value::is_password(password) || login.is_ascii() && password.len() >= 12)
            && !login.contains("Aladdin")
    })
}

/// Decodes base64, if the result is text.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xFF) as u8);
        }
    }
    String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains(char::is_control))
}
