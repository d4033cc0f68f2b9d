//! The stages of a message before anything of it is stored.
//!
//! A message passes these stages, each of which is in the record of its turn: *authorise* (may its sender
//! send it?), *sanitise* (what imitates the operator or hides in it?), *command* (can it be answered
//! without a model?) and *typing* (a signal that an answer is being made). Every channel comes in here.

#[cfg(all(feature = "providers", feature = "store"))]
mod authorise;
#[cfg(all(feature = "providers", feature = "store"))]
mod respond;
mod sanitise;

#[cfg(all(feature = "providers", feature = "store"))]
pub use authorise::Refused;
#[cfg(all(feature = "providers", feature = "store"))]
pub use respond::Response;
pub(crate) use sanitise::Findings;
#[cfg(all(feature = "providers", feature = "store"))]
pub(crate) use sanitise::asks_to_disregard;
