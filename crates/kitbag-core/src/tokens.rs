//! Token counts, and the trait through which every count is made.
//!
//! No vocabulary lives here: the implementations are in the `kitbag` crate, or the caller's own.

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::fmt;
use core::iter::Sum;

use serde::{Deserialize, Serialize};

/// Counts the tokens of a text for one tokenizer.
///
/// Counts must add up over the joins that Kitbag makes: for `a` that ends in a newline and `b`
/// that begins with neither white space nor a slash, `count(a + b) <= count(a) + count(b)`.
/// Vocabularies satisfy it with equality; a scaled estimate that rounds up satisfies it too.
pub trait TokenCounter: Send + Sync {
    /// The tokenizer's name, such as `o200k_base`; counts with different names never mix.
    fn name(&self) -> &str;

    /// The number of tokens in `text`, which is taken as ordinary text: no special tokens.
    fn count(&self, text: &str) -> Tokens;

    /// The numbers of tokens of many texts, each equal to [`count`](Self::count).
    ///
    /// Neighbours may have lines in common, as the levels of a file do, and a counter may count such
    /// lines once, or texts side by side.
    fn count_all(&self, texts: &[&str]) -> Vec<Tokens> {
        texts.iter().map(|text| self.count(text)).collect()
    }

    /// Tells exact counts of the model from estimates.
    fn exactness(&self) -> Exactness {
        Exactness::Exact
    }
}

/// A number of tokens.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Tokens(pub u32);

impl Tokens {
    /// No tokens.
    pub const ZERO: Self = Self(0);

    /// Adds, and stops at the largest number.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Subtracts, and stops at zero.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        // A sum that is too large must not become small: it is compared with budgets.
        counts.fold(Self::ZERO, Self::saturating_add)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// The relation of a count to the model's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Exactness {
    /// The model's own vocabulary was used.
    Exact,
    /// The model has no public vocabulary: the count of `base` was scaled.
    Estimated {
        /// The tokenizer that counted.
        base: Cow<'static, str>,
        /// The factor on its count, in thousandths.
        factor_permille: u32,
        /// The expected error of the estimate, in thousandths.
        error_permille: u32,
        /// The number of billed answers that the factor comes from; 0 for a general factor.
        #[serde(default)]
        answers: u32,
    },
}

/// Counts characters, where a limit is one of characters and not of tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Characters;

impl TokenCounter for Characters {
    fn name(&self) -> &str {
        "characters"
    }

    fn count(&self, text: &str) -> Tokens {
        // Saturates: no limit is as large as that.
        Tokens(u32::try_from(text.chars().count()).unwrap_or(u32::MAX))
    }
}

/// Four bytes a token, rounded up: a counter for tests that a reader can follow.
#[cfg(test)]
pub(crate) struct Quarters;

#[cfg(test)]
impl TokenCounter for Quarters {
    fn name(&self) -> &str {
        "quarters"
    }

    fn count(&self, text: &str) -> Tokens {
        Tokens(u32::try_from(text.len().div_ceil(4)).unwrap())
    }
}
