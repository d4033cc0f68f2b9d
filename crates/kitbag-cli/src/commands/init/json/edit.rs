//! Putting a value into an object or a list, and taking one out, byte by byte.

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::tree::{Node, blank_comments};

/// The text with a value behind the others of an object or a list, in the way in which they are laid out.
///
/// # Errors
/// When the value cannot be written as JSON.
pub(super) fn added(
    text: &str,
    into: &Node,
    key: Option<&str>,
    value: &impl Serialize,
) -> Result<String, String> {
    let span = into.span();
    let (open, close) = (span.start + 1, span.end.saturating_sub(1));
    let inside = text.get(open..close).unwrap_or_default();
    let places = into.places();
    let Some(last) = places.last() else {
        let outer = indent_at(text, span.start);
        let inner = format!("{outer}{}", unit(text));
        let member = member(key, value, Some((&inner, text)))?;
        // A comment may be all that it holds.
        let at = open + inside.trim_ascii_end().len();
        let more = format!("\n{inner}{member}\n{outer}");
        return Ok(insert(text, &[(at, &more)], at..close));
    };
    let first = places.first().map_or(open, |first| first.start);
    let is_on_lines = text.get(open..first).is_some_and(|it| it.contains('\n'));
    let behind = text.get(last.end..close).unwrap_or_default();
    let at = last.end + behind.trim_ascii_end().len();
    let comma = comma_in(text, last.end..close);
    let indent = indent_at(text, first);
    let before = match is_on_lines || ends_in_comment(text.get(..at).unwrap_or_default()) {
        true => format!("\n{indent}"),
        false => " ".to_owned(),
    };
    let on_lines = is_on_lines.then_some((indent.as_str(), text));
    let member = member(key, value, on_lines)?;
    let more = format!("{before}{member}");
    Ok(match comma {
        Some(_) => insert(text, &[(at, &more), (at, ",")], at..at),
        None => insert(text, &[(last.end, ","), (at, &more)], at..at),
    })
}

/// The text without one of several values of an object or a list.
pub(super) fn taken_out(text: &str, from: &Node, place: usize) -> String {
    let places = from.places();
    let close = from.span().end.saturating_sub(1);
    let Some(own) = places.get(place).cloned() else {
        return text.to_owned();
    };
    let before = text.get(..own.start).unwrap_or_default();
    let before = before.trim_ascii_end().len();
    let next = places.get(place + 1).map_or(close, |next| next.start);
    // With its own comma, if it has one; else the one before it is no longer needed.
    if let Some(comma) = comma_in(text, own.end..next) {
        let kept = text.get(..before).unwrap_or_default();
        return joined(kept, text.get(comma + 1..).unwrap_or_default());
    }
    let previous = place.checked_sub(1).and_then(|place| places.get(place));
    let comma = previous.and_then(|previous| comma_in(text, previous.end..own.start));
    let comma = comma.unwrap_or(before);
    let kept = [
        text.get(..comma.min(before)),
        text.get((comma + 1).min(before)..before),
    ];
    let kept: String = kept.into_iter().flatten().collect();
    joined(&kept, text.get(own.end..).unwrap_or_default())
}

/// Two stretches of a text as one, the second on a line of its own if it would become part of a comment.
fn joined(kept: &str, rest: &str) -> String {
    let is_on_line = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let between = match ends_in_comment(kept) && !is_on_line {
        true => "\n",
        false => "",
    };
    [kept, between, rest].concat()
}

/// Returns true if a comment on the last line would swallow what is added to it.
fn ends_in_comment(text: &str) -> bool {
    let mut bytes = [text, "x"].concat().into_bytes();
    blank_comments(&mut bytes);
    bytes.last() != Some(&b'x')
}

/// The text with an object that holds nothing any more; nothing at all if there was nothing else.
pub(super) fn emptied(text: &str, root: &Node) -> String {
    let span = root.span();
    let before = text.get(..span.start).unwrap_or_default();
    let behind = text.get(span.end..).unwrap_or_default();
    match before.trim().is_empty() && behind.trim().is_empty() {
        true => String::new(),
        false => format!("{before}{{}}{behind}"),
    }
}

/// Inserts texts at places, in order, and drops a stretch behind the last of them.
fn insert(text: &str, inserted: &[(usize, &str)], dropped: std::ops::Range<usize>) -> String {
    let mut changed = String::with_capacity(text.len() + 200);
    let mut from = 0;
    for (at, more) in inserted {
        changed.push_str(text.get(from..*at).unwrap_or_default());
        changed.push_str(more);
        from = *at;
    }
    changed.push_str(text.get(dropped.end.max(from)..).unwrap_or_default());
    changed
}

/// A value with its name, on lines with this indent or on one line.
fn member(
    key: Option<&str>,
    value: &impl Serialize,
    on_lines: Option<(&str, &str)>,
) -> Result<String, String> {
    let value = match on_lines {
        Some((indent, text)) => {
            let value = pretty(value, unit(text)).map_err(|error| error.to_string())?;
            value.replace('\n', &format!("\n{indent}"))
        }
        None => serde_json::to_string(value).map_err(|error| error.to_string())?,
    };
    Ok(match key {
        Some(key) => format!("{}: {value}", Value::from(key)),
        None => value,
    })
}

fn pretty(value: &impl Serialize, unit: &str) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(unit.as_bytes());
    value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

/// The blanks with which the line begins.
fn indent_at(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.chars()
        .take_while(|c| matches!(c, ' ' | '\t'))
        .collect()
}

/// The indent of one step in this file.
fn unit(text: &str) -> &str {
    let indented = text.lines().find(|line| line.starts_with([' ', '\t']));
    let indent = indented.map(|line| line.len() - line.trim_start_matches([' ', '\t']).len());
    let unit = indented
        .zip(indent)
        .and_then(|(line, length)| line.get(..length));
    unit.filter(|unit| unit.len() <= 8).unwrap_or("  ")
}

/// The comma in a stretch between values, outside of comments.
fn comma_in(text: &str, stretch: std::ops::Range<usize>) -> Option<usize> {
    let mut bytes = text.get(stretch.clone())?.as_bytes().to_vec();
    blank_comments(&mut bytes);
    let comma = bytes.iter().position(|byte| *byte == b',')?;
    Some(stretch.start + comma)
}
