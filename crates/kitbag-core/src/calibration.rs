//! Recalibration of token counts by what a provider billed, for one model.
//!
//! Counted and billed tokens are summed, and each answer takes a sixteenth off the sums before it, so
//! that about the latest sixteen answers count. The factor in use rises as soon as the measured one is
//! higher, and falls only when that one is clearly lower, so that the prompts of a conversation are mostly
//! counted alike.

use alloc::string::String;

use serde::{Deserialize, Serialize};

/// The shortest prompt that counts: in shorter ones the tokens that a provider adds outweigh its
/// vocabulary.
const LEAST_TOKENS: u64 = 256;

/// A ratio further off than this cannot come from a vocabulary: a usage of zero, or a proxy that reports half.
const MOST_OFF_PERMILLE: u64 = 400;

/// Each answer takes one part in this many off the sums.
const FORGETTING: u64 = 16;

/// The number of answers before anything is corrected.
const LEAST_ANSWERS: u32 = 3;

/// The factor in use stays while the measured one is at most this much lower. A higher one is taken at
/// once: a prompt is rather counted too long than too short.
const HOLD_PERMILLE: u64 = 20;

/// Factors are multiples of this, rounded up.
const STEP_PERMILLE: u64 = 10;

/// The smallest margin, since texts differ from each other.
const LEAST_ERROR_PERMILLE: u32 = 30;

/// The least lasting difference that is reported where counts are exact.
const REPORTED_PERMILLE: u32 = 50;

/// The tokens of one prompt, as they were counted and as they were billed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CountSample {
    /// The vocabulary that counted.
    pub tokenizer: String,
    /// The tokens by that vocabulary, before any factor.
    pub counted: u64,
    /// The tokens that were billed.
    pub billed: u64,
    /// The factor between them that is expected of the model, in thousandths.
    pub usual_permille: u32,
}

impl CountSample {
    /// Creates a sample; none if the prompt is too short, or if the bill cannot be its own.
    #[must_use]
    pub fn new(
        tokenizer: impl Into<String>,
        counted: u64,
        billed: u64,
        usual_permille: u32,
    ) -> Option<Self> {
        let usual = counted.saturating_mul(u64::from(usual_permille)) / 1_000;
        let off = billed.abs_diff(usual).saturating_mul(1_000);
        let is_plausible = off <= usual.saturating_mul(MOST_OFF_PERMILLE);
        (counted >= LEAST_TOKENS && is_plausible).then(|| Self {
            tokenizer: tokenizer.into(),
            counted,
            billed,
            usual_permille,
        })
    }
}

/// The bills of a model's latest answers against our counts.
///
/// ```
/// use kitbag_core::calibration::{Calibration, CountSample};
///
/// let sample = CountSample::new("o200k_base", 1_000, 1_204, 1_300).unwrap();
/// let mut calibration = Calibration::new(&sample);
/// (0..14).for_each(|_| calibration.add(&sample));
/// assert_eq!((calibration.factor_permille, calibration.answers), (1_210, 14));
/// assert_eq!(calibration.error_permille(150), 30);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Calibration {
    /// The vocabulary that counted.
    pub tokenizer: String,
    /// The number of answers so far.
    pub answers: u32,
    /// The tokens by that vocabulary, the latest prompts most.
    pub counted: u64,
    /// The tokens that were billed for the same prompts.
    pub billed: u64,
    /// The factor in use, in thousandths.
    pub factor_permille: u32,
}

impl Calibration {
    /// Starts with the usual factor, before any answer.
    #[must_use]
    pub fn new(sample: &CountSample) -> Self {
        Self {
            tokenizer: sample.tokenizer.clone(),
            answers: 0,
            counted: 0,
            billed: 0,
            factor_permille: sample.usual_permille,
        }
    }

    /// Adds a sample. One by another vocabulary starts from the beginning.
    pub fn add(&mut self, sample: &CountSample) {
        if self.tokenizer != sample.tokenizer {
            *self = Self::new(sample);
        }
        let added = |sum: u64, more: u64| (sum - sum / FORGETTING).saturating_add(more);
        self.counted = added(self.counted, sample.counted);
        self.billed = added(self.billed, sample.billed);
        self.answers = self.answers.saturating_add(1);
        let measured = u64::from(self.measured_permille());
        let factor = u64::from(self.factor_permille);
        // None if the measured factor is higher: then it is taken at once.
        let lower = factor.checked_sub(measured);
        let is_near = lower.is_some_and(|lower| lower * 1_000 <= factor * HOLD_PERMILLE);
        if self.answers >= LEAST_ANSWERS && !is_near {
            let rounded = measured.div_ceil(STEP_PERMILLE) * STEP_PERMILLE;
            self.factor_permille = u32::try_from(rounded).unwrap_or(u32::MAX);
        }
    }

