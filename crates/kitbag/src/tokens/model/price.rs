//! The price of tokens: list prices in exact integers.
//!
//! Prices of batches, of faster or later answers and of resellers are not here, nor are caches that live
//! for an hour.

use kitbag_core::record::Usage;
use serde::{Deserialize, Serialize};

/// The list price of a model's tokens, in millionths of a US dollar for a million of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Price {
    /// Tokens of the request.
    pub input: u64,
    /// Tokens of the answer; a model that answers in no tokens, or whose price is not known, has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Tokens of the request that are read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Tokens of the request that are written to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    /// The lengths of a request beyond which all of its tokens cost more, the shortest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<PriceStep>,
}

/// A length beyond which a request costs more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceStep {
    /// Requests with more tokens than this pay it.
    pub above: u32,
    /// The factor for prices of the request, in thousandths.
    pub input_permille: u32,
    /// The factor for the price of the answer, in thousandths.
    pub output_permille: u32,
}

impl Price {
    /// The cost of a request and its answer in millionths of a US dollar, rounded up; `None` if a price
    /// for it is missing.
    ///
    /// ```
    /// use kitbag::core::record::Usage;
    /// use kitbag::tokens::ModelProfile;
    ///
    /// let haiku = ModelProfile::find("claude-haiku-5-5")?;
    /// let price = haiku.price.as_ref().unwrap();
    /// let usage = Usage { input: 10_000, cache_read: 8_000, output: 100, ..Usage::default() };
    /// assert_eq!(price.cost(&usage), Some(330));
    /// # Ok::<(), kitbag::tokens::UnknownModel>(())
    /// ```
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<u64> {
        let step = self.step(usage.input);
        let (input_factor, output_factor) = step.map_or((1_000, 1_000), |step| {
            (step.input_permille, step.output_permille)
        });
        let cached = usage.cache_read.saturating_add(usage.cache_write);
        // Without a price for cached tokens they cost as much as others.
        let input = [
            (usage.input.saturating_sub(cached), self.input),
            (usage.cache_read, self.cache_read.unwrap_or(self.input)),
            (usage.cache_write, self.cache_write.unwrap_or(self.input)),
        ];
        // In 128 bits, so that no usage that a provider reports can overflow.
        let product = |(tokens, price): (u64, u64)| u128::from(tokens) * u128::from(price);
        let input: u128 = input.into_iter().map(product).sum();
        let output = match usage.output {
            0 => 0,
            tokens => product((tokens, self.output?)),
        };
        let sum = input * u128::from(input_factor) + output * u128::from(output_factor);
        // A price is for a million tokens, and a factor in thousandths.
        Some(u64::try_from(sum.div_ceil(1_000_000_000)).unwrap_or(u64::MAX))
    }

    /// The step that a request of this length has passed.
    #[must_use]
    pub fn step(&self, input: u64) -> Option<PriceStep> {
        // Cached tokens count towards the step: providers go by the length of the whole request.
        let passed = |step: &&PriceStep| input > u64::from(step.above);
        self.steps.iter().rfind(passed).copied()
    }

    /// A price in thousandths of that of the request, to the nearest.
    pub(super) fn permille(&self, price: u64) -> Option<u32> {
        let thousandths = price.saturating_mul(2_000).saturating_add(self.input);
        let permille = thousandths.checked_div(self.input.saturating_mul(2))?;
        u32::try_from(permille).ok()
    }
}

/// An amount in millionths of a US dollar as people read it: `$0.0012`.
///
/// ```
/// use kitbag::tokens::dollars;
///
/// assert_eq!(dollars(1_234_567), "$1.2345");
/// assert_eq!(dollars(12), "<$0.0001");
/// assert_eq!(dollars(0), "$0.0000");
/// ```
#[must_use]
pub fn dollars(micros: u64) -> String {
    match micros {
        1..100 => "<$0.0001".to_owned(),
        _ => format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100),
    }
}

#[cfg(test)]
mod tests;
