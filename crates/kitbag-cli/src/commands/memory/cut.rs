//! Lists that show the first or the latest of many, and say so.

use crate::output::{self, grouped};

/// Rows to ask for: one more than are shown tells that there are others.
pub(crate) fn one_more(limit: u32) -> u32 {
    limit.saturating_add(1)
}

/// The end of a list that is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keep {
    First,
    Last,
}

/// Cuts a list to the limit, and prints a note that there is more of `what`.
pub(crate) fn cut<T>(rows: &mut Vec<T>, limit: u32, keep: Keep, what: &str) {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len().saturating_sub(most);
    if more == 0 {
        return;
    }
    match keep {
        Keep::First => rows.truncate(most),
        Keep::Last => drop(rows.drain(..more)),
    }
    output::say(format_args!(
        "only {what} are shown, {} of them; `--limit` shows more",
        grouped(limit)
    ));
}
