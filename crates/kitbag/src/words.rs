//! Numbers, beginnings and ends of texts in words for people.

/// A number of things, with the noun that fits it.
///
/// ```
/// assert_eq!(kitbag::words::counted(1_200, "message", "messages"), "1,200 messages");
/// ```
#[must_use]
pub fn counted(count: u64, one: &str, several: &str) -> String {
    let what = if count == 1 { one } else { several };
    format!("{} {what}", grouped(count))
}

/// A number with its thousands set apart.
#[must_use]
pub fn grouped(number: impl Into<u64>) -> String {
    let number = number.into();
    match number / 1_000 {
        0 => number.to_string(),
        thousands => format!("{},{:03}", grouped(thousands), number % 1_000),
    }
}

/// The first words of a text on one line, at most `most` characters, none of which controls a terminal.
#[must_use]
pub fn beginning(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().take(most).collect();
    let line = words.join(" ").replace(char::is_control, "");
    if line.chars().count() <= most {
        return line;
    }
    let start: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{start}…")
}

/// About this many bytes of a longer text, two thirds of them from its beginning and the rest from its end, in
/// whole lines where those are short. A line between them tells how much is left out.
#[must_use]
pub fn head_and_tail(text: &str, bytes: usize) -> String {
    let head_end = text.floor_char_boundary(bytes / 3 * 2);
    let head = text.get(..head_end).unwrap_or_default();
    let head_end = match head.rfind('\n') {
        Some(line_end) if head_end - line_end <= LONG_LINE => line_end,
        _ => head_end,
    };
    let tail_start = text.ceil_char_boundary(text.len().saturating_sub(bytes / 3).max(head_end));
    let tail = text.get(tail_start..).unwrap_or_default();
    let tail_start = match tail.find('\n') {
        Some(line_end) if line_end <= LONG_LINE => tail_start + line_end + 1,
        _ => tail_start,
    };
    let (head, rest) = text.split_at_checked(head_end).unwrap_or((text, ""));
    let tail = text.get(tail_start..).unwrap_or_default();
    let left = rest.len().saturating_sub(tail.len());
    let left = rest.get(..left).unwrap_or_default();
    // Line ends are searched for, which is faster than splitting: what is left out may be megabytes.
    let left = match left.trim_matches('\n').matches('\n').count() {
        0 => format!("{} characters", left.chars().count()),
        ends => format!("{} lines", ends + 1),
    };
    format!("{head}\n[… {left} are left out here …]\n{tail}")
}

/// The end of a longer line is cut off.
const LONG_LINE: usize = 120;
