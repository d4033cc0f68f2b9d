//! The worth of a token: an exact ratio, compared without rounding.

use core::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::tokens::Tokens;

/// Worth per token, as an exact ratio.
///
/// Zero (`worth` is 0) when everything that could ever fit did fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Price {
    /// The worth of that many tokens.
    pub worth: u64,
    /// The tokens that are worth that much; never zero.
    pub tokens: Tokens,
}

impl Price {
    pub(super) const ZERO: Self = Self {
        worth: 0,
        tokens: Tokens(1),
    };

    /// Returns the number of tokens that `worth` buys at this price, rounded down; 0 when the price
    /// is zero.
    #[must_use]
    pub fn tokens_for(&self, worth: u64) -> Tokens {
        let tokens = u128::from(worth) * u128::from(self.tokens.0);
        let bought = tokens.checked_div(u128::from(self.worth)).unwrap_or(0);
        Tokens(u32::try_from(bought).unwrap_or(u32::MAX))
    }

    /// Returns the worth of `tokens` at this price, rounded up.
    #[must_use]
    pub fn worth_for(&self, tokens: Tokens) -> u64 {
        let scaled = u128::from(tokens.0) * u128::from(self.worth);
        u64::try_from(scaled.div_ceil(u128::from(self.tokens.0.max(1)))).unwrap_or(u64::MAX)
    }

    /// Compares the ratios.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        // Multiplied crosswise in 128 bits: rounded quotients would make ties that are none.
        let this = u128::from(self.worth) * u128::from(other.tokens.0);
        this.cmp(&(u128::from(other.worth) * u128::from(self.tokens.0)))
    }

    /// Returns the worth of `tokens` (which may be owed: negative) at this price, rounded down.
    pub(super) fn worth_of(&self, tokens: i64) -> i128 {
        let scaled = i128::from(tokens) * i128::from(self.worth);
        scaled.div_euclid(i128::from(self.tokens.0))
    }

    /// Tells whether `tokens` at this price are worth `worth` or more; either may be negative.
    pub(super) fn buys(&self, worth: i64, tokens: i64) -> bool {
        let scaled = i128::from(tokens) * i128::from(self.worth);
        scaled >= i128::from(worth) * i128::from(self.tokens.0)
    }
}
