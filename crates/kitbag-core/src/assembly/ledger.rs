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

/// Why a prompt is as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ledger {
    /// Every chunk, in or out, the best score first; then what stands in the prompt although it is
    /// no longer among the chunks.
    pub entries: Vec<LedgerEntry>,
    /// The tokens of each band that has any.
    pub bands: Vec<BandUse>,
    /// How good the choice is.
    pub fit: FitReport,
    /// What became of the previous selection.
    pub epoch: EpochReport,
    /// What did not go as asked on the way to the prompt.
    #[serde(default, deserialize_with = "problems")]
    pub problems: Vec<Problem>,
}

/// Reads the problems of a ledger; those of schema 1 are bare texts.
fn problems<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Problem>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Text(String),
        Whole(Problem),
    }
    let problems = Vec::<Written>::deserialize(from)?.into_iter();
    let read = problems.map(|problem| match problem {
        Written::Text(message) => Problem::new("", ProblemKind::Failed, message),
        Written::Whole(problem) => problem,
    });
    Ok(read.collect())
}

/// The decision about one chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LedgerEntry {
    /// The chunk.
    pub id: ChunkId,
    /// Where it comes from.
    pub source: String,
    /// What it is.
    pub chunk_type: ChunkType,
    /// Its priority.
    pub priority: ContextPriority,
    /// How likely it is needed.
    pub relevance: Relevance,
    /// Its score, part by part.
    pub score: Score,
    /// The level it is shown at, none when it is out.
    pub level: Option<Detail>,
    /// What it brings.
    pub worth: u64,
    /// What it costs as it is shown; when it is out, what its most detailed level would.
    pub tokens: Tokens,
    /// Why.
    pub reason: Reason,
}

/// Why a chunk is in or out.
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
    BelowFloor {
        /// The floor.
        floor: Relevance,
    },
    /// In, but no longer what it says: the chunk has changed, and its present text stands further
    /// down.
    Outdated,
    /// Out: other chunks are worth more.
    NoRoom {
        /// The level at which it would enter first.
        level: Option<Detail>,
        /// With how many more tokens it could be added at that level to what is there.
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
    /// The band.
    pub band: Band,
    /// Its tokens.
    pub tokens: Tokens,
}

/// How good a choice is.
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
    /// What the choice brings.
    pub worth: u64,
    /// What no selection within the budget, or the limit for chunks, could exceed.
    pub bound: u64,
    /// The worth as a share of the bound, in parts per million.
    pub ratio_ppm: u32,
    /// What a token is worth where the budget ran out.
    pub price: Price,
}

/// What became of the previous selection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EpochReport {
    /// Why the selection was made anew, none when it was kept.
    pub renewed: Option<Renewal>,
    /// What keeping it costs in this turn, in tokens.
    pub regret: u64,
    /// What keeping it has cost since the epoch began, in tokens.
    pub regret_sum: u64,
    /// The sum at which it is renewed.
    pub limit: u64,
    /// What a selection made anew would be worth.
    pub best_worth: u64,
}

/// Why a selection was made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Renewal {
    /// There was none.
    First,
    /// What stands before it changed, so that nothing behind that could be reused.
    PrefixChanged,
    /// The history was shortened or changed, and what stands before it was not worth keeping either.
    HistoryChanged,
    /// Something in it must not be shown any more.
    Retracted,
    /// It no longer fits.
    NoRoom,
    /// Keeping it had cost more than making it anew.
    Regret,
}
