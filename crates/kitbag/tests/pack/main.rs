//! Packs through the library.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod change;
mod checkpoint;
mod exactness;
mod examples;
mod gathered;
mod models;
mod named;
mod overview;
mod priorities;
mod project;
mod random;
mod resident;
mod secrets;
mod shown;
mod threads;
