//! The model catalogue, with the facts of each model as data in `data/models.json`.
//!
//! A family is what all models share whose names begin alike: how tokens are counted, and how their
//! provider caches prompts. A model adds its window, its prices and what it does differently. Every entry
//! names its source. Where sources disagree on a cache's minimum, the newest figure is in the data and a
//! note tells the others.

mod catalogue;
mod limits;
mod name;
mod price;

pub use price::{Price, PriceStep, dollars};

use std::borrow::Cow;

use kitbag_core::assembly::{CacheProfile, ModelTraits};
use serde::{Deserialize, Serialize};

use catalogue::CATALOGUE;

/// The facts of a model, or of a family of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ModelProfile {
    /// The name of the model, or the beginnings of the names of a family.
    #[serde(rename = "names")]
    pub prefixes: Vec<String>,
    /// The name of the provider that serves it to everybody, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The most tokens that a request and its answer may have together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// The most tokens that an answer may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    /// The price of its tokens. A model that merely resembles a known one has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// The provider's cache of prompts, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheProfile>,
    /// Set when no source gives the least length of a cached prompt: the cache's minimum is a guess then.
    pub is_cache_min_assumed: bool,
    /// Set when a system message may stand between other messages.
    pub mid_conversation_system: bool,
    /// The name of the vocabulary to count with.
    pub tokenizer: String,
    /// The scale of that count, if the vocabulary is not the model's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// The sources of these figures, in words: those of the model first, then those of its family.
    pub sources: Vec<String>,
    /// A remark about the figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl ModelProfile {
    /// The profile of a model, by a name such as `gpt-4o-mini` or `anthropic/claude-opus-4-8`: that of
    /// the model itself or of the one that it is a dated version of, else that of its family.
    ///
    /// ```
    /// use kitbag::tokens::ModelProfile;
    ///
    /// let mini = ModelProfile::find("gpt-4o-mini-2024-07-18")?;
    /// assert_eq!(mini.window, Some(128_000));
    /// assert_eq!(mini.price.as_ref().unwrap().input, 150_000);
    /// assert_eq!(ModelProfile::find("gpt-4o-maxi")?.price, None);
    /// # Ok::<(), kitbag::tokens::UnknownModel>(())
    /// ```
    ///
    /// # Errors
    /// When the catalogue has neither.
    pub fn find(model: &str) -> Result<&'static Self, UnknownModel> {
        CATALOGUE.find(model).ok_or_else(|| UnknownModel {
            model: model.to_owned(),
            similar: name::nearest(model, CATALOGUE.names()),
        })
    }

    /// Returns false for models that are known never to reason: OpenAI's API refuses a request that asks one of
    /// these for its reasoning.
    #[must_use]
    pub fn may_reason(model: &str) -> bool {
        CATALOGUE.may_reason(model)
    }

    /// Every model of the catalogue, by name.
    #[must_use]
    pub fn models() -> &'static [Self] {
        &CATALOGUE.models
    }

    /// Every family of the catalogue.
    #[must_use]
    pub fn families() -> &'static [Self] {
        &CATALOGUE.families
    }

    /// The model to ask a provider for where a request names none.
    #[must_use]
    pub fn default_of(provider: &str) -> Option<&'static str> {
        CATALOGUE.default_models.get(provider).map(String::as_str)
    }

    /// The name of the model, or the first of its family's.
    #[must_use]
    pub fn name(&self) -> Cow<'_, str> {
        self.prefixes.first().map(Cow::from).unwrap_or_default()
    }
}

impl From<&ModelProfile> for ModelTraits {
    fn from(profile: &ModelProfile) -> Self {
        let mut traits = Self::default();
        traits.mid_conversation_system = profile.mid_conversation_system;
        traits.cache = profile.cache.clone().unwrap_or_else(|| {
            // Without a cache nothing is gained by keeping a prompt as it was, and the assembly must not
            // give up anything for that.
            let mut none = CacheProfile::default();
            none.write_permille = 1_000;
            none.read_permille = 1_000;
            none.max_breakpoints = 0;
            none.markers = None;
            none
        });
        traits
    }
}

/// The estimate of a model's count from that of another vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Estimate {
    /// The factor of the count, in thousandths.
    pub factor_permille: u32,
    /// The expected error of the estimate, in thousandths.
    pub error_permille: u32,
    /// The source of the factor.
    pub source: String,
}

impl Estimate {
    /// The estimated count, rounded up.
    pub(super) fn scale(&self, count: u64) -> u64 {
        count
            .saturating_mul(u64::from(self.factor_permille))
            .div_ceil(1000)
    }
}

/// The catalogue does not know a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown model `{model}`")]
#[non_exhaustive]
pub struct UnknownModel {
    /// The name that was asked for.
    pub model: String,
    /// Names in the catalogue that look like it, nearest first.
    pub similar: Vec<&'static str>,
}

impl UnknownModel {
    /// Advice for the user.
    #[must_use]
    pub fn hint(&self) -> String {
        let tokenizer =
            "name a tokenizer instead, such as o200k_base; `kitbag models` lists models";
        match self.similar.as_slice() {
            [] => tokenizer.to_owned(),
            similar => format!("did you mean {}? or {tokenizer}", similar.join(", ")),
        }
    }
}
