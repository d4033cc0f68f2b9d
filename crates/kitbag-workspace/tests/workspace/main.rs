//! Tests of reading a code base, on real files and with a real git.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "helpers of tests are test code"
)]

mod git;
mod like_git;
mod resident;
mod tree;
mod walk;
