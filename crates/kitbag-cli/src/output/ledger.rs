//! The ledger as a table.

use kitbag::core::assembly::{Ledger, LedgerEntry};
use kitbag::core::tokens::Tokens;

use super::grid::{aligned, in_order, shortened};
use super::{grouped, one_line};

/// A row for each chunk, in or out, and the tokens of each part of the prompt, because the history has no
/// row of its own.
pub(crate) fn ledger_table(ledger: &Ledger) -> String {
    let header = ["level", "tokens", "relevance", "score", "source", "why"];
    let table = aligned(&header, &[1, 2, 3], ledger.entries.iter().map(row));
    let bands = ledger.bands.iter();
    // Most prompts use few of the parts.
    let used = bands.filter(|used| used.tokens > Tokens::ZERO);
    let parts: Vec<String> = used
        .map(|used| format!("{} {}", used.band.as_str(), grouped(used.tokens.0)))
        .collect();
    format!("{table}\n\ntokens by part: {}", parts.join(", "))
}

fn row(entry: &LedgerEntry) -> [String; 6] {
    let ppm = entry.relevance.ppm();
    [
        entry.level.map_or("-", |level| level.as_str()).to_owned(),
        grouped(entry.tokens.0),
        format!("{}.{} %", ppm / 10_000, ppm % 10_000 / 1_000),
        entry.score.total().to_string(),
        shortened(&one_line(&entry.source), 60),
        why(entry),
    ]
}

/// The reason, with the parts of the score if there are more than the priority.
fn why(entry: &LedgerEntry) -> String {
    let reason = &entry.reason;
    match entry.score.parts() {
        [] | [_] => reason.to_string(),
        parts => {
            let parts = parts.iter().map(|part| (&*part.name, part.value));
            format!("{reason} ({})", in_order(parts))
        }
    }
}
