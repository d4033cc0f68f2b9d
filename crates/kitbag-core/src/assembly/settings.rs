//! What an assembly is told: the form, the budget, how to choose, and what caching costs.

use serde::{Deserialize, Serialize};

use super::balance::Balance;
use super::form::OutputForm;
use crate::chunk::Relevance;
use crate::tokens::Tokens;

/// The settings of an assembly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AssemblySettings {
    /// The output.
    pub form: OutputForm,
    /// The most tokens that the prompt may have.
    pub budget: Tokens,
    /// The tokens to choose chunks for, when that is less than what the rest of the prompt leaves. A
    /// target: what is appended during an epoch may exceed it by a third.
    pub chunk_limit: Option<Tokens>,
    /// How chunks are chosen.
    pub strategy: FitStrategy,
    /// Chunks that are less likely needed than this stay out, even when there is room.
    pub floor: Relevance,
    /// What one file and small parts of files may take; without it whatever they are worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<Balance>,
    /// How much regret is borne before the selection is renewed, in thousandths of what renewing
    /// costs. 0 renews whenever something better is possible.
    pub patience_permille: u32,
    /// What the model's provider can do and asks for it.
    pub traits: ModelTraits,
}

impl AssemblySettings {
    /// Settings with the usual floor, patience and prices.
    #[must_use]
    pub fn new(form: OutputForm, budget: Tokens) -> Self {
        Self {
            form,
            budget,
            chunk_limit: None,
            strategy: FitStrategy::default(),
            floor: Relevance::from_ppm(10_000),
            balance: None,
            patience_permille: 300,
            traits: ModelTraits::default(),
        }
    }

    /// What may be appended beside chunks of `standing` tokens, if there is a limit.
    pub(super) fn limit_beside(&self, standing: Tokens) -> Option<Tokens> {
        let limit = self.chunk_limit?;
        let stretched = limit.saturating_add(Tokens(limit.0 / 3));
        Some(stretched.saturating_sub(standing))
    }

    /// The same settings with another strategy.
    #[must_use]
    pub fn with_strategy(mut self, strategy: FitStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// The same settings with another floor.
    #[must_use]
    pub fn with_floor(mut self, floor: Relevance) -> Self {
        self.floor = floor;
        self
    }

    /// The same settings with limits on what files may take.
    #[must_use]
    pub fn with_balance(mut self, balance: Balance) -> Self {
        self.balance = Some(balance);
        self
    }

    /// The same settings for another model.
    #[must_use]
    pub fn with_traits(mut self, traits: ModelTraits) -> Self {
        self.traits = traits;
        self
    }
}

/// How chunks are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FitStrategy {
    /// The greatest worth within the budget.
    #[default]
    Optimal,
    /// In the order of the scores, each as detailed as still fits.
    Greedy,
}

/// What a model's provider can do. The values come from a catalogue, never from code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelTraits {
    /// Whether a system message may stand at the end of the conversation.
    pub mid_conversation_system: bool,
    /// Its prompt cache.
    pub cache: CacheProfile,
}

/// What a provider's prompt cache costs and takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CacheProfile {
    /// The price of a token that is written to the cache, in thousandths of an input token's.
    pub write_permille: u32,
    /// The price of a token that is read from the cache, likewise.
    pub read_permille: u32,
    /// The shortest prefix that is cached.
    pub min_tokens: Tokens,
    /// The most markers in a request that say where a cached prefix ends; none where the provider
    /// decides by itself.
    pub max_breakpoints: usize,
    /// How such a marker is written, if at all.
    pub markers: Option<MarkerDialect>,
    /// The seconds for which a prefix can be read again, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life_seconds: Option<u32>,
}

/// How a request says where a cached prefix ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MarkerDialect {
    /// `cache_control` on a block.
    Anthropic,
    /// `prompt_cache_breakpoint` on a part.
    OpenAi,
}

impl Default for CacheProfile {
    fn default() -> Self {
        Self {
            write_permille: 1_250,
            read_permille: 100,
            min_tokens: Tokens(1_024),
            max_breakpoints: 4,
            markers: Some(MarkerDialect::Anthropic),
            life_seconds: None,
        }
    }
}
