//! `cargo xtask eval weights`: what recall finds with other weights, and how well weights carry over
//! from some sets of conversations to another.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result};
use clap::Args;
use kitbag_core::recall::RecallWeights;

use super::conversation::{self, Conversation};
use super::figures::{Figures, Table};
use super::index::Index;
use super::score::{self, Measure, Row};
use super::set_name;
use super::weights::{self, Setting, WEIGHTS};

/// Which weights are evaluated on which data.
#[derive(Args)]
pub(crate) struct Options {
    /// Conversations and their questions, one JSON document; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    data: Vec<PathBuf>,
    /// Shows each category of questions too
    #[arg(long)]
    by_category: bool,
    /// Sets a weight; may be given several times
    #[arg(long = "set", value_name = "NAME=VALUE")]
    settings: Vec<Setting>,
    /// Leaves out one set after the other, searches weights on the rest and scores them on that one
    #[arg(long, conflicts_with = "settings")]
    leave_one_out: bool,
}

/// Shows the figures of each set with these weights, or of each set with the weights that are best
/// for the others.
pub(crate) fn tune(options: &Options) -> Result<()> {
    let read = |file: &PathBuf| Ok((set_name(file)?, conversation::read(file)?));
    let data: Vec<(String, Vec<Conversation>)> =
        options.data.iter().map(read).collect::<Result<_>>()?;
    let sets: Vec<Set<'_>> = data
        .iter()
        .map(|(name, conversations)| Set::new(name, conversations))
        .collect::<Result<_>>()?;
    let groups = super::groups(options.by_category);
    let mut table = Table::default();
    if options.leave_one_out {
        let mut search = Search {
            sets: &sets,
            known: BTreeMap::new(),
        };
        for (out, set) in sets.iter().enumerate() {
            let (best, rows) = search.best_without(out)?;
            println!("{} is scored with {best}", set.name);
            table.add(set.name, &Figures::new(&rows, groups, None));
        }
    } else {
        let weights = weights::with(&options.settings);
        for set in &sets {
            let rows = set.rows(&weights)?;
            table.add(set.name, &Figures::new(&rows, groups, None));
        }
    }
    print!("{table}");
    Ok(())
}

/// One file of conversations.
struct Set<'a> {
    name: &'a str,
    indexes: Vec<Index<'a>>,
}

impl<'a> Set<'a> {
    fn new(name: &'a str, conversations: &'a [Conversation]) -> Result<Self> {
        let indexes = conversations.iter().map(Index::new);
        let indexes = indexes.collect::<Result<_>>();
        let indexes = indexes.with_context(|| format!("unexpected data in the set `{name}`"))?;
        Ok(Self { name, indexes })
    }

    fn rows(&self, weights: &RecallWeights) -> Result<Vec<Row>> {
        let rows = |index: &Index<'_>| score::rows(index.conversation(), &index.answers(weights));
        let parts = thread::available_parallelism().map_or(1, usize::from);
        // Neighbours stay together and are joined in order, so the rows do not depend on the
        // threads.
        let size = self.indexes.len().div_ceil(parts).max(1);
        thread::scope(|scope| {
            let parts: Vec<_> = self.indexes.chunks(size).collect();
            let threads: Vec<_> = parts
                .into_iter()
                .map(|part| scope.spawn(move || part.iter().map(rows).collect::<Result<Vec<_>>>()))
                .collect();
            let mut all = Vec::new();
            for thread in threads {
                let rows = thread.join().ok().context("a thread panicked")??;
                all.extend(rows.into_iter().flatten());
            }
            Ok(all)
        })
    }
}

/// The values of the weights that have a grid, by their places in it.
type Choice = Vec<usize>;

/// A search for the best weights of all sets but one.
struct Search<'s> {
    sets: &'s [Set<'s>],
    known: BTreeMap<Choice, Vec<Vec<Row>>>,
}

impl Search<'_> {
    /// Weights that are best for all sets but one, and what that one has with them.
    ///
    /// Each weight in turn gets the value that is best while the others stay, until none changes:
    /// an exhaustive search takes days. It starts from a plain BM25 and not from the defaults, which
    /// were chosen with all sets in view.
    fn best_without(&mut self, out: usize) -> Result<(String, Vec<Row>)> {
        let searched: Vec<_> = WEIGHTS.iter().filter(|w| !w.grid.is_empty()).collect();
        // The first value of each grid leaves its signal out.
        let mut choice: Choice = vec![0; searched.len()];
        let mut best = self.worth(&choice, out)?;
        loop {
            let before = choice.clone();
            for (at, weight) in searched.iter().enumerate() {
                for value in 0..weight.grid.len() {
                    let mut other = choice.clone();
                    if let Some(place) = other.get_mut(at) {
                        *place = value;
                    }
                    let worth = self.worth(&other, out)?;
                    // Only a real gain changes a weight, so the search cannot go in circles.
                    if worth > best {
                        (best, choice) = (worth, other);
                    }
                }
            }
            if choice == before {
                break;
            }
        }
        let shown = searched.iter().zip(&choice).map(|(weight, value)| {
            let value = weight.grid.get(*value).copied().unwrap_or_default();
            format!("{}={value}", weight.name)
        });
        let shown = shown.collect::<Vec<_>>().join(" ");
        let rows = self.rows(&choice)?.get(out).cloned();
        Ok((shown, rows.unwrap_or_default()))
    }

    /// The mean over the other sets of what is among five, among ten and within 2,000 tokens.
    fn worth(&mut self, choice: &Choice, out: usize) -> Result<f64> {
        let sets = self.rows(choice)?.iter().enumerate();
        let means = sets.filter(|(set, _)| *set != out).map(|(_, rows)| {
            let judged = [Measure::First(5), Measure::First(10), Measure::Thousands(2)];
            judged.map(|measure| measure.mean(rows)).iter().sum::<f64>()
        });
        Ok(means.sum())
    }

    /// The figures of all sets for a choice of weights.
    fn rows(&mut self, choice: &Choice) -> Result<&[Vec<Row>]> {
        // The rows of all sets are kept: with another set left out, the search comes by the same
        // choices.
        if !self.known.contains_key(choice) {
            let mut weights = RecallWeights::default();
            let searched = WEIGHTS.iter().filter(|weight| !weight.grid.is_empty());
            for (weight, value) in searched.zip(choice) {
                if let Some(value) = weight.grid.get(*value) {
                    *(weight.of)(&mut weights) = *value;
                }
            }
            let rows = self.sets.iter().map(|set| set.rows(&weights));
            self.known
                .insert(choice.clone(), rows.collect::<Result<_>>()?);
        }
        self.known.get(choice).map(Vec::as_slice).context("no rows")
    }
}
