//! The explanation of one file, in words.

use kitbag::core::chunk::Detail;
use kitbag::pack::explain::{Explanation, LARGEST, Shown};

use crate::output::{grouped, one_line, ranges};

/// A file that takes more of the budget than this, in thousandths, may be too much.
const MUCH: u32 = 250;

/// The explanation as text.
pub(super) fn text(told: &Explanation) -> String {
    let source = one_line(&told.source);
    let mut lines = Vec::new();
    lines.push(match &told.shown {
        Some(shown) => format!("{source} is in the prompt: {}", as_shown(shown)),
        None => {
            let reason = told
                .reason
                .as_deref()
                .unwrap_or("it does not match the task");
            format!("{source} is not in the prompt: {}", one_line(reason))
        }
    });
    // A file without a word of the task was not scored.
    if let Some(score) = told.score {
        let rank = told.rank.map(|rank| {
            let (rank, ranked) = (grouped(rank as u64), grouped(told.ranked as u64));
            format!("rank {rank} of {ranked}, ")
        });
        lines.push(format!("{}score {score}", rank.unwrap_or_default()));
        let parts = told.parts.iter();
        lines.extend(parts.map(|part| format!("  {:<12}{:>+6}", part.name, part.value)));
    }
    if !told.displaced_by.is_empty() {
        lines.push("if it were pinned, these would shrink or leave:".to_owned());
        let displaced = told.displaced_by.iter();
        lines.extend(displaced.map(|source| format!("  {}", one_line(source))));
    }
    // A file that is shown whole, or that has no text, cannot be shown better with another budget.
    if told.was_tried {
        let whole = if told.shown.is_some() { " whole" } else { "" };
        lines.push(match (told.budget, told.budget_level) {
            (Some(budget), Some(level)) => {
                let (budget, level) = (grouped(budget.0), in_words(level));
                format!("a budget of {budget} tokens would show it {level}")
            }
            _ => format!(
                "no budget up to {} tokens would show it{whole}",
                grouped(LARGEST)
            ),
        });
    }
    let words = told.words.iter().map(|word| one_line(word));
    lines.extend(words.map(|word| format!("a task that mentions `{word}` would show it")));
    match (&told.shown, told.pinned) {
        (Some(_), Some(level)) => {
            let level = level.as_str();
            lines.push(format!("`--pin {source}` would show it as {level}"));
        }
        // Binary and unreadable files cannot be pinned, and the advice would lead nowhere.
        (None, _) if told.can_be_pinned => {
            lines.push(format!("`--pin {source}` always shows it"));
        }
        _ => {}
    }
    let shown = told.shown.as_ref();
    if let Some(shown) = shown.filter(|shown| shown.permille >= MUCH) {
        let percent = shown.permille / 10;
        lines.push(format!(
            "it takes {percent} % of the budget; `--exclude {source}` leaves it out"
        ));
    }
    lines.join("\n")
}

/// A level as people say it.
fn in_words(level: Detail) -> &'static str {
    match level {
        Detail::Full => "whole",
        Detail::Slice => "in parts",
        Detail::Outline => "in outline",
        _ => "by name",
    }
}

fn as_shown(shown: &Shown) -> String {
    let (level, tokens) = (shown.level.as_str(), grouped(shown.tokens.0));
    let ranges = ranges(&shown.lines);
    match ranges.is_empty() || shown.level == Detail::Line {
        true => format!("{level}, {tokens} tokens"),
        false => format!("{level}, {tokens} tokens, lines {}", ranges.join(", ")),
    }
}
