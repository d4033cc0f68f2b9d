//! The table of figures, with the limit that each must keep.

use std::fmt;

use anyhow::{Result, bail};

/// The limit of a figure.
#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

pub(super) use Limit::{AtLeast, AtMost};

/// Figures in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Report {
    rows: Vec<(String, Cell)>,
}

#[derive(Debug)]
enum Cell {
    Limited(f64, Limit),
    Figure(f64),
    Words(String),
}

impl Report {
    /// Adds a figure that must keep a limit.
    pub(super) fn add(&mut self, what: &str, figure: f64, limit: Limit) {
        self.push(what, Cell::Limited(figure, limit));
    }

    /// Adds a figure that is only shown.
    pub(super) fn note(&mut self, what: &str, figure: f64) {
        self.push(what, Cell::Figure(figure));
    }

    /// Adds words, such as why there is no figure.
    pub(super) fn say(&mut self, what: &str, words: &str) {
        self.push(what, Cell::Words(words.to_owned()));
    }

    /// Prints the table and fails when a limit is missed.
    pub(super) fn show(&self) -> Result<()> {
        println!("{self}");
        match self.missed() {
            0 => Ok(()),
            missed => bail!("{missed} of the limits were missed"),
        }
    }

    fn missed(&self) -> usize {
        let rows = self.rows.iter();
        rows.filter(|(_, shown)| !shown.keeps_limit()).count()
    }

    fn push(&mut self, what: &str, shown: Cell) {
        self.rows.push((what.to_owned(), shown));
    }
}

impl Cell {
    fn keeps_limit(&self) -> bool {
        match self {
            // Neither holds for NaN, so a figure that is missing misses its limit.
            Self::Limited(figure, AtLeast(limit)) => figure >= limit,
            Self::Limited(figure, AtMost(limit)) => figure <= limit,
            Self::Figure(_) | Self::Words(_) => true,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.rows.iter().map(|(what, _)| what.chars().count());
        let width = widths.max().unwrap_or_default();
        for (what, shown) in &self.rows {
            write!(f, "{what:width$}  ")?;
            match shown {
                Cell::Limited(figure, AtLeast(limit)) => {
                    write!(f, "{figure:>9.2}  at least {limit}")?;
                }
                Cell::Limited(figure, AtMost(limit)) => {
                    write!(f, "{figure:>9.2}  at most {limit}")?;
                }
                Cell::Figure(figure) => write!(f, "{figure:>9.2}")?,
                Cell::Words(words) => write!(f, "{:9}  {words}", "")?,
            }
            let verdict = if shown.keeps_limit() { "" } else { "  MISSED" };
            writeln!(f, "{verdict}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_shows_what_is_missed() {
        let mut report = Report::default();
        report.add("fast enough", 5.0, AtLeast(4.0));
        report.add("too much", 1.0, AtMost(0.0));
        report.note("shown", 12.345);
        report.say("not there", "no network");
        let table = "\
fast enough       5.00  at least 4
too much          1.00  at most 0  MISSED
shown            12.35
not there               no network
";
        assert_eq!(report.to_string(), table);
        assert_eq!(report.missed(), 1);
        assert!(report.show().is_err());
    }

    #[test]
    fn a_figure_that_is_no_number_misses_its_limit() {
        let mut report = Report::default();
        report.add("nothing", f64::NAN, AtLeast(1.0));
        assert_eq!(report.missed(), 1);
    }
}
