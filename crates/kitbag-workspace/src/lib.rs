//! Reads a code base: walks it, scans it for a task, parses what matters, asks git.
//!
//! Synchronous, parallel inside. It knows nothing of prompts and budgets: it brings files, their
//! scores and their levels of detail.

pub mod cache;
pub mod dependencies;
pub mod git;
pub mod instructions;
mod json;
pub mod language;
pub mod levels;
pub mod matcher;
pub mod openapi;
pub mod parsed;
pub mod query;
mod relative;
pub mod relevance;
pub mod resident;
mod shown;
pub mod structure;
pub mod survey;
pub mod syntax;
mod table;
pub mod text;
pub mod walk;
pub mod workspace;
mod yaml;
