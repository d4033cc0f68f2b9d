//! `cargo xtask eval updates`: the share of pairs in which the latest of two statements comes first.
//!
//! The pairs are made of templates below `updates/`. Each belongs to a sender of its own, who says other
//! things in between, and is asked for through the program.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::program::{Program, lines};
use crate::metadata::Metadata;
use crate::release;

const EARLIER: &str = "2024-01-10T10:00:00Z";
const LATER: &str = "2024-03-05T10:00:00Z";
const NOW: &str = "2024-03-20T10:00:00Z";

/// A set of pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Set {
    /// Eight kinds that the patterns of statements know, 200 pairs
    Known,
    /// Ten other kinds, on which the rules for changes were tuned, 50 pairs
    Tuned,
    /// Ten further kinds, on which nothing was tuned, 50 pairs
    HeldOut,
}

impl Set {
    const fn templates(self) -> &'static str {
        match self {
            Self::Known => include_str!("updates/known.txt"),
            Self::Tuned => include_str!("updates/tuned.txt"),
            Self::HeldOut => include_str!("updates/held_out.txt"),
        }
    }
}

/// The way in which the pairs are asked for.
#[derive(Args)]
pub(crate) struct Options {
    /// The pairs
    #[arg(long, value_enum, default_value = "known")]
    set: Set,
    /// The program [default: the release build of this project]
    #[arg(long, value_name = "PATH")]
    kitbag: Option<PathBuf>,
    /// The model that helps recall; none unless it is given
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Lists the pairs of which the latest is not first, or the older not marked
    #[arg(long)]
    misses: bool,
}

/// Shows, for each language, in how many pairs the latest statement is first and the older one marked.
pub(crate) fn updates(options: &Options) -> Result<()> {
    let target = Metadata::load()?.target_directory;
    let path = release::given_or_built(options.kitbag.as_ref(), &target)?;
    let program = Program::new(path, Vec::new(), options.model.as_deref())?;
    let pairs = pairs(options.set)?;
    let told = pairs.iter().flat_map(Pair::import_lines);
    let asked = pairs.iter().map(Pair::question_line);
    let answers = program.recall(&lines(told), &lines(asked))?;
    let mut scores: BTreeMap<&str, Score> = BTreeMap::new();
    for pair in &pairs {
        let answer = answers.get(&pair.sender);
        // A question without an answer must not count as a miss: something is broken.
        let answer = answer.with_context(|| format!("`{}` got no answer", pair.sender))?;
        let is_first = answer.first().is_some_and(|hit| hit.turn == "later");
        let is_marked = answer
            .iter()
            .any(|hit| hit.turn == "earlier" && hit.outdated_by.is_some());
        // Whatever else is marked has nothing that replaces it.
        let is_wrong = answer
            .iter()
            .any(|hit| hit.turn != "earlier" && hit.outdated_by.is_some());
        // The sum is counted with the languages, so that the two cannot disagree.
        for language in [pair.language, "all"] {
            let score = scores.entry(language).or_default();
            score.pairs += 1;
            score.first += usize::from(is_first);
            score.marked += usize::from(is_marked);
            score.wrong += usize::from(is_wrong);
        }
        if options.misses && !(is_first && is_marked) {
            let first = if is_first { "first" } else { "not first" };
            let marked = if is_marked { "marked" } else { "not marked" };
            let (question, later) = (pair.question, &pair.later);
            println!("{}: {question} {later} ({first}, {marked})", pair.language);
        }
    }
    for (language, score) in scores {
        println!("{language:8} {score}");
    }
    Ok(())
}

/// A statement and the one that replaces it.
struct Pair {
    language: &'static str,
    sender: String,
    earlier: String,
    later: String,
    question: &'static str,
    filler: Vec<&'static str>,
}

impl Pair {
    /// Both statements, each in a conversation with other talk around it.
    fn import_lines(&self) -> Vec<Value> {
        let mut lines = Vec::new();
        for (turn, at, said) in [
            ("earlier", EARLIER, &self.earlier),
            ("later", LATER, &self.later),
        ] {
            let line = |reference: String, text: &str| {
                json!({"channel": "eval", "sender": self.sender, "conversation": format!("{}/{turn}", self.sender),
                    "ref": reference, "at": at, "role": "user", "text": text})
            };
            // Other talk on both sides, or the statement would win by its place alone.
            let (before, after) = self.filler.split_at(self.filler.len() / 2);
            let filler = |(number, text): (usize, &&str)| line(format!("{turn} {number}"), text);
            lines.extend(before.iter().enumerate().map(filler));
            lines.push(line(turn.to_owned(), said));
            let filler =
                |(number, text): (usize, &&str)| line(format!("after {turn} {number}"), text);
            lines.extend(after.iter().enumerate().map(filler));
        }
        lines
    }

    fn question_line(&self) -> Value {
        json!({"id": self.sender, "channel": "eval", "sender": self.sender, "query": self.question, "now": NOW})
    }
}

#[derive(Default)]
struct Score {
    pairs: usize,
    first: usize,
    marked: usize,
    wrong: usize,
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |count: usize| 100.0 * count as f64 / self.pairs.max(1) as f64;
        let (first, marked, wrong) = (share(self.first), share(self.marked), share(self.wrong));
        let pairs = self.pairs;
        write!(
            f,
            "n {pairs:3}  latest first {first:5.1}  older marked {marked:5.1}  others marked {wrong:5.1}"
        )
    }
}

fn pairs(set: Set) -> Result<Vec<Pair>> {
    let mut pairs: Vec<Pair> = Vec::new();
    let mut language = "";
    let templates = set.templates().lines();
    for line in templates.filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("language ") {
            language = name;
        } else if let Some(filler) = line.strip_prefix("filler ") {
            // The filler stands behind the pairs of its language.
            let of_language = pairs.iter_mut().filter(|pair| pair.language == language);
            of_language.for_each(|pair| pair.filler = filler.split(" / ").collect());
        } else {
            let parts: Vec<&str> = line.split(" | ").collect();
            // A mistake in the templates must not be skipped: the figures would be of fewer pairs.
            let &[earlier, later, question, values] = parts.as_slice() else {
                bail!("`{line}` is no template");
            };
            for values in values.split(", ") {
                let (old, new) = values.split_once(" > ").context("expected OLD > NEW")?;
                pairs.push(Pair {
                    language,
                    // A sender of its own for each pair, so that pairs do not compete.
                    sender: format!("{language} {}", pairs.len()),
                    earlier: earlier.replace("{}", old),
                    later: later.replace("{old}", old).replace("{}", new),
                    question,
                    filler: Vec::new(),
                });
            }
        }
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x04_there_are_three_hundred_pairs_in_five_languages() {
        for (set, of_each) in [(Set::Known, 40), (Set::Tuned, 10), (Set::HeldOut, 10)] {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for pair in &pairs(set).unwrap() {
                *counts.entry(pair.language).or_default() += 1;
                assert!(!pair.earlier.contains('{') && !pair.later.contains('{'));
                assert_ne!(pair.earlier, pair.later);
                assert_eq!(pair.import_lines().len(), 2 + 2 * pair.filler.len());
                assert!(!pair.filler.is_empty());
            }
            let counts: Vec<usize> = counts.into_values().collect();
            assert_eq!(counts, [of_each; 5], "{set:?}");
        }
    }
}
