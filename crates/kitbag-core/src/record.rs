//! The record of a turn: its stages with their results and times, and what its prompts were billed.
//!
//! It stands beside the ledgers of the turn's prompts. A ledger is a function of what went into a
//! prompt; times and bills are not, so that they are kept apart from it.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// The stages of a turn, and the prompts that were sent for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TurnRecord {
    /// The stages, in their order.
    pub stages: Vec<StageRecord>,
    /// The prompts that were sent, in their order.
    pub inferences: Vec<InferenceRecord>,
}

/// One stage of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageRecord {
    /// Its name: `authorise`, `sanitise`, `prompt`.
    pub stage: String,
    /// Its result in a few words.
    pub result: String,
    /// The time that it took, in microseconds.
    pub micros: u64,
}

impl StageRecord {
    /// A stage that has ended.
    #[must_use]
    pub fn new(stage: impl Into<String>, result: impl Into<String>, micros: u64) -> Self {
        Self {
            stage: stage.into(),
            result: result.into(),
            micros,
        }
    }
}

/// A prompt that was sent, and what came back besides the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct InferenceRecord {
    /// The purpose of a prompt that asked for something else than the answer: `summary`, `facts`,
    /// `compaction`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The provider, as the configuration names it.
    pub provider: String,
    /// The model, as the provider names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tokens of the prompt as they were counted before it was sent.
    pub counted: u32,
    /// The tokens that the provider counted and billed, if it told them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The cost of that at list prices, in millionths of a US dollar, if the prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

/// Tokens as the provider counts and bills them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All tokens of the request, those that were cached among them.
    pub input: u64,
    /// The tokens that were read from the provider's cache.
    pub cache_read: u64,
    /// The tokens that were written into it.
    pub cache_write: u64,
    /// The tokens of the answer, its reasoning among them.
    pub output: u64,
}
