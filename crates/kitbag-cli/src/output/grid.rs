//! Lists in columns, without lines around them.

use comfy_table::{CellAlignment, Row, Table, presets};

use super::one_line;

/// Rows below their header; nothing if there are none.
pub(crate) fn grid<R: Into<Row>>(header: &[&str], rows: impl IntoIterator<Item = R>) -> String {
    let mut rows = rows.into_iter().peekable();
    match rows.peek() {
        Some(_) => aligned(header, &[], rows),
        None => String::new(),
    }
}

/// The same with some columns, such as numbers, to the right.
pub(crate) fn aligned<R: Into<Row>>(
    header: &[&str],
    right: &[usize],
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().copied()).add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        // The table stands at the edge of the terminal; only its inner columns need room on both sides.
        if index == 0 {
            column.set_padding((0, 1));
        }
        if right.contains(&index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    // Blanks at the ends of lines would be in every snapshot and copy.
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    let lines: Vec<String> = lines.collect();
    lines.join("\n")
}

/// A text that leaves room for other columns: its middle may be left out.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length <= most {
        return text.to_owned();
    }
    // More of the end than of the beginning: the name of a file is at the end of its path.
    let start: String = text.chars().take(most / 3).collect();
    let end: String = text.chars().skip(length - (most - most / 3 - 1)).collect();
    format!("{start}…{end}")
}

/// The first words of a text, on one line.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().take(most).collect();
    let line = one_line(&words.join(" "));
    if line.chars().count() <= most {
        return line;
    }
    let start: String = line.chars().take(most.saturating_sub(1)).collect();
    format!("{start}…")
}

/// Ranges of lines as they are shown.
pub(crate) fn ranges(lines: &[(u32, u32)]) -> Vec<String> {
    let lines = lines.iter();
    lines
        .map(|(first, last)| format!("{first}-{last}"))
        .collect()
}

/// The parts of a score, the largest first: they add up to it.
pub(crate) fn largest_first<'a>(parts: impl Iterator<Item = (&'a str, i64)>) -> String {
    let mut parts: Vec<(&str, i64)> = parts.collect();
    // By name among equals, so that the order never changes.
    parts.sort_by(|a, b| (b.1.abs(), a.0).cmp(&(a.1.abs(), b.0)));
    in_order(parts.into_iter())
}

/// The parts of a score as they come.
pub(crate) fn in_order<'a>(parts: impl Iterator<Item = (&'a str, i64)>) -> String {
    let parts: Vec<String> = parts
        .map(|(name, value)| format!("{name} {value:+}"))
        .collect();
    parts.join(", ")
}
