//! What was recalled, as a person reads it.

use comfy_table::{CellAlignment, Table, presets};

use super::found::Hit;
use crate::output::one_line;

/// The messages, one after the other.
pub(super) fn text(hits: &[Hit]) -> String {
    let mut text = String::new();
    for hit in hits {
        add(&mut text, hit);
    }
    text
}

/// Adds a message to those before it.
pub(super) fn add(text: &mut String, hit: &Hit) {
    let at = hit.at.map_or_else(
        || "undated".to_owned(),
        |at| at.wall_clock().strftime("%Y-%m-%d %H:%M").to_string(),
    );
    let (speaker, id, score) = (speaker(hit), &hit.id, hit.score);
    text.push_str(&format!("{at} {speaker} ({id}, score {score})\n"));
    for line in hit.text.trim().lines() {
        text.push_str("  ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// The messages with what their scores are made of.
pub(super) fn table(hits: &[Hit]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["score", "message", "why", "text"]);
    for hit in hits {
        table.add_row([
            hit.score.to_string(),
            hit.id.clone(),
            why(hit),
            format!("{}: {}", speaker(hit), beginning(&hit.text)),
        ]);
    }
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
        first.set_cell_alignment(CellAlignment::Right);
    }
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n")
}

/// The parts of the score, the largest first.
fn why(hit: &Hit) -> String {
    let mut parts: Vec<(i64, &str)> = hit
        .parts
        .iter()
        .flatten()
        .map(|part| (part.value, part.name))
        .collect();
    parts.sort_by(|a, b| (b.0.abs(), a.1).cmp(&(a.0.abs(), b.1)));
    let parts: Vec<String> = parts
        .iter()
        .map(|(value, name)| format!("{name} {value:+}"))
        .collect();
    parts.join(", ")
}

fn speaker(hit: &Hit) -> String {
    let speaker = hit.speaker.as_deref();
    speaker.map_or_else(|| hit.role.to_string(), one_line)
}

/// The first words of a text, on one line.
fn beginning(text: &str) -> String {
    const MOST: usize = 60;
    let words: Vec<&str> = text.split_whitespace().take(MOST).collect();
    let line = one_line(&words.join(" "));
    if line.chars().count() <= MOST {
        return line;
    }
    let start: String = line.chars().take(MOST - 1).collect();
    format!("{start}…")
}
