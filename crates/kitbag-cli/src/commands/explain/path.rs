//! The explanation of one file, in words.

use std::fmt::Write as _;

use kitbag::core::chunk::Detail;
use kitbag::pack::explain::{Explanation, LARGEST, Shown};

use crate::output::{grouped, one_line};

/// A file that takes more of the budget than this, in thousandths, may be too much.
const MUCH: u32 = 250;

/// The explanation as text.
pub(super) fn text(told: &Explanation) -> String {
    let mut text = one_line(&told.source);
    match &told.shown {
        Some(shown) => text.push_str(&as_shown(shown)),
        None => {
            let reason = told.reason.as_deref().unwrap_or("nothing speaks for it");
            let _ = write!(text, " is not in the prompt: {}", one_line(reason));
        }
    }
    if let Some(score) = told.score {
        text.push('\n');
        if let Some(rank) = told.rank {
            let (rank, ranked) = (grouped(rank as u64), grouped(told.ranked as u64));
            let _ = write!(text, "rank {rank} of {ranked}, ");
        }
        let _ = write!(text, "score {score}");
        for part in &told.parts {
            let _ = write!(text, "\n  {:<12}{:>+6}", part.name, part.value);
        }
    }
    let whole = if told.shown.is_some() { " whole" } else { "" };
    if !told.displaced_by.is_empty() {
        let _ = write!(text, "\nif it had to be in, these would leave or shrink:");
        for source in &told.displaced_by {
            let _ = write!(text, "\n  {}", one_line(source));
        }
    }
    if told.was_tried {
        let _ = match told.budget {
            Some(budget) => write!(
                text,
                "\na budget of {} tokens would show it{whole}",
                grouped(budget.0)
            ),
            None => write!(
                text,
                "\nno budget up to {} tokens would show it{whole}",
                grouped(LARGEST)
            ),
        };
    }
    for word in &told.words {
        let word = one_line(word);
        let _ = write!(text, "\nthe task with `{word}` in it would show it");
    }
    let pin = format!("`--pin {}`", one_line(&told.source));
    match told.pinned {
        Some(level) if told.shown.is_some() => {
            let _ = write!(text, "\n{pin} would show it as {}", level.as_str());
        }
        _ if told.can_be_pinned && told.shown.is_none() => {
            let _ = write!(text, "\n{pin} shows it in any case");
        }
        _ => {}
    }
    let shown = told.shown.as_ref();
    if let Some(shown) = shown.filter(|shown| shown.permille >= MUCH) {
        let percent = shown.permille / 10;
        let exclude = format!("`--exclude {}`", one_line(&told.source));
        let _ = write!(
            text,
            "\nit takes {percent} % of the budget; {exclude} leaves it out"
        );
    }
    text
}

fn as_shown(shown: &Shown) -> String {
    let (level, tokens) = (shown.level.as_str(), grouped(shown.tokens.0));
    let mut text = format!(" is in the prompt: {level}, {tokens} tokens");
    let ranges = shown.lines.iter();
    let ranges: Vec<String> = ranges
        .map(|(first, last)| format!("{first}-{last}"))
        .collect();
    if !ranges.is_empty() && shown.level != Detail::Line {
        text.push_str(&format!(", lines {}", ranges.join(", ")));
    }
    text
}
