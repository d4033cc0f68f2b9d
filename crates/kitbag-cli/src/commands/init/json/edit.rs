//! Adds a value to an object or a list, or removes one, and keeps every other byte.

use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::tree::{Node, blank_comments};

/// The text with a value after the others of an object or a list, in their layout.
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
        // After the content, since that may be a comment.
        let at = open + inside.trim_ascii_end().len();
        let more = format!("\n{inner}{member}\n{outer}");
        return Ok(insert(text, &[(at, &more)], at..close));
    };
    let first = places.first().map_or(open, |first| first.start);
    let is_on_lines = text.get(open..first).is_some_and(|it| it.contains('\n'));
    let behind = text.get(last.end..close).unwrap_or_default();
    let at = last.end + behind.trim_ascii_end().len();
    let comma = comma_in(text, last.end..close);
    // The indent of the first value, so that the new one lines up with the others.
    let indent = indent_at(text, first);
    // After a comment to the end of the line the value needs a line of its own.
    let before = match is_on_lines || ends_in_comment(text.get(..at).unwrap_or_default()) {
        true => format!("\n{indent}"),
        false => " ".to_owned(),
    };
    let on_lines = is_on_lines.then_some((indent.as_str(), text));
    let member = member(key, value, on_lines)?;
    let more = format!("{before}{member}");
    Ok(match comma {
        // A comma at the end belongs to the style of the file: the new last value gets one too.
        Some(_) => insert(text, &[(at, &more), (at, ",")], at..at),
        None => insert(text, &[(last.end, ","), (at, &more)], at..at),
    })
}

/// The text with another value in the place of one, in its layout.
///
/// # Errors
/// When the value cannot be written as JSON.
pub(super) fn replaced(text: &str, node: &Node, value: &impl Serialize) -> Result<String, String> {
    let span = node.span();
    let indent = indent_at(text, span.start);
    let former = text.get(span.clone()).unwrap_or_default();
    let on_lines = former.contains('\n').then_some((indent.as_str(), text));
    let value = member(None, value, on_lines)?;
    Ok(insert(text, &[(span.start, &value)], span))
}

/// The text without one value of an object or a list.
pub(super) fn taken_out(text: &str, from: &Node, place: usize) -> String {
    let places = from.places();
    let close = from.span().end.saturating_sub(1);
    let Some(own) = places.get(place).cloned() else {
        return text.to_owned();
    };
    let before = text.get(..own.start).unwrap_or_default();
    let before = before.trim_ascii_end().len();
    let next = places.get(place + 1).map_or(close, |next| next.start);
    // A value goes with the comma after it. The last value has none; then the comma before it goes.
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

/// Returns true if there are comments between the values of an object or a list.
pub(super) fn has_comments(text: &str, node: &Node) -> bool {
    let span = node.span();
    let mut from = span.start;
    let places = node.places().into_iter();
    let mut gaps = places.map(|place| {
        let gap = from..place.start;
        from = place.end;
        gap
    });
    let is_comment =
        |gap: std::ops::Range<usize>| text.get(gap).is_some_and(|gap| gap.contains('/'));
    gaps.any(is_comment) || is_comment(from..span.end)
}

/// Two parts of a text joined, the second on a new line if it would become part of a comment.
fn joined(kept: &str, rest: &str) -> String {
    let is_on_line = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let between = match ends_in_comment(kept) && !is_on_line {
        true => "\n",
        false => "",
    };
    [kept, between, rest].concat()
}

/// Tells whether the text ends in a comment that would swallow any text added to it.
fn ends_in_comment(text: &str) -> bool {
    // The letter stands for the added text: if it is blanked, it would have been part of a comment.
    let mut bytes = [text, "x"].concat().into_bytes();
    blank_comments(&mut bytes);
    bytes.last() != Some(&b'x')
}

/// The text with an empty object, or an empty text if it holds nothing else.
pub(super) fn emptied(text: &str, root: &Node) -> String {
    let span = root.span();
    let before = text.get(..span.start).unwrap_or_default();
    let behind = text.get(span.end..).unwrap_or_default();
    match before.trim().is_empty() && behind.trim().is_empty() {
        true => String::new(),
        false => format!("{before}{{}}{behind}"),
    }
}

/// Inserts texts at places, in order, and drops a range after the last of them.
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
    // A longer indent is more than one step, such as that of an aligned list.
    unit.filter(|unit| unit.len() <= 8).unwrap_or("  ")
}

/// The comma in a stretch between values, outside of comments.
fn comma_in(text: &str, stretch: std::ops::Range<usize>) -> Option<usize> {
    let mut bytes = text.get(stretch.clone())?.as_bytes().to_vec();
    blank_comments(&mut bytes);
    let comma = bytes.iter().position(|byte| *byte == b',')?;
    Some(stretch.start + comma)
}
