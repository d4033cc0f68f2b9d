//! The record of a turn: its stages with their results and times, and the bills of its prompts.
//!
//! A ledger is a function of the input of a prompt. Times and bills are not, so they are kept out
//! of the ledgers of the turn.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

use crate::calibration::CountSample;

/// The stages of a turn, and the prompts that were sent for it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct TurnRecord {
    /// The stages, in their order.
    pub stages: Vec<StageRecord>,
    /// The prompts that were sent, in their order.
    pub inferences: Vec<InferenceRecord>,
    /// The choice of the model, where there was one to make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub route: Option<RouteRecord>,
}

impl TurnRecord {
    /// Adds the stages and prompts of later work.
    pub fn extend(&mut self, later: Self) {
        self.stages.extend(later.stages);
        self.inferences.extend(later.inferences);
        // Learning after a turn chooses no model, and must not remove the turn's choice.
        self.route = later.route.or(self.route.take());
    }
}

/// The choice of the model that answers a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RouteRecord {
    /// The model, as whoever chose it names it; none where the usual one answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The one who chose it.
    pub by: RouteBy,
    /// The name of the rule, the class or the extension, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The reason, in a few words.
    pub reason: String,
    /// The problem that kept another choice from being made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl RouteRecord {
    /// A choice without a name and without a problem.
    #[must_use]
    pub fn new(by: RouteBy, model: Option<String>, reason: impl Into<String>) -> Self {
        Self {
            model,
            by,
            name: None,
            reason: reason.into(),
            problem: None,
        }
    }
}

impl fmt::Display for RouteRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.as_deref().unwrap_or("the usual model");
        write!(f, "{model} ({}", self.by)?;
        if let Some(name) = &self.name {
            write!(f, " {name}")?;
        }
        write!(f, ": {})", self.reason)
    }
}

/// The one who chose the model of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RouteBy {
    /// A rule of the configuration.
    Rule,
    /// The classifier, by the class that it named.
    Class,
    /// The class for messages that the classifier could not tell.
    Otherwise,
    /// Nobody: the usual model answers.
    Usual,
    /// An extension.
    Extension,
}

impl fmt::Display for RouteBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rule => "rule",
            Self::Class => "class",
            Self::Otherwise => "otherwise",
            Self::Usual => "usual",
            Self::Extension => "extension",
        })
    }
}

/// Sums the cost of some prompts at list prices, in millionths of a US dollar; none if there are no
/// prompts, or if a price or a usage is not known.
#[must_use]
pub fn total_cost_micros(inferences: &[InferenceRecord]) -> Option<u64> {
    // One unknown price makes the sum unknown: a partial sum would look like the bill.
    let costs = inferences.iter().map(|one| one.cost_micros);
    costs.reduce(|sum, cost| Some(sum?.saturating_add(cost?)))?
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
    /// Creates a stage that has ended.
    #[must_use]
    pub fn new(stage: impl Into<String>, result: impl Into<String>, micros: u64) -> Self {
        Self {
            stage: stage.into(),
            result: result.into(),
            micros,
        }
    }
}

/// A prompt that was sent, with everything that came back except the answer.
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
    /// The tokens that the provider counted and billed, if it reported them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The tokens that the provider should have read from its cache, if there was an earlier
    /// request to compare with and the model's cache is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_cache_read: Option<u64>,
    /// The reason why it could not read all of the earlier request, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_miss: Option<CacheMiss>,
    /// The count against the bill, if the two can be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<CountSample>,
    /// The cost of the usage at list prices, in millionths of a US dollar, if the prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl InferenceRecord {
    /// Returns the tokens that were read from the cache and those that were expected, if much less
    /// was read.
    ///
    /// ```
    /// use kitbag_core::record::{InferenceRecord, Usage};
    ///
    /// let mut inference = InferenceRecord::default();
    /// inference.predicted_cache_read = Some(1_800);
    /// inference.usage = Some(Usage { cache_read: 1_024, ..Usage::default() });
    /// assert_eq!(inference.cache_shortfall(), Some((1_024, 1_800)));
    /// ```
    #[must_use]
    pub fn cache_shortfall(&self) -> Option<(u64, u64)> {
        let (read, expected) = (self.usage?.cache_read, self.predicted_cache_read?);
        // Counts may be estimates, and providers round down to blocks.
        let is_much = expected.saturating_sub(read) > (expected / 4).max(256);
        is_much.then_some((read, expected))
    }
}

/// The reason why a provider cannot read all of the earlier request from its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheMiss {
    /// Another model was asked.
    ModelChanged,
    /// The tools on offer changed.
    ToolsChanged,
    /// The instructions before everything else changed.
    InstructionsChanged,
    /// A fresh selection was made before the history.
    SelectionRenewed,
    /// The history was shortened or changed.
    HistoryChanged,
    /// The earlier request is older than the cache keeps one.
    Expired,
}

impl fmt::Display for CacheMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModelChanged => "another model was asked",
            Self::ToolsChanged => "the tools changed",
            Self::InstructionsChanged => "the instructions changed",
            Self::SelectionRenewed => "the selection was made anew",
            Self::HistoryChanged => "the history was shortened or changed",
            Self::Expired => "the last request is longer ago than the cache lasts",
        })
    }
}

/// Tokens as the provider counts and bills them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// All tokens of the request, cached ones included.
    pub input: u64,
    /// The tokens that were read from the provider's cache.
    pub cache_read: u64,
    /// The tokens that were written into it.
    pub cache_write: u64,
    /// The tokens of the answer, its reasoning included.
    pub output: u64,
}
