//! `kitbag pack`.

mod change;
mod envelope;
mod files;
mod habits;
mod json;
mod levels;
mod options;
mod output;
mod problems;
mod secrets;
mod strategy;
mod task;
pub(crate) mod tree;
