//! What input tokens cost, as data in `data/prices.json`.
//!
//! Standard list prices in exact integers, with the date they are of. Prices of output, of batches, of
//! long prompts and of resellers are not here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use super::{name, parsed};

/// What the input tokens of a model cost at list price, before any cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputPrice {
    /// The price of a million tokens in millionths of a US dollar.
    pub micro_usd_per_million: u64,
    /// The month that the price is of, as `2026-10`.
    pub as_of: &'static str,
}

impl InputPrice {
    /// What so many tokens cost in millionths of a US dollar, rounded up.
    #[must_use]
    pub fn cost(&self, tokens: u64) -> u64 {
        let cost = u128::from(self.micro_usd_per_million) * u128::from(tokens);
        u64::try_from(cost.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }
}

/// The price of a model, or of the model that it is a dated version of.
pub(super) fn find(model: &str) -> Option<InputPrice> {
    // What is trained on top costs more than what it is trained on.
    if model.trim().to_lowercase().starts_with("ft:") {
        return None;
    }
    let priced = name::spellings(model).find_map(|spelling| {
        let spelling = canonical(spelling);
        let prices = PRICES.input_micro_usd_per_million.iter();
        prices
            .filter(|(known, _)| is_version(&spelling, known))
            .max_by_key(|(known, _)| known.len())
            .map(|(_, price)| *price)
    });
    Some(InputPrice {
        micro_usd_per_million: priced?,
        as_of: &PRICES.as_of,
    })
}

/// Some write the versions of Claude with a dot.
fn canonical(spelling: String) -> String {
    if spelling.starts_with("claude") {
        spelling.replace('.', "-")
    } else {
        spelling
    }
}

/// Whether a name is that of the model itself, with nothing but a date or a stage after it. One digit
/// is no date but another version.
fn is_version(name: &str, known: &str) -> bool {
    let Some(rest) = name.strip_prefix(known) else {
        return false;
    };
    let stage = rest.trim_start_matches(['-', '@', ':']);
    let is_date = stage.chars().take_while(char::is_ascii_digit).count() >= 4;
    let is_stage = matches!(stage, "latest" | "preview" | "exp");
    rest.is_empty() || (stage.len() < rest.len() && (is_date || is_stage))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Prices {
    as_of: String,
    #[expect(dead_code, reason = "for those who read the data")]
    source: String,
    input_micro_usd_per_million: BTreeMap<String, u64>,
}

static PRICES: LazyLock<Prices> =
    LazyLock::new(|| parsed(include_str!("../../../data/prices.json")));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::ModelProfile;

    fn dollars_per_hundred_million(model: &str) -> Option<u64> {
        find(model).map(|price| price.cost(100_000_000) / 1_000_000)
    }

    #[test]
    fn prices_are_found_under_the_names_that_people_write() {
        for (model, price) in [
            ("claude-opus-4-8", 500),
            ("anthropic/claude-opus-4.5", 500),
            ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", 300),
            ("claude-opus-4-1@20250805", 1_500),
            ("claude-opus-5-5", 400),
            ("claude-3.5-haiku-latest", 80),
            ("gpt-4-0613", 3_000),
            ("gpt-4o-2024-05-13", 500),
            ("openai/gpt-5.6-luna", 20),
            ("gemini-3-pro-preview", 200),
            ("GPT-5-Mini", 25),
        ] {
            assert_eq!(dollars_per_hundred_million(model), Some(price), "{model}");
        }
    }

    #[test]
    fn what_is_not_known_has_no_price() {
        for model in [
            "claude",
            "claude-opus-4-9",
            "gpt-5.9",
            "gpt-5-maxi",
            "ft:gpt-4o-mini-2024-07-18:org::id",
            "llama-3.3-70b",
            "",
        ] {
            assert_eq!(find(model), None, "{model}");
        }
    }

    #[test]
    fn every_price_is_of_a_model_in_the_catalogue() {
        for (model, price) in &PRICES.input_micro_usd_per_million {
            assert!(ModelProfile::find(model).is_ok(), "{model}");
            assert!((10_000..=150_000_000).contains(price), "{model}: {price}");
            assert_eq!(
                find(model).unwrap().micro_usd_per_million,
                *price,
                "{model}"
            );
        }
    }

    #[test]
    fn cost_is_exact_and_rounds_up() {
        let price = find("gpt-5-nano").unwrap();
        assert_eq!(price.cost(0), 0);
        assert_eq!(price.cost(1), 1);
        assert_eq!(price.cost(20), 1);
        assert_eq!(price.cost(21), 2);
        assert_eq!(price.cost(u64::MAX), u64::MAX / 20 + 1);
    }
}
