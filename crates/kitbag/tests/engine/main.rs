//! The engine over a real store, through its public door.

#![cfg(feature = "sqlite")]
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod nodes;