    /// Tells whether there are enough answers to count with it.
    #[must_use]
    pub const fn is_usable(&self) -> bool {
        self.answers >= LEAST_ANSWERS && self.factor_permille > 0
    }

    /// Returns the margin of the factor in use, given that of the usual one: it shrinks with each
    /// answer.
    #[must_use]
    pub fn error_permille(&self, usual: u32) -> u32 {
        // The usual margin weighs as much as two answers.
        let shrunk = usual.saturating_mul(2) / self.answers.saturating_add(2);
        let least = LEAST_ERROR_PERMILLE.min(usual);
        shrunk.max(least)
    }

    /// Returns the tokens that are billed for a thousand exact ones, if the difference lasts.
    #[must_use]
    pub fn lasting_difference(&self) -> Option<u32> {
        let measured = self.measured_permille();
        // It is shown to people, so it takes twice the answers that a correction takes.
        let is_large = measured.abs_diff(1_000) > REPORTED_PERMILLE;
        (self.answers >= 2 * LEAST_ANSWERS && is_large).then_some(measured)
    }

    fn measured_permille(&self) -> u32 {
        if self.counted == 0 {
            return 0;
        }
        let billed = u128::from(self.billed) * 1_000;
        // Rounded up, so that no prompt is counted too short for this.
        let measured = billed.div_ceil(u128::from(self.counted));
        u32::try_from(measured).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(billed: u64) -> CountSample {
        CountSample::new("o200k_base", 1_000, billed, 1_300).unwrap()
    }

    fn after(answers: usize, billed: u64) -> Calibration {
        let mut calibration = Calibration::new(&sample(billed));
        (0..answers).for_each(|_| calibration.add(&sample(billed)));
        calibration
    }

    #[test]
    fn o07_a_bill_that_cannot_be_one_is_no_sample() {
        for nonsense in [0, 650, 1_900, u64::MAX] {
            assert_eq!(
                CountSample::new("o200k_base", 1_000, nonsense, 1_300),
                None,
                "{nonsense}"
            );
        }
        assert_eq!(CountSample::new("o200k_base", 100, 130, 1_300), None);
        assert!(CountSample::new("o200k_base", 1_000, 1_040, 1_300).is_some());
    }

    #[test]
    fn o07_two_answers_change_nothing_and_three_do() {
        assert_eq!(after(2, 1_204).factor_permille, 1_300);
        assert_eq!(after(3, 1_204).factor_permille, 1_210);
        assert!(!after(2, 1_204).is_usable());
    }

    #[test]
    fn o07_the_factor_stays_while_bills_are_a_little_lower_and_rises_at_once() {
        let mut calibration = after(20, 1_204);
        for billed in [1_190, 1_222, 1_200, 1_180] {
            calibration.add(&sample(billed));
            assert_eq!(calibration.factor_permille, 1_210);
        }
        (0..12).for_each(|_| calibration.add(&sample(1_222)));
        assert_eq!(calibration.factor_permille, 1_220, "{calibration:?}");
        (0..40).for_each(|_| calibration.add(&sample(1_400)));
        assert!(calibration.factor_permille >= 1_370, "{calibration:?}");
    }

    #[test]
    fn o07_the_margin_shrinks_to_its_floor() {
        let margins = [3, 5, 14, 400].map(|answers| after(answers, 1_204).error_permille(150));
        assert_eq!(margins, [60, 42, 30, 30]);
    }

    #[test]
    fn o07_a_lasting_difference_of_an_exact_count_is_told() {
        let exact = |billed| {
            let sample = CountSample::new("o200k_base", 1_000, billed, 1_000).unwrap();
            let mut calibration = Calibration::new(&sample);
            (0..6).for_each(|_| calibration.add(&sample));
            calibration.lasting_difference()
        };
        assert_eq!(exact(1_040), None);
        assert_eq!(exact(1_080), Some(1_080));
    }

    proptest! {
        #[test]
        fn o07_the_factor_stays_within_what_was_billed(
            bills in prop::collection::vec((256..100_000_u64, 780..1_820_u64), 1..60)
        ) {
            let samples = bills.iter().filter_map(|&(counted, permille)| {
                CountSample::new("o200k_base", counted, counted * permille / 1_000, 1_300)
            });
            let mut calibration: Option<Calibration> = None;
            for sample in samples {
                let calibration = calibration.get_or_insert_with(|| Calibration::new(&sample));
                calibration.add(&sample);
                let is_enough = calibration.factor_permille >= calibration.measured_permille();
                prop_assert!(is_enough || !calibration.is_usable(), "{:?}", calibration);
            }
            if let Some(calibration) = calibration {
                prop_assert!((770..=1_830).contains(&calibration.factor_permille));
            }
        }
    }
}
