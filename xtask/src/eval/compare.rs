//! `cargo xtask eval compare`: what a change did to the same tasks.
//!
//! Each task is compared with itself, which takes out how much easier one task is than another; the
//! standard error says how far the mean difference is from chance.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};

use super::measure::{Measure, groups};
use super::record::{self, Record};
use crate::statistics::mean;

/// Length of the lists of the most changed tasks, better and worse.
const LISTED: usize = 8;

/// Shows the differences of the tasks that both files have.
pub(super) fn compare(before: &Path, after: &Path) -> Result<()> {
    let read = |file| record::read(file, "record");
    let (old, new) = (read(before)?, read(after)?);
    let all = old.len().max(new.len());
    let pairs = pair(old, new);
    if pairs.is_empty() {
        let (before, after) = (before.display(), after.display());
        bail!("{before} and {after} have no task in common");
    }
    if pairs.len() < all {
        eprintln!("{} of {all} tasks are in both files", pairs.len());
    }
    println!("{}", report(&pairs));
    Ok(())
}

/// The records of one task before and after a change.
struct Pair {
    before: Record,
    after: Record,
}

impl Pair {
    fn difference(&self, measure: &Measure) -> f64 {
        measure.of(&self.after) - measure.of(&self.before)
    }
}

fn pair(old: Vec<Record>, new: Vec<Record>) -> Vec<Pair> {
    let mut old: BTreeMap<String, Record> = old.into_iter().map(|r| (r.id.clone(), r)).collect();
    let mut pairs: Vec<Pair> = new
        .into_iter()
        .filter_map(|after| {
            let before = old.remove(&after.id)?;
            Some(Pair { before, after })
        })
        .collect();
    pairs.sort_by(|a, b| a.after.id.cmp(&b.after.id));
    pairs
}

fn report(pairs: &[Pair]) -> String {
    let measures = Measure::all(pairs.iter().map(|pair| &pair.after));
    let mut text = String::new();
    means(&mut text, pairs, &measures);
    text.push('\n');
    by_group(&mut text, pairs, &measures);
    most_changed(&mut text, pairs, &measures);
    text
}

/// One row for each measure, over all tasks.
fn means(text: &mut String, pairs: &[Pair], measures: &[Measure]) {
    text.push_str("                before   after  difference   error  better   worse\n");
    for measure in measures {
        let before = mean(pairs.iter().map(|pair| measure.of(&pair.before)));
        let after = mean(pairs.iter().map(|pair| measure.of(&pair.after)));
        let differences: Vec<f64> = pairs.iter().map(|pair| pair.difference(measure)).collect();
        let change = Change::of(&differences);
        let better = differences.iter().filter(|d| **d > 0.0).count();
        let worse = differences.iter().filter(|d| **d < 0.0).count();
        text.push_str(&format!(
            "{measure:14}{before:>8.3}{after:>8.3}{:>+12.3}{:>8.3}{better:>8}{worse:>8}{}\n",
            change.mean,
            change.error,
            change.verdict()
        ));
    }
}

/// One row for each group, with the difference and its standard error for each measure.
fn by_group(text: &mut String, pairs: &[Pair], measures: &[Measure]) {
    text.push_str(&format!("{:20}{:>5}", "", "n"));
    for measure in measures {
        text.push_str(&format!("{measure:>15}"));
    }
    text.push('\n');
    for (title, group) in groups(pairs, |pair| &pair.after) {
        let mut row = format!("{title:20}{:>5}", group.len());
        for measure in measures {
            let differences: Vec<f64> = group.iter().map(|pair| pair.difference(measure)).collect();
            let change = Change::of(&differences);
            row.push_str(&format!("{:>15}", change.figure()));
        }
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text.push_str("* more than two standard errors\n");
}

/// The tasks whose measures changed most, together.
fn most_changed(text: &mut String, pairs: &[Pair], measures: &[Measure]) {
    let total = |pair: &Pair| measures.iter().map(|m| pair.difference(m)).sum::<f64>();
    let mut totals: Vec<(f64, &Pair)> = pairs.iter().map(|pair| (total(pair), pair)).collect();
    totals.sort_by(|a, b| a.0.total_cmp(&b.0));
    let worse = totals.iter().filter(|(total, _)| *total < 0.0);
    let better = totals.iter().rev().filter(|(total, _)| *total > 0.0);
    list(text, "worse", worse.take(LISTED), measures);
    list(text, "better", better.take(LISTED), measures);
}

fn list<'a>(
    text: &mut String,
    title: &str,
    changed: impl Iterator<Item = &'a (f64, &'a Pair)>,
    measures: &[Measure],
) {
    text.push_str(&format!("\n{title} most:\n"));
    for (total, pair) in changed {
        text.push_str(&format!("{total:>+7.2}  {}", pair.after.id));
        for measure in measures {
            let difference = pair.difference(measure);
            if difference != 0.0 {
                text.push_str(&format!("  {measure} {difference:+.2}"));
            }
        }
        text.push('\n');
    }
}

