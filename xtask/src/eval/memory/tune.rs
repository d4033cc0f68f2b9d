//! `cargo xtask eval weights`: what recall finds with other weights, and how well weights carry over
//! from some sets of conversations to another.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;

use anyhow::{Context, Result, bail};
use clap::Args;
use kitbag_core::recall::RecallWeights;

use super::conversation::{self, Conversation};
use super::figures::{Figures, Table};
use super::index::Index;
use super::long;
use super::score::{self, Measure, Row};
use super::set_name;
use super::weights::{self, Setting, WEIGHTS};

/// The weights to evaluate, and the data to evaluate them on.
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
    /// Adds these conversations with long messages of an assistant as a set of their own; may be given
    /// several times
    #[arg(long, value_name = "FILE")]
    long: Vec<PathBuf>,
    /// Leaves out one set after the other, searches weights on the rest and scores them on that one
    #[arg(long, conflicts_with = "settings")]
    leave_one_out: bool,
    /// The same for this set alone; may be given several times
    #[arg(long, value_name = "SET", conflicts_with = "settings")]
    leave_out: Vec<String>,
}

/// Shows the figures of each set with these weights, or of those that are left out with the weights that
/// are best for the others.
pub(crate) fn tune(options: &Options) -> Result<()> {
    let data = ConversationSet::read_all(options)?;
    let sets: Vec<Set<'_>> = data.iter().map(Set::new).collect::<Result<_>>()?;
    let left_out = left_out(&sets, options)?;
    let groups = super::groups(options.by_category);
    let mut table = Table::default();
    if !left_out.is_empty() {
        let mut search = Search {
            sets: &sets,
            known: BTreeMap::new(),
        };
        for (out, set) in left_out {
            let (best, rows) = search.best_without(out)?;
            println!("{} is scored with {best}", set.data.name);
            table.add(&set.data.name, &Figures::new(&rows, groups, None));
        }
    } else {
        let weights = weights::with(&options.settings);
        for set in &sets {
            let rows = set.rows(&weights)?;
            table.add(&set.data.name, &Figures::new(&rows, groups, None));
        }
    }
    print!("{table}");
    Ok(())
}

/// The sets that are to be left out, with their numbers.
fn left_out<'s, 'd>(sets: &'s [Set<'d>], options: &Options) -> Result<Vec<(usize, &'s Set<'d>)>> {
    let name = |set: &Set<'_>| set.data.name.clone();
    for sought in &options.leave_out {
        if !sets.iter().any(|set| name(set) == *sought) {
            let names: Vec<String> = sets.iter().map(name).collect();
            bail!("no set is named `{sought}`; there are {}", names.join(", "));
        }
    }
    let is_left_out =
        |set: &Set<'_>| options.leave_one_out || options.leave_out.contains(&set.data.name);
    let numbered = sets.iter().enumerate();
    Ok(numbered.filter(|(_, set)| is_left_out(set)).collect())
}

/// One set of conversations, as a file has them or with long messages.
struct ConversationSet {
    name: String,
    /// The file's name: a set and its long variant ask the same questions.
    file: String,
    conversations: Vec<Conversation>,
}

impl ConversationSet {
    fn read_all(options: &Options) -> Result<Vec<Self>> {
        let mut all = Vec::new();
        for path in &options.data {
            let file = set_name(path)?;
            all.push(Self {
                name: file.clone(),
                file,
                conversations: conversation::read(path)?,
            });
        }
        for path in &options.long {
            let file = set_name(path)?;
            all.push(Self {
                name: format!("{file}, long"),
                file,
                conversations: long::lengthened(&conversation::read(path)?)?,
            });
        }
        Ok(all)
    }
}

/// A set that is ready to be asked.
struct Set<'a> {
    data: &'a ConversationSet,
    indexes: Vec<Index<'a>>,
}

impl<'a> Set<'a> {
    fn new(data: &'a ConversationSet) -> Result<Self> {
        let indexes = data.conversations.iter().map(Index::new);
        let indexes = indexes.collect::<Result<_>>();
        let indexes =
            indexes.with_context(|| format!("unexpected data in the set `{}`", data.name))?;
        Ok(Self { data, indexes })
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

    /// The sum over the other sets of what is among five, among ten and within 2,000 tokens. The
    /// variant of a set that is left out is left out with it.
    fn worth(&mut self, choice: &Choice, out: usize) -> Result<f64> {
        let sets = self.sets;
        let file = sets.get(out).map(|set| &set.data.file);
        let rows = sets.iter().zip(self.rows(choice)?);
        let means = rows
            .filter(|(set, _)| Some(&set.data.file) != file)
            .map(|(_, rows)| {
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
