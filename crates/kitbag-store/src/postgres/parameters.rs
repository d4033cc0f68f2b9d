//! The parameters of an address in both of its forms: after the `?` of a URL, and as `key=value`
//! pairs.

use percent_encoding::percent_decode_str;

/// Shows each parameter with its decoded value to `take`, and returns the address without those
/// that it took. The others stay as they are written: the driver reads them.
pub(super) fn take_parameters(
    address: &str,
    mut take: impl FnMut(&str, &str) -> Result<bool, String>,
) -> Result<String, String> {
    let mut left = Vec::new();
    if !address.contains("://") {
        let mut rest = address.trim_start();
        // A rest that is no pair stays in the address: the driver says what is wrong with it.
        while let Some(pair) = Pair::at_the_beginning_of(rest) {
            if !take(pair.name, &pair.value)? {
                left.push(pair.text);
            }
            rest = pair.rest;
        }
        left.extend((!rest.is_empty()).then_some(rest));
        return Ok(left.join(" "));
    }
    let Some((before, query)) = address.split_once('?') else {
        return Ok(address.to_owned());
    };
    for parameter in query.split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let value = percent_decode_str(value).decode_utf8_lossy();
        if !take(name, &value)? {
            left.push(parameter);
        }
    }
    match left.is_empty() {
        true => Ok(before.to_owned()),
        false => Ok(format!("{before}?{}", left.join("&"))),
    }
}

/// One of several `key=value` pairs.
struct Pair<'a> {
    text: &'a str,
    name: &'a str,
    value: String,
    rest: &'a str,
}

impl<'a> Pair<'a> {
    /// Reads a pair as libpq does: a value in quotes may hold spaces, and a backslash protects the
    /// next character.
    fn at_the_beginning_of(text: &'a str) -> Option<Self> {
        let (name, written) = text.split_once('=')?;
        let written = written.trim_start();
        let is_quoted = written.starts_with('\'');
        let mut characters = written.char_indices().skip(usize::from(is_quoted));
        let mut value = String::new();
        let mut end = written.len();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => value.extend(characters.next().map(|(_, protected)| protected)),
                '\'' if is_quoted => {
                    end = at + 1;
                    break;
                }
                _ if character.is_whitespace() && !is_quoted => {
                    end = at;
                    break;
                }
                _ => value.push(character),
            }
        }
        let rest = written.get(end..)?;
        Some(Self {
            text: text.strip_suffix(rest)?,
            name: name.trim(),
            value,
            rest: rest.trim_start(),
        })
    }
}
