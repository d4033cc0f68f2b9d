//! The options for the counter of tokens.

use std::collections::BTreeSet;

use kitbag::core::assembly::ModelTraits;
use kitbag::core::tokens::{Exactness, TokenCounter};
use kitbag::tokens::{Counter, ModelProfile, Vocabulary};

use crate::failure::Failure;
use crate::output::{self, counted};

/// The model or the tokenizer that counts.
#[derive(clap::Args)]
pub(crate) struct CounterArgs {
    /// Count tokens for this model, such as gpt-4o or claude-sonnet-4-5
    #[arg(short, long, value_name = "NAME", conflicts_with = "tokenizer", help_heading = TOKENS)]
    model: Option<String>,
    /// Count with this tokenizer: o200k_base (the default), cl100k_base, llama3, qwen2, deepseek_v3,
    /// mistral_v3, kimi_k2, glm4, glm5 or minimax_m2
    #[arg(long, value_name = "NAME", help_heading = TOKENS)]
    tokenizer: Option<String>,
}

const TOKENS: &str = "Counting tokens";

impl CounterArgs {
    /// The counter, with the traits of the model if one is named.
    pub(crate) fn counter(&self) -> Result<(Counter, Option<ModelTraits>), Failure> {
        if let Some(model) = &self.model {
            let profile = ModelProfile::find(model).map_err(|mut error| {
                // The library ranks by spelling alone; a person who types a new model wants its family.
                error.similar = alternatives(model, &error.similar);
                Failure::usage(&error).hint(error.hint())
            })?;
            let counter = Counter::for_profile(profile)
                .map_err(|error| Failure::usage(&error).hint(error.hint()))?;
            return Ok((counter, Some(profile.into())));
        }
        let vocabulary = match &self.tokenizer {
            Some(name) => name.parse(),
            None => Ok(Vocabulary::O200kBase),
        };
        let counter = vocabulary.and_then(Counter::for_vocabulary);
        let counter = counter.map_err(|error| Failure::usage(&error).hint(error.hint()))?;
        Ok((counter, None))
    }

    /// The same for a model that a file names, unless an option names one. The default tokenizer counts for
    /// an unknown model.
    pub(crate) fn counter_for(
        &self,
        model: Option<&str>,
    ) -> Result<(Counter, Option<ModelTraits>), Failure> {
        // An option wins over the model that a file names.
        let is_said = self.model.is_some() || self.tokenizer.is_some();
        let profile = model
            .filter(|_| !is_said)
            .and_then(|model| ModelProfile::find(model).ok());
        let counter = profile.and_then(|profile| Counter::for_profile(profile).ok());
        match (counter, profile) {
            (Some(counter), Some(profile)) => Ok((counter, Some(profile.into()))),
            _ => self.counter(),
        }
    }

    /// The named model.
    pub(crate) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }
}

/// Names to suggest for an unknown one: those of the same family, then those that look alike.
fn alternatives(model: &str, similar: &[&'static str]) -> Vec<&'static str> {
    let family = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or_default();
        let end = name.find(|c: char| !c.is_ascii_alphabetic());
        let (family, _) = name.split_at_checked(end.unwrap_or(name.len()))?;
        (!family.is_empty()).then(|| family.to_ascii_lowercase())
    };
    let asked = family(model);
    let profiles = ModelProfile::families().iter();
    let mut names: Vec<&str> = profiles
        .chain(ModelProfile::models())
        .flat_map(|profile| profile.prefixes.iter().map(String::as_str))
        .filter(|prefix| asked.is_some() && family(prefix) == asked)
        .collect();
    // A family may be named as one of its models.
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    // The nearest come first within the family, too.
    let place = |name: &&str| similar.iter().position(|similar| similar == name);
    names.sort_by_key(|name| place(name).unwrap_or(similar.len()));
    let others: Vec<&str> = similar
        .iter()
        .copied()
        .filter(|name| !names.contains(name))
        .collect();
    names.extend(others);
    names.truncate(MOST_ALTERNATIVES);
    names
}

const MOST_ALTERNATIVES: usize = 4;

/// Says on stderr when counts are estimates.
pub(crate) fn say_exactness(counter: &dyn TokenCounter) {
    if let Exactness::Estimated {
        base,
        factor_permille,
        error_permille,
        answers,
        ..
    } = counter.exactness()
    {
        let why = match answers {
            0 => ": the model's vocabulary is not public".to_owned(),
            _ => format!(", from {}", counted(answers.into(), "answer", "answers")),
        };
        output::say(format_args!(
            "note: counts are estimates, {base} × {}.{:03} ± {} %{why}",
            factor_permille / 1_000,
            factor_permille % 1_000,
            error_permille / 10,
        ));
    }
}