/// A mean difference and its standard error.
#[derive(Debug, Clone, Copy)]
struct Change {
    mean: f64,
    error: f64,
}

impl Change {
    fn of(differences: &[f64]) -> Self {
        let middle = mean(differences.iter().copied());
        let squares = differences.iter().map(|d| (d - middle).powi(2));
        let count = differences.iter().map(|_| 1.0).sum::<f64>();
        let error = if count > 1.0 {
            // The variance of a sample has one less in its divisor.
            (squares.sum::<f64>() / (count - 1.0) / count).sqrt()
        } else {
            0.0
        };
        Self {
            mean: middle,
            error,
        }
    }

    /// A dot when nothing changed, so that what did stands out.
    fn figure(self) -> String {
        if self.mean == 0.0 && self.error == 0.0 {
            return "· ".to_owned();
        }
        let mark = if self.is_clear() { "*" } else { " " };
        format!("{:+.3}±{:.3}{mark}", self.mean, self.error)
    }

    fn is_clear(self) -> bool {
        // An error of 0 means a single task or no spread, from which nothing follows.
        self.error > 0.0 && self.mean.abs() > 2.0 * self.error
    }

    fn verdict(self) -> &'static str {
        match (self.is_clear(), self.mean > 0.0) {
            (true, true) => "  better",
            (true, false) => "  worse",
            (false, _) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::record::{Ranks, ShownShares};

    fn record(id: &str, language: &str, mrr: f64, lines: f64) -> Record {
        let rank = Ranks {
            mrr,
            ..Ranks::default()
        };
        let shown = ShownShares {
            lines,
            ..ShownShares::default()
        };
        Record {
            id: id.to_owned(),
            language: language.to_owned(),
            kind: "issue".to_owned(),
            budgets: BTreeMap::from([(8192, shown)]),
            rank: Some(rank),
            ..Record::default()
        }
    }

    #[test]
    fn the_error_of_a_mean_difference() {
        let change = Change::of(&[0.1, 0.3, 0.2, 0.2]);
        assert!((change.mean - 0.2).abs() < 1e-12);
        // The variance is 0.02 / 3, the error of the mean its root by four.
        assert!((change.error - (0.02_f64 / 12.0).sqrt()).abs() < 1e-12);
        assert!(change.is_clear());
        assert!(!Change::of(&[0.5]).is_clear());
        assert!(!Change::of(&[-0.5, 0.6]).is_clear());
    }

    #[test]
    fn tasks_are_compared_with_themselves() {
        let before = vec![
            record("a", "Go", 0.5, 0.2),
            record("b", "Go", 1.0, 0.4),
            record("c", "Rust", 1.0, 0.4),
            record("gone", "Rust", 1.0, 0.4),
        ];
        let mut failed = record("c", "Rust", 1.0, 0.4);
        failed.error = Some("it crashed".to_owned());
        let after = vec![
            failed,
            record("b", "Go", 1.0, 0.4),
            record("a", "Go", 1.0, 0.2),
            record("new", "Go", 1.0, 0.2),
        ];
        let report = report(&pair(before, after));
        let line = |start: &str| {
            let mut lines = report.lines();
            let line = lines.find(|line| line.trim_start().starts_with(start));
            line.unwrap_or_default()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(line("MRR "), "MRR 0.833 0.667 -0.167 0.441 1 1");
        assert_eq!(
            line("lines@8192 "),
            "lines@8192 0.333 0.200 -0.133 0.133 0 1"
        );
        assert_eq!(line("Go"), "Go 2 +0.250±0.250 · · · · · ·");
        assert_eq!(line("-1.40"), "-1.40 c MRR -1.00 lines@8192 -0.40");
        assert_eq!(line("+0.50"), "+0.50 a MRR +0.50");
        assert!(!report.contains("gone") && !report.contains("new"));
    }
}
