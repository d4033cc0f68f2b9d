//! Fits candidates into a token budget: at most one offer of each, for the greatest total worth.
//!
//! A multiple-choice knapsack, solved in whole numbers and measured in operations, never in time,
//! so that the same candidates always give the same answer. A candidate is costs and worths only:
//! what it stands for, how it is rendered and why it is worth that much is the caller's business.
//!
//! [`fit`] takes the steps from one offer to the next in the order of worth per token
//! (`relax`), spends what is left (`fill`), and then searches for something better around the
//! point where the budget ran out (`search`). What it returns says how far from the best it can
//! be at most. [`fit_greedy`] is the plain strategy: one pass in a given order.

mod fill;
mod frontier;
mod greedy;
mod price;
mod relax;
mod search;
mod table;

#[cfg(test)]
mod tests;

use alloc::vec::Vec;

pub use self::greedy::fit_greedy;
pub use self::price::Price;
use self::table::Table;
use crate::tokens::Tokens;

/// Chooses the offers with the greatest total worth that fit into `budget`.
///
/// Offers of no worth are chosen only for critical candidates. Permuting the candidates changes
/// neither [`Fitted::worth`] nor [`Fitted::bound`]; among equals the earlier candidate wins.
///
/// ```
/// use kitbag_core::fit::{Candidate, Offer, fit};
/// use kitbag_core::tokens::Tokens;
///
/// let file = Candidate::optional([Offer::new(900, 100), Offer::new(300, 80)]);
/// let fact = Candidate::optional([Offer::new(40, 30)]);
/// let fitted = fit(&[file, fact], Tokens(400))?;
/// assert_eq!(fitted.choices, [Some(1), Some(0)]);
/// assert_eq!((fitted.used, fitted.worth), (Tokens(340), 110));
/// # Ok::<(), kitbag_core::fit::FitError>(())
/// ```
///
/// # Errors
///
/// Fails when a critical candidate has no offer, or when the cheapest offers of the critical
/// candidates together exceed the budget.
pub fn fit(candidates: &[Candidate], budget: Tokens) -> Result<Fitted, FitError> {
    solve(candidates, budget, search::work_limit(candidates.len()))
}

/// One chunk as the fitter sees it: the offers of which at most one is chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Candidate {
    /// A constraint: one of the offers must be chosen.
    pub critical: bool,
    /// The ways of showing it, in any order; [`fit_greedy`] tries them in this one.
    pub offers: Vec<Offer>,
}

impl Candidate {
    /// A candidate that may be left out.
    #[must_use]
    pub fn optional(offers: impl Into<Vec<Offer>>) -> Self {
        Self {
            critical: false,
            offers: offers.into(),
        }
    }

    /// A candidate that must be in, with whichever of its offers.
    #[must_use]
    pub fn critical(offers: impl Into<Vec<Offer>>) -> Self {
        Self {
            critical: true,
            offers: offers.into(),
        }
    }
}

/// One way of showing a candidate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offer {
    /// The tokens that it takes from the budget.
    pub cost: Tokens,
    /// Its value, in any unit that all candidates share.
    ///
    /// More than 2^62 divided by the number of candidates counts as that much, so that sums
    /// cannot overflow.
    pub worth: u64,
}

impl Offer {
    /// An offer of `worth` for `cost` tokens.
    #[must_use]
    pub const fn new(cost: u32, worth: u64) -> Self {
        Self {
            cost: Tokens(cost),
            worth,
        }
    }
}

/// The chosen offers, and the quality of the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fitted {
    /// For each candidate the index of the chosen offer, `None` when it is left out.
    pub choices: Vec<Option<usize>>,
    /// The cost of the choice.
    pub used: Tokens,
    /// The rest of the budget.
    pub unused: Tokens,
    /// The worth of the choice.
    pub worth: u64,
    /// A worth that no choice within the budget can exceed.
    pub bound: u64,
    /// The worth of a token where the budget ran out.
    pub price: Price,
}

impl Fitted {
    /// Tells whether no choice within the budget is worth more: proven, not guessed.
    #[must_use]
    pub fn is_optimal(&self) -> bool {
        self.worth == self.bound
    }

    /// The worth as a share of the bound, in parts per million, rounded down.
    #[must_use]
    pub fn ratio_ppm(&self) -> u32 {
        ratio_ppm(self.worth, self.bound)
    }

    /// Estimates the additional budget that would let in an offer of a candidate that is out.
    ///
    /// The offer displaces the least that is as worthy as itself, at [`price`](Self::price), and
    /// the rest of its cost is missing. `None` for an offer of no worth, which never enters.
    #[must_use]
    pub fn shortfall(&self, offer: &Offer) -> Option<Tokens> {
        let displaced = self.price.tokens_for(offer.worth);
        let missing = offer.cost.saturating_sub(self.unused);
        let budget = self.used.saturating_add(self.unused);
        let least = offer.cost.saturating_sub(budget).max(Tokens(1));
        (offer.worth > 0).then(|| missing.saturating_sub(displaced).max(least))
    }
}

/// Returns `worth` as a share of `bound`, in parts per million, rounded down; the whole if `bound`
/// is 0.
pub(crate) fn ratio_ppm(worth: u64, bound: u64) -> u32 {
    let ratio = (u128::from(worth) * 1_000_000).checked_div(u128::from(bound));
    ratio.map_or(1_000_000, |ppm| u32::try_from(ppm).unwrap_or(1_000_000))
}

/// A set of candidates that cannot be fitted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The critical candidates do not fit, even each at its cheapest.
    #[error("critical candidates need {needed} tokens at least but the budget is {budget}")]
    CriticalOverBudget {
        /// The sum of their cheapest offers.
        needed: Tokens,
        /// The budget they had to fit into.
        budget: Tokens,
        /// The index of the candidate that needs the most.
        largest: usize,
    },
    /// A critical candidate has nothing that could be shown.
    #[error("critical candidate {index} has no offers")]
    CriticalWithoutOffers {
        /// The index of the candidate.
        index: usize,
    },
}

/// Fits with a limit on the work of the search, counted in states.
fn solve(candidates: &[Candidate], budget: Tokens, work: usize) -> Result<Fitted, FitError> {
    let table = Table::new(candidates, budget)?;
    let relaxed = relax::relax(&table);
    // Filled before the search: the better the solution at hand, the more states can be left out.
    let mut filled = relaxed.solution.clone();
    fill::fill(&table, &relaxed.steps, &mut filled);
    let (mut found, bound) = search::search(&table, &relaxed, filled, work);
    // What the search found leaves all classes that it did not free as they were.
    fill::fill(&table, &relaxed.steps, &mut found);
    // Between 0 and the budget, since no solution exceeds it.
    let unused = Tokens(u32::try_from(found.left).unwrap_or(0));
    Ok(Fitted {
        choices: table.choices(&found),
        used: budget.saturating_sub(unused),
        unused,
        worth: found.worth.unsigned_abs(),
        bound: bound.unsigned_abs(),
        price: relaxed.price(),
    })
}
