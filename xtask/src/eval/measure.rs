//! The figures that are averaged and compared.

use std::collections::BTreeSet;
use std::fmt;

use super::record::{Ranks, Record, Shown};

/// One figure of a record, between 0 and 1; more is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Measure {
    Mrr,
    Hit1,
    Hit5,
    Hit10,
    Recall10,
    Files(u64),
    Lines(u64),
}

impl Measure {
    /// The measures of the ranking, then those of each budget that occurs.
    pub(super) fn all<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Self> {
        let budgets: BTreeSet<u64> = records
            .into_iter()
            .flat_map(|record| record.budgets.keys().copied())
            .collect();
        let ranking = [
            Self::Mrr,
            Self::Hit1,
            Self::Hit5,
            Self::Hit10,
            Self::Recall10,
        ];
        let shown = budgets
            .into_iter()
            .flat_map(|budget| [Self::Files(budget), Self::Lines(budget)]);
        ranking.into_iter().chain(shown).collect()
    }

    /// The figure; 0 after an error.
    pub(super) fn of(self, record: &Record) -> f64 {
        if record.error.is_some() {
            return 0.0;
        }
        let rank = |pick: fn(&Ranks) -> f64| record.rank.as_ref().map_or(0.0, pick);
        let shown = |budget, pick: fn(&Shown) -> f64| record.budgets.get(&budget).map_or(0.0, pick);
        match self {
            Self::Mrr => rank(|rank| rank.mrr),
            Self::Hit1 => rank(|rank| rank.hit1),
            Self::Hit5 => rank(|rank| rank.hit5),
            Self::Hit10 => rank(|rank| rank.hit10),
            Self::Recall10 => rank(|rank| rank.r10),
            Self::Files(budget) => shown(budget, |shown| shown.files),
            Self::Lines(budget) => shown(budget, |shown| shown.lines),
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Mrr => "MRR".to_owned(),
            Self::Hit1 => "hit@1".to_owned(),
            Self::Hit5 => "hit@5".to_owned(),
            Self::Hit10 => "hit@10".to_owned(),
            Self::Recall10 => "r@10".to_owned(),
            Self::Files(budget) => format!("files@{budget}"),
            Self::Lines(budget) => format!("lines@{budget}"),
        };
        f.pad(&name)
    }
}

/// The records that are looked at together, by their titles: all of them, then parts.
pub(super) fn groups<T>(items: &[T], record: impl Fn(&T) -> &Record) -> Vec<(String, Vec<&T>)> {
    let part = |title: &str, belongs: &dyn Fn(&Record) -> bool| {
        let members = items.iter().filter(|item| belongs(record(item)));
        (title.to_owned(), members.collect::<Vec<_>>())
    };
    let languages: BTreeSet<&str> = items
        .iter()
        .map(|item| record(item).language.as_str())
        .collect();
    let mut groups = vec![
        part("all", &|_| true),
        part("issues", &|record| record.kind == "issue"),
        part("gold file not named", &|record| !record.named),
    ];
    groups.extend(
        languages
            .into_iter()
            .map(|language| part(language, &|record| record.language == language)),
    );
    groups.retain(|(_, members)| !members.is_empty());
    groups
}
