//! Recall: the past messages that a query is about, found without a model.
//!
//! Pure: the store keeps the terms that [`analyse`] gives, looks up those that a [`Query`] names,
//! and returns them as [`Evidence`]. [`candidates`] ranks by postings alone, at a cost near their
//! number; [`rank`] adds whatever else is known of each message. Scores are integers with named
//! parts.
//!
//! Nothing here reads a store or a clock, and nothing vanishes: a near-duplicate is listed with the
//! hit that it repeats.

mod alike;
mod analyse;
mod assistant_said;
mod attitude;
mod candidates;
mod change;
mod concepts;
mod days;
mod evidence;
mod fingerprint;
mod latest;
mod message_traits;
mod passages;
mod query;
mod rank;
mod speakers;
mod strengths;
mod weights;

pub use analyse::{Analyser, Analysis, PassageTerms, analyse};
pub(crate) use attitude::denies;
pub use candidates::{Candidate, candidates};
pub use change::{ToldMessage, rarity_limit, with_rare_words};
pub use days::DayRange;
pub use evidence::{Evidence, Place, Posting};
pub use fingerprint::Fingerprint;
pub use message_traits::MessageTraits;
pub use query::Query;
pub use rank::{Hit, MessageFacts, rank};
pub use weights::RecallWeights;

#[cfg(test)]
mod tests;
