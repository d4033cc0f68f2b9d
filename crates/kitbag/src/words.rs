//! Numbers and beginnings of texts in words for people.

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

/// The first words of a text on one line, at most so many characters.
#[must_use]
pub fn beginning(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().take(most).collect();
    let line = words.join(" ");
    if line.chars().count() <= most {
        return line;
    }
    let start: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{start}…")
}
