//! Packs through the library.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod exactness;
mod examples;
mod random;
