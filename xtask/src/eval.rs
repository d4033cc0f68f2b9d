//! `cargo xtask eval`: the quality of the program's answers, and the effect of a change on it.
//!
//! The data stay where they are: nothing here knows a repository or a task.

mod answer;
mod checkout;
mod compare;
mod harvest;
mod instance;
mod measure;
mod memory;
mod record;
mod relevance;
mod score;
mod source_file;
mod table;

use std::path::PathBuf;

use anyhow::Result;
use clap::Subcommand;

/// The evaluations.
#[derive(Subcommand)]
pub(crate) enum Eval {
    /// Measure how much of the code that real fixes changed `kitbag pack` shows
    Relevance(Box<relevance::Options>),
    /// Make tasks for `relevance` from the commits of repositories
    Harvest(harvest::Options),
    /// Measure how many of the messages that answer a question `kitbag memory recall` finds
    Memory(memory::Options),
    /// Measure recall with other weights, without the program; much faster in a release build
    Weights(memory::TuneOptions),
    /// Measure how often the later of two statements comes first, for made pairs in five languages
    Updates(memory::UpdateOptions),
    /// Print the paired differences of two evaluations, with their standard errors
    Compare {
        /// The records before the change
        before: PathBuf,
        /// The records after it
        after: PathBuf,
    },
}

pub(crate) fn eval(eval: Eval) -> Result<()> {
    match eval {
        Eval::Relevance(options) => relevance::relevance(&options),
        Eval::Harvest(options) => harvest::harvest(&options),
        Eval::Memory(options) => memory::memory(&options),
        Eval::Weights(options) => memory::tune(&options),
        Eval::Updates(options) => memory::updates(&options),
        Eval::Compare { before, after } => compare::compare(&before, &after),
    }
}
