//! The averages of an evaluation: all tasks, the issues, those that name no file, and each language.

use super::measure::{Measure, groups};
use super::record::Record;
use crate::statistics::{mean, median};

/// A row for each group. Errors count as 0; the time is that of the smallest budget.
pub(super) fn table(records: &[Record]) -> String {
    let measures = Measure::all(records);
    let mut table = format!("{:20}{:>5}{:>5}", "", "n", "err");
    for measure in &measures {
        table.push_str(&format!("{measure:>13}"));
    }
    table.push_str("  median s\n");
    for (title, group) in groups(records, |record| record) {
        let errors = group.iter().filter(|record| record.error.is_some()).count();
        table.push_str(&format!("{title:20}{:>5}{errors:>5}", group.len()));
        for measure in &measures {
            let mean = mean(group.iter().map(|record| measure.of(record)));
            table.push_str(&format!("{mean:>13.3}"));
        }
        // After an error there is no time.
        let good = group.iter().filter(|record| record.error.is_none());
        let times = good.filter_map(|record| Some(record.budgets.first_key_value()?.1.time));
        let median = median(times).unwrap_or_default();
        table.push_str(&format!("{median:>10.2}\n"));
    }
    table
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::eval::record::{Ranks, ShownShares};

    #[test]
    fn errors_count_as_nothing_and_have_no_time() {
        let rank = Ranks {
            mrr: 1.0,
            ..Ranks::default()
        };
        let shown = |time| ShownShares {
            files: 1.0,
            lines: 0.5,
            time,
            ..ShownShares::default()
        };
        let good = Record {
            language: "Go".to_owned(),
            kind: "issue".to_owned(),
            named: true,
            budgets: BTreeMap::from([(9, shown(2.0)), (80, shown(3.0))]),
            rank: Some(rank),
            ..Record::default()
        };
        let bad = Record {
            kind: "commit".to_owned(),
            budgets: BTreeMap::from([(9, shown(70.0))]),
            error: Some("no answer".to_owned()),
            ..good.clone()
        };
        let table = table(&[good, bad]);
        let rows: Vec<Vec<&str>> = table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        let titles = "n err MRR hit@1 hit@5 hit@10 r@10 files@9 lines@9 files@80 lines@80 median s";
        assert_eq!(rows[0].join(" "), titles);
        assert_eq!(
            rows[1].join(" "),
            "all 2 1 0.500 0.000 0.000 0.000 0.000 0.500 0.250 0.500 0.250 2.00"
        );
        assert_eq!(rows[2][..4].join(" "), "issues 1 0 1.000");
        assert_eq!(rows[3][..4].join(" "), "Go 2 1 0.500");
        assert_eq!(rows.len(), 4);
    }
}
