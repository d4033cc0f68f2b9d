//! The model catalogue: what is known of each family of models, as data in `data/models.json`.
//!
//! It holds what counting and caching need, and what input costs where that is known, as data in
//! `data/prices.json`. Windows and endpoints are not here. Where sources disagree on a cache's minimum,
//! the larger value is in the data: a breakpoint below the true minimum is wasted without an error.

mod name;
mod price;

pub use price::InputPrice;

use std::sync::LazyLock;

use kitbag_core::assembly::{CacheProfile, ModelTraits};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What is known of a family of models.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelProfile {
    /// What the family's names begin with; the longest match in the catalogue wins.
    #[serde(rename = "match")]
    pub prefixes: Vec<String>,
    /// The name of the vocabulary to count with.
    pub tokenizer: String,
    /// How to scale that count where the vocabulary is not the model's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<Estimate>,
    /// How the provider caches prompts, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheProfile>,
    /// The name of the provider that serves it to everybody, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Whether a system message may stand between other messages.
    #[serde(default)]
    pub mid_conversation_system: bool,
}

impl ModelProfile {
    /// The profile of a model, by a name such as `gpt-4o-mini` or `anthropic/claude-opus-4-8`.
    pub fn find(model: &str) -> Result<&'static Self, UnknownModel> {
        name::spellings(model)
            .find_map(|spelling| Self::longest_match(&spelling))
            .ok_or_else(|| UnknownModel {
                model: model.to_owned(),
                similar: similar_to(model),
            })
    }

    /// What the input tokens of a model cost, where it is known.
    ///
    /// Members of one family cost what they like, so that this asks for the model and not for a
    /// profile; a model that merely resembles a known one has no price.
    ///
    /// ```
    /// use kitbag::tokens::ModelProfile;
    ///
    /// let price = ModelProfile::input_price("gpt-4o-mini-2024-07-18").unwrap();
    /// assert_eq!(price.micro_usd_per_million, 150_000);
    /// assert_eq!(price.cost(32_000), 4_800);
    /// assert_eq!(ModelProfile::input_price("gpt-4o-maxi"), None);
    /// ```
    #[must_use]
    pub fn input_price(model: &str) -> Option<InputPrice> {
        price::find(model)
    }

    /// Every profile of the catalogue.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &CATALOGUE
    }

    fn longest_match(spelling: &str) -> Option<&'static Self> {
        let matches = |prefix: &&String| name::begins_with(spelling, prefix);
        let length = |profile: &Self| {
            let lengths = profile.prefixes.iter().filter(matches).map(String::len);
            lengths.max()
        };
        CATALOGUE
            .iter()
            .filter(|profile| length(profile).is_some())
            .max_by_key(|profile| length(profile))
    }
}

impl From<&ModelProfile> for ModelTraits {
    fn from(profile: &ModelProfile) -> Self {
        let mut traits = Self::default();
        traits.mid_conversation_system = profile.mid_conversation_system;
        traits.cache = profile.cache.clone().unwrap_or_else(|| {
            // Nothing is cached, so that nothing is gained by keeping a prompt as it was.
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

/// How to estimate a model's count from that of another vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Estimate {
    /// What the count is multiplied by, in thousandths.
    pub factor_permille: u32,
    /// How far the estimate is expected to be off, in thousandths.
    pub error_permille: u32,
    /// Where the factor comes from.
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
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        let tokenizer = "name a tokenizer instead, such as o200k_base";
        match self.similar.as_slice() {
            [] => tokenizer.to_owned(),
            similar => format!("did you mean {}? or {tokenizer}", similar.join(", ")),
        }
    }
}

fn similar_to(model: &str) -> Vec<&'static str> {
    let prefixes = CATALOGUE.iter().flat_map(|profile| &profile.prefixes);
    name::nearest(model, prefixes.map(String::as_str))
}

static CATALOGUE: LazyLock<Vec<ModelProfile>> =
    LazyLock::new(|| parsed(include_str!("../../data/models.json")));

#[expect(
    clippy::expect_used,
    reason = "the data are part of the program, and the tests read them"
)]
fn parsed<T: DeserializeOwned>(data: &str) -> T {
    serde_json::from_str(data).expect("the data are valid")
}
