//! The index for recall: the passages of a scope in which each word occurs.
//!
//! Messages that are written together become a block: their words with all places, packed into
//! rows. Blocks of like size are merged as they become many, so a query reads few rows of each. A
//! block changes only when one of its messages is forgotten or edited. All of this works the same
//! in either database; the databases know nothing of words.

mod block;
mod cuts;
mod distinct;
mod expected;
mod lookup;
mod merge;
mod number;
mod places;
mod terms;
mod words;

pub(crate) use block::{Entry, add, rebuild, reindex};
pub(crate) use cuts::{cuts, decode_cuts};
pub(crate) use expected::Comparison;
pub(crate) use lookup::evidence;
pub(crate) use terms::encode_terms;

/// The version of the analysis and of the rows that hold the words. When it changes, a scope is
/// indexed again the next time it is written.
pub(crate) const ANALYSIS: i64 = 4;
