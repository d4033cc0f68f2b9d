//! The table of figures, with the limit that each must keep.

use std::fmt;

/// What a figure must keep to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    AtLeast(f64),
    AtMost(f64),
}

pub(super) fn at_least(limit: f64) -> Limit {
    Limit::AtLeast(limit)
}

pub(super) fn at_most(limit: f64) -> Limit {
    Limit::AtMost(limit)
}

/// Figures in the order in which they were measured.
#[derive(Debug, Default)]
pub(super) struct Report {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    what: String,
    figure: f64,
    limit: Option<Limit>,
}

impl Report {
    /// Adds a figure that must keep a limit.
    pub(super) fn add(&mut self, what: &str, figure: f64, limit: Limit) {
        self.push(what, figure, Some(limit));
    }

    /// Adds a figure that is only shown.
    pub(super) fn note(&mut self, what: &str, figure: f64) {
        self.push(what, figure, None);
    }

    /// How many limits are missed.
    pub(super) fn missed(&self) -> usize {
        self.rows.iter().filter(|row| !row.keeps_limit()).count()
    }

    fn push(&mut self, what: &str, figure: f64, limit: Option<Limit>) {
        let what = what.to_owned();
        self.rows.push(Row {
            what,
            figure,
            limit,
        });
    }
}

impl Row {
    fn keeps_limit(&self) -> bool {
        match self.limit {
            Some(Limit::AtLeast(limit)) => self.figure >= limit,
            Some(Limit::AtMost(limit)) => self.figure <= limit,
            None => true,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.rows.iter().map(|row| row.what.chars().count());
        let width = widths.max().unwrap_or_default();
        for row in &self.rows {
            let limit = match row.limit {
                Some(Limit::AtLeast(limit)) => format!("at least {limit}"),
                Some(Limit::AtMost(limit)) => format!("at most {limit}"),
                None => String::new(),
            };
            let verdict = if row.keeps_limit() { "" } else { "  MISSED" };
            let line = format!("{:width$}  {:>9.2}  {limit}{verdict}", row.what, row.figure);
            writeln!(f, "{}", line.trim_end())?;
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
        report.add("fast enough", 5.0, at_least(4.0));
        report.add("too much", 1.0, at_most(0.0));
        report.note("shown", 12.345);
        let table = "\
fast enough       5.00  at least 4
too much          1.00  at most 0  MISSED
shown            12.35
";
        assert_eq!(report.to_string(), table);
        assert_eq!(report.missed(), 1);
    }

    #[test]
    fn a_figure_that_is_no_number_misses_its_limit() {
        let mut report = Report::default();
        report.add("nothing", f64::NAN, at_least(1.0));
        assert_eq!(report.missed(), 1);
    }
}
