//! The ledger as a table.

use comfy_table::{CellAlignment, Table, presets};
use kitbag::core::assembly::{Ledger, LedgerEntry, Reason};
use kitbag::core::rank::Score;
use kitbag::core::tokens::Tokens;

use super::{grouped, one_line};

/// A row for each chunk, in or out.
pub(crate) fn ledger_table(ledger: &Ledger) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["level", "tokens", "relevance", "score", "source", "why"]);
    for entry in &ledger.entries {
        table.add_row(row(entry));
    }
    if let Some(first) = table.column_mut(0) {
        first.set_padding((0, 1));
    }
    for column in [1, 2, 3] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.push(String::new());
    lines.push(parts(ledger));
    lines.join("\n")
}

/// The tokens of each part of the prompt, chunks or not: the history has no line of its own.
fn parts(ledger: &Ledger) -> String {
    let used = ledger
        .bands
        .iter()
        .filter(|used| used.tokens > Tokens::ZERO);
    let parts: Vec<String> = used
        .map(|used| format!("{} {}", used.band.as_str(), grouped(used.tokens.0)))
        .collect();
    format!("tokens by part: {}", parts.join(", "))
}

fn row(entry: &LedgerEntry) -> [String; 6] {
    [
        entry.level.map_or("-", |level| level.as_str()).to_owned(),
        grouped(entry.tokens.0),
        format!(
            "{}.{} %",
            entry.relevance.ppm() / 10_000,
            entry.relevance.ppm() % 10_000 / 1_000
        ),
        entry.score.total().to_string(),
        shortened(&one_line(&entry.source)),
        why(&entry.reason, &entry.score),
    ]
}

/// A source that leaves room for the other columns: its middle may be left out.
fn shortened(source: &str) -> String {
    const MOST: usize = 60;
    let length = source.chars().count();
    if length <= MOST {
        return source.to_owned();
    }
    let start: String = source.chars().take(MOST / 3).collect();
    let end: String = source
        .chars()
        .skip(length - (MOST - MOST / 3 - 1))
        .collect();
    format!("{start}…{end}")
}

/// The reason, and the parts of the score where there is more than the priority.
fn why(reason: &Reason, score: &Score) -> String {
    let reason = reason.to_string();
    match score.parts() {
        [] | [_] => reason,
        parts => {
            let parts: Vec<String> = parts
                .iter()
                .map(|part| format!("{} {:+}", part.name, part.value))
                .collect();
            format!("{reason} ({})", parts.join(", "))
        }
    }
}
