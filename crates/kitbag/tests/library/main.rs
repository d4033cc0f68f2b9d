//! The library as a program uses it: providers, examples, events and figures, with a real store.

#![cfg(all(feature = "sqlite", feature = "providers"))]
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod complete;
