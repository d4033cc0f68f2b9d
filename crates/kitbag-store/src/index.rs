//! The index for recall: which words stand in which passages of a scope.
//!
//! A new message carries its terms in its own row. When a scope has enough of those, they become a
//! block: for each term one row with all places in the block. Blocks are never changed, only made
//! anew when a message in them is forgotten. So a message costs one row, and a term of a query a row
//! for each block, in either database; the databases know nothing of words.

mod block;
mod codec;
mod expected;
mod lookup;

pub(crate) use block::{Entry, make_blocks, rebuild, reindex};
pub(crate) use codec::{cuts, decode_cuts, encode_terms};
pub(crate) use expected::Expected;
pub(crate) use lookup::evidence;

/// The version of the analysis of texts. When it changes, scopes are indexed anew as they are used.
pub(crate) const ANALYSIS: i64 = 2;
