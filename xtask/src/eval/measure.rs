//! The figures that are averaged and compared.

use std::collections::BTreeSet;
use std::fmt;

use super::record::{Ranks, Record, ShownShares};

/// One figure of a record, between 0 and 1; more is better.
pub(super) struct Measure {
    name: String,
    pick: Pick,
}

enum Pick {
    Ranking(Figure<Ranks>),
    /// At a budget.
    ShownShares(u64, Figure<ShownShares>),
}

type Figure<T> = fn(&T) -> f64;

const RANKING: [(&str, Figure<Ranks>); 5] = [
    ("MRR", |rank| rank.mrr),
    ("hit@1", |rank| rank.hit1),
    ("hit@5", |rank| rank.hit5),
    ("hit@10", |rank| rank.hit10),
    ("r@10", |rank| rank.r10),
];

const SHOWN: [(&str, Figure<ShownShares>); 2] = [
    ("files", |shown| shown.files),
    ("lines", |shown| shown.lines),
];

impl Measure {
    /// The measures of the ranking, then those of each budget that occurs.
    pub(super) fn all<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<Self> {
        let budgets: BTreeSet<u64> = records
            .into_iter()
            .flat_map(|record| record.budgets.keys().copied())
            .collect();
        let ranking = RANKING.map(|(name, figure)| Self {
            name: name.to_owned(),
            pick: Pick::Ranking(figure),
        });
        let shown = budgets.into_iter().flat_map(|budget| {
            SHOWN.map(|(name, figure)| Self {
                name: format!("{name}@{budget}"),
                pick: Pick::ShownShares(budget, figure),
            })
        });
        ranking.into_iter().chain(shown).collect()
    }

    /// The figure; 0 after an error.
    pub(super) fn of(&self, record: &Record) -> f64 {
        let figure = match &self.pick {
            // To leave such tasks out would reward a program that fails on the hard ones.
            _ if record.error.is_some() => None,
            Pick::Ranking(figure) => record.rank.as_ref().map(figure),
            Pick::ShownShares(budget, figure) => record.budgets.get(budget).map(figure),
        };
        figure.unwrap_or(0.0)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
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
