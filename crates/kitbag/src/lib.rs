//! The library that people depend on: packing a workspace, checkpoints, token counters and imports
//! of conversations, over the pure core.
//!
//! [`core`] decides what a model sees; this crate brings what that needs from the world. A store of
//! memories and providers are not here yet.

pub mod checkpoint;
pub mod gather;
pub mod memory;
pub mod pack;
mod redaction;
pub mod tokens;

pub use kitbag_core as core;
pub use kitbag_workspace as workspace;

/// The examples of the README, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
