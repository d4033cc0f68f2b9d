//! The library that people depend on.

pub mod tokens;

pub use kitbag_core as core;
