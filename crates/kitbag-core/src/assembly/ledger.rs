//! The ledger: every decision of an assembly, with its reason and its figures.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::band::Band;
use crate::chunk::{ChunkId, ChunkType, ContextPriority, Detail, Relevance};
use crate::fit::Price;
use crate::problem::{Problem, ProblemKind};
use crate::rank::Score;
use crate::tokens::Tokens;

/// The explanation of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ledger {
    /// Every chunk, in or out, the best score first; then texts in the prompt that are no longer
    /// those of a chunk.
    pub entries: Vec<LedgerEntry>,
    /// The tokens of each band that has any.
    pub bands: Vec<BandUse>,
    /// The quality of the choice.
    pub fit: FitReport,
    /// The fate of the previous selection.
    pub epoch: EpochReport,
    /// Deviations from the request on the way to the prompt.
    #[serde(default, deserialize_with = "problems")]
    pub problems: Vec<Problem>,
}

/// Reads the problems of a ledger; those of schema 1 are bare texts.
fn problems<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Problem>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum StoredProblem {
        Text(String),
        Whole(Problem),
    }
    // An archived ledger has to be read by every later version.
    let problems = Vec::<StoredProblem>::deserialize(from)?.into_iter();
    let read = problems.map(|problem| match problem {
        StoredProblem::Text(message) => Problem::new("", ProblemKind::Failed, message),
        StoredProblem::Whole(problem) => problem,
    });
    Ok(read.collect())
}

/// The decision about one chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LedgerEntry {
    /// The chunk.
    pub id: ChunkId,
    /// The chunk's source.
    pub source: String,
    /// The chunk's kind.
    pub chunk_type: ChunkType,
    pub priority: ContextPriority,
    /// Likelihood that it is needed.
    pub relevance: Relevance,
    /// Its score, part by part.
    pub score: Score,
    /// The level it is shown at, none when it is out.
    pub level: Option<Detail>,
    /// The worth it adds.
    pub worth: u64,
    /// Its tokens as it is shown, or those of its most detailed level when it is out.
    pub tokens: Tokens,
    pub reason: Reason,
}

/// The reason why a chunk is in or out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// In: it must be.
    Critical,
    /// In: worth its tokens.
    Chosen,
    /// In: it stands there since the epoch began, and moving it would cost more than it brings.
    Kept,
    /// In: it became relevant after the epoch began.
    Appended,
    /// In: mentioned, so that it can be asked for.
    Mentioned,
    /// Out: less likely needed than the floor.
    BelowFloor { floor: Relevance },
    /// In, but with an earlier text: the chunk has changed, and its present text stands further
    /// down.
    Outdated,
    /// Out: other chunks are worth more.
    NoRoom {
        /// The level at which it would enter first.
        level: Option<Detail>,
        /// The additional tokens that would let it in at that level.
        more: Option<Tokens>,
    },
    /// Out: another chunk with the same id and content stands for it.
    Duplicate,
    /// Out: there is nothing in it.
    Empty,
    /// In: a context message, which is not chosen.
    Injected,
    /// Out: a context message that was in a prompt not long ago.
    Cooldown {
        /// The inference of the conversation at which it is due again.
        until: u64,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Critical => f.write_str("critical: it must be in"),
            Self::Chosen => f.write_str("worth its tokens"),
            Self::Kept => f.write_str("kept from the turn before"),
            Self::Appended => f.write_str("became relevant"),
            Self::Mentioned => f.write_str("mentioned only"),
            Self::BelowFloor { floor } => {
                // Integers to the end: a rounded float could print differently on another machine.
                let (percent, tenth) = (floor.ppm() / 10_000, floor.ppm() % 10_000 / 1_000);
                write!(f, "below the floor of {percent}.{tenth} %")
            }
            Self::Outdated => f.write_str("changed since: its present text stands further down"),
            Self::NoRoom {
                level: Some(level),
                more: Some(more),
            } => {
                let tokens = if more.0 == 1 { "token" } else { "tokens" };
                let level = level.as_str();
                write!(
                    f,
                    "no room: {more} more {tokens} would fit its {level} level"
                )
            }
            // Without a level no budget would let it in, so the budget is not the reason.
            Self::NoRoom { .. } => f.write_str("worth nothing"),
            Self::Duplicate => {
                f.write_str("another chunk with the same id and content stands for it")
            }
            Self::Empty => f.write_str("there is nothing in it"),
            Self::Injected => f.write_str("a context message: always in"),
            Self::Cooldown { until } => write!(f, "cooling down until inference {until}"),
        }
    }
}

/// The tokens of one band.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BandUse {
    pub band: Band,
    pub tokens: Tokens,
}

/// The quality of a choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FitReport {
    /// The most tokens that the prompt may have.
    pub budget: Tokens,
    /// The tokens that everything but the chunks takes.
    pub fixed: Tokens,
    /// The chunks to choose from.
    pub chunks_in: usize,
    /// The chunks in the prompt.
    pub chunks_out: usize,
    /// The tokens of the chunks in the prompt.
    pub used: Tokens,
    /// The worth of the choice.
    pub worth: u64,
    /// A worth that no selection within the budget, or the limit for chunks, could exceed.
    pub bound: u64,
    /// The worth as a share of the bound, in parts per million.
    pub ratio_ppm: u32,
    /// The worth of a token where the budget ran out.
    pub price: Price,
}

/// The fate of the previous selection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EpochReport {
    /// The reason for a new selection, none when the previous one was kept.
    pub renewed: Option<Renewal>,
    /// The cost of keeping it in this turn, in tokens.
    pub regret: u64,
    /// The cost of keeping it since the epoch began, in tokens.
    pub regret_sum: u64,
    /// The sum at which it is renewed.
    pub limit: u64,
    /// The worth of a fresh selection.
    pub best_worth: u64,
}

/// The reason for a new selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Renewal {
    /// There was none.
    First,
    /// Something before it changed, so nothing behind that could be reused.
    PrefixChanged,
    /// The history was shortened or changed, and the chunks before it were not worth keeping
    /// either.
    HistoryChanged,
    /// Something in it must not be shown any more.
    Retracted,
    /// It no longer fits.
    NoRoom,
    /// Keeping it had cost more than a fresh selection.
    Regret,
}
