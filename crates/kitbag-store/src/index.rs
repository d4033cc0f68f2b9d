//! The index for recall: which words stand in which passages of a scope.
//!
//! The messages that are written together become a block: their words with all their places, packed
//! into rows. Blocks of like size are merged as they become many, so that a query reads few rows of
//! each. A block is changed only when a message in it is forgotten or edited. Everything here works
//! the same in either database; the databases know nothing of words.

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

/// The version of the analysis of texts and of the rows that hold the words. When it changes, scopes
/// are indexed anew as they are used.
pub(crate) const ANALYSIS: i64 = 4;
