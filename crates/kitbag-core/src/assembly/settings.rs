//! The settings of an assembly: the form, the budget, the strategy, and the costs of caching.

use serde::{Deserialize, Serialize};

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
    /// The tokens to choose chunks for, when that is less than the rest of the prompt leaves. A
    /// target: chunks appended during an epoch may exceed it by a third.
    pub chunk_limit: Option<Tokens>,
    /// The strategy of the choice.
    pub strategy: FitStrategy,
    /// Chunks that are less likely needed than this stay out, even when there is room.
    pub floor: Relevance,
    /// The regret to bear before the selection is renewed, in thousandths of the cost of renewing.
    /// 0 renews whenever something better is possible.
    pub patience_permille: u32,
    /// The abilities of the model's provider.
    pub traits: ModelTraits,
}

impl AssemblySettings {
    /// Creates settings with the usual floor, patience and prices.
    #[must_use]
    pub fn new(form: OutputForm, budget: Tokens) -> Self {
        Self {
            form,
            budget,
            chunk_limit: None,
            strategy: FitStrategy::default(),
            floor: Relevance::from_ppm(10_000),
            // Measured over a conversation of 60 drifting turns: 91 % of each request was reused,
            // at 99 % of the worth of a fresh selection of as many tokens (`cargo bench -p
            // kitbag-core --bench drift`).
            patience_permille: 300,
            traits: ModelTraits::default(),
        }
    }

    /// Returns the tokens that may be appended to chunks of `standing` tokens, if there is a limit.
    pub(super) fn appended_limit(&self, standing: Tokens) -> Option<Tokens> {
        let limit = self.chunk_limit?;
        // A third more than a fresh selection has, for all that comes later in the epoch.
        let stretched = limit.saturating_add(Tokens(limit.0 / 3));
        Some(stretched.saturating_sub(standing))
    }

    /// Sets the strategy.
    #[must_use]
    pub fn with_strategy(mut self, strategy: FitStrategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// Sets the floor.
    #[must_use]
    pub fn with_floor(mut self, floor: Relevance) -> Self {
        self.floor = floor;
        self
    }

    /// Sets the abilities of the model's provider.
    #[must_use]
    pub fn with_traits(mut self, traits: ModelTraits) -> Self {
        self.traits = traits;
        self
    }
}

/// The strategies of choosing chunks.
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

/// The abilities of a model's provider. The values come from a catalogue, never from code.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelTraits {
    /// Support for a system message at the end of the conversation.
    pub mid_conversation_system: bool,
    /// Its prompt cache.
    pub cache: CacheProfile,
}

/// The prices and limits of a provider's prompt cache.
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
    /// The most markers in a request that end a cached prefix; 0 if the provider decides by itself.
    pub max_breakpoints: usize,
    /// The way such a marker is written, if there are markers.
    pub markers: Option<MarkerDialect>,
    /// The seconds for which a prefix can be read again, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub life_seconds: Option<u32>,
}

/// The way a request marks the end of a cached prefix.
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
            // Anthropic's prices and limits: a write costs 1.25 input tokens, a read a tenth of
            // one.
            write_permille: 1_250,
            read_permille: 100,
            min_tokens: Tokens(1_024),
            max_breakpoints: 4,
            markers: Some(MarkerDialect::Anthropic),
            life_seconds: None,
        }
    }
}
