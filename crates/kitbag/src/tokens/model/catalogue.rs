//! Reads the catalogue and joins each model with its family.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use kitbag_core::assembly::CacheProfile;
use kitbag_core::tokens::Tokens;
use serde::Deserialize;

use super::{Estimate, ModelProfile, Price, name};

pub(super) struct Catalogue {
    pub(super) models: Vec<ModelProfile>,
    pub(super) families: Vec<ModelProfile>,
    pub(super) default_models: BTreeMap<String, String>,
    without_reasoning: Vec<String>,
}

pub(super) static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    #[expect(
        clippy::expect_used,
        reason = "the data are part of the program, and the tests read them"
    )]
    let data: CatalogueFile = serde_json::from_str(include_str!("../../../data/models.json"))
        .expect("the data are valid");
    data.into()
});

impl Catalogue {
    pub(super) fn find(&self, model: &str) -> Option<&ModelProfile> {
        // A fine-tuned model has prices and limits of its own, and shares only the vocabulary of its family.
        let is_tuned = model.trim().to_lowercase().starts_with("ft:");
        name::spellings(model).find_map(|spelling| {
            let exact = || self.version_of(&name::canonical(&spelling));
            let exact = (!is_tuned).then(exact).flatten();
            exact.or_else(|| longest_match(&self.families, &spelling))
        })
    }

    pub(super) fn may_reason(&self, model: &str) -> bool {
        let mut spellings = name::spellings(model);
        let without = |spelling: &String| {
            let mut names = self.without_reasoning.iter();
            names.any(|prefix| name::begins_with(spelling, prefix))
        };
        !spellings.any(|spelling| without(&spelling))
    }

    /// Every name and every beginning of names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let profiles = self.families.iter().chain(&self.models);
        profiles.flat_map(|profile| profile.prefixes.iter().map(String::as_str))
    }

    fn version_of(&self, spelling: &str) -> Option<&ModelProfile> {
        let is_version = |profile: &&ModelProfile| {
            let mut names = profile.prefixes.iter();
            names.any(|known| name::is_version(spelling, known))
        };
        let versions = self.models.iter().filter(is_version);
        // `gpt-4-1106-preview` is listed by itself and also reads as a dated `gpt-4`: the longer name wins.
        versions.max_by_key(|profile| profile.name().len())
    }
}

fn longest_match<'a>(families: &'a [ModelProfile], spelling: &str) -> Option<&'a ModelProfile> {
    let matches = |prefix: &&String| name::begins_with(spelling, prefix);
    let length = |profile: &ModelProfile| {
        let lengths = profile.prefixes.iter().filter(matches).map(String::len);
        lengths.max()
    };
    families
        .iter()
        .filter(|profile| length(profile).is_some())
        // `gpt-4o` before `gpt-4`, which has another vocabulary.
        .max_by_key(|profile| length(profile))
}

/// The data as they are written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CatalogueFile {
    sources: BTreeMap<String, String>,
    default_models: BTreeMap<String, String>,
    /// The beginnings of the names of models that do not reason.
    without_reasoning: Vec<String>,
    families: Vec<Family>,
    models: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    #[serde(rename = "match")]
    prefixes: Vec<String>,
    tokenizer: String,
    estimate: Option<Estimate>,
    cache: Option<CacheProfile>,
    provider: Option<String>,
    /// The most tokens of an answer by a model that is not listed.
    max_output: Option<u32>,
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    name: String,
    window: Option<u32>,
    max_output: Option<u32>,
    price: Option<Price>,
    cache_min: Option<u32>,
    #[serde(default)]
    mid_conversation_system: bool,
    source: String,
    note: Option<String>,
}

impl From<CatalogueFile> for Catalogue {
    fn from(data: CatalogueFile) -> Self {
        // Long sources are written once, under a short key.
        let told = |source: &String| data.sources.get(source).unwrap_or(source).clone();
        let family = |family: Family| ModelProfile {
            sources: vec![told(&family.source)],
            prefixes: family.prefixes,
            provider: family.provider,
            window: None,
            max_output: family.max_output,
            price: None,
            cache: family.cache,
            is_cache_min_assumed: false,
            mid_conversation_system: false,
            tokenizer: family.tokenizer,
            estimate: family.estimate,
            note: None,
        };
        let families: Vec<ModelProfile> = data.families.into_iter().map(family).collect();
        let model = |model: Model| {
            // Without a family nobody knows how to count, so the model would not be of use.
            let family = longest_match(&families, &model.name)?.clone();
            Some(ModelProfile {
                is_cache_min_assumed: family.cache.is_none() && model.cache_min.is_none(),
                cache: cache(&model, family.cache),
                sources: [vec![told(&model.source)], family.sources].concat(),
                prefixes: vec![model.name],
                window: model.window,
                max_output: model.max_output.or(family.max_output),
                price: model.price,
                mid_conversation_system: model.mid_conversation_system,
                note: model.note,
                ..family
            })
        };
        Self {
            models: data.models.into_iter().filter_map(model).collect(),
            families,
            default_models: data.default_models,
            without_reasoning: data.without_reasoning,
        }
    }
}

/// The cache of a family, at the prices of a model. A price for cached tokens in a family without a
/// cache means that the provider caches by itself.
fn cache(model: &Model, of_family: Option<CacheProfile>) -> Option<CacheProfile> {
    let price = model.price.as_ref();
    let read = price.and_then(|price| price.permille(price.cache_read?));
    let write = price.and_then(|price| price.permille(price.cache_write?));
    let mut cache = match (of_family, read) {
        (Some(cache), _) => cache,
        (None, Some(_)) => {
            let mut automatic = CacheProfile::default();
            // Writing costs nothing extra, and the provider finds the prefixes itself, so no markers are sent.
            automatic.write_permille = 1_000;
            automatic.max_breakpoints = 0;
            automatic.markers = None;
            automatic
        }
        (None, None) => return None,
    };
    cache.read_permille = read.unwrap_or(cache.read_permille);
    cache.write_permille = write.unwrap_or(cache.write_permille);
    cache.min_tokens = model.cache_min.map_or(cache.min_tokens, Tokens);
    Some(cache)
}
