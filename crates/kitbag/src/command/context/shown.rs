//! The context window for people: a bar for each part, within 80 columns and without colour.

use std::fmt;

use kitbag_core::band::Band;
use kitbag_core::tokens::Tokens;

use super::{Cached, ContextWindow};
use crate::words::{beginning, counted, grouped};

/// The length of a bar that stands for the whole prompt.
const BAR: u64 = 40;

/// The most sources that are listed as left out.
const MOST_LEFT_OUT: usize = 5;

impl fmt::Display for ContextWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = u64::from(self.tokens.0) * 100 / u64::from(self.budget.0.max(1));
        writeln!(
            f,
            "{} of {} tokens, {share} % of the budget",
            grouped(self.tokens.0),
            grouped(self.budget.0)
        )?;
        for part in &self.parts {
            let (cached, all) = (self.bar(part.cached), self.bar(part.tokens));
            let bar = "█".repeat(cached) + &"░".repeat(all.saturating_sub(cached));
            let tokens = grouped(part.tokens.0);
            let width = usize::try_from(BAR).unwrap_or_default();
            writeln!(f, "  {:<13} {bar:<width$} {tokens:>9}", name(part.band))?;
        }
        match &self.cached {
            Cached::Tokens(tokens) => {
                let tokens = counted(*tokens, "token", "tokens");
                write!(f, "cached: {tokens} of the previous request (█)")?;
            }
            Cached::Nothing(reason) => write!(f, "cached: nothing, since {reason}")?,
        }
        self.show_left_out(f)
    }
}

impl ContextWindow {
    /// The length of a bar, at least one if there is any token.
    fn bar(&self, tokens: Tokens) -> usize {
        let whole = u64::from(self.tokens.0.max(1));
        let length = (u64::from(tokens.0) * BAR).div_ceil(whole).min(BAR);
        usize::try_from(length).unwrap_or_default()
    }

    fn show_left_out(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.left_out.is_empty() && self.unwanted == 0 {
            return f.write_str("\nleft out: nothing");
        }
        f.write_str("\nleft out:")?;
        for one in self.left_out.iter().take(MOST_LEFT_OUT) {
            let more = counted(one.more.0.into(), "more token", "more tokens");
            let source = beginning(&one.source, 36);
            write!(f, "\n  {source:<36} would enter with {more}")?;
        }
        let further = self.left_out.len().saturating_sub(MOST_LEFT_OUT);
        if further > 0 {
            let further = counted(further as u64, "other", "others");
            write!(f, "\n  {further} for want of room")?;
        }
        if self.unwanted > 0 {
            let unwanted = counted(self.unwanted as u64, "piece", "pieces");
            write!(f, "\n  {unwanted} that no budget would bring in")?;
        }
        Ok(())
    }
}

/// The name of a part for people.
fn name(band: Band) -> &'static str {
    match band {
        Band::Tools => "tools",
        Band::Identity => "instructions",
        Band::System => "system notes",
        Band::Session => "background",
        Band::Conversation => "inserted",
        Band::History => "history",
        Band::Volatile => "remembered",
        Band::Current => "message",
        Band::Steps => "tool steps",
        Band::SuffixSystem => "reminders",
    }
}
