//! The plain strategy: one pass in the given order, without looking back.

use alloc::vec::Vec;

use super::relax::relax;
use super::table::{Table, cheapest};
use super::{Candidate, FitError, Fitted, Offer};
use crate::tokens::Tokens;

/// Takes for each candidate, in the given order, the first of its offers that fits.
///
/// Critical candidates have their cheapest offer reserved before the pass, so they are in even
/// when `order` leaves them out. The bound and the price are those of the best choice, so that
/// [`Fitted::ratio_ppm`] says what this strategy gave away.
///
/// # Errors
///
/// Fails as [`fit`](super::fit) does.
pub fn fit_greedy(
    candidates: &[Candidate],
    order: &[usize],
    budget: Tokens,
) -> Result<Fitted, FitError> {
    let table = Table::new(candidates, budget)?;
    let relaxed = relax(&table);
    let mut choices: Vec<_> = candidates.iter().map(reserved).collect();
    let mut used: Tokens = chosen(candidates, &choices).map(|offer| offer.cost).sum();
    for &index in order {
        let Some((candidate, choice)) = candidates.get(index).zip(choices.get_mut(index)) else {
            continue;
        };
        let held = choice.and_then(|held| candidate.offers.get(held));
        let others = used.saturating_sub(held.map_or(Tokens::ZERO, |offer| offer.cost));
        let room = budget.saturating_sub(others);
        let mut offers = candidate.offers.iter().enumerate();
        if let Some((first, offer)) = offers.find(|(_, offer)| offer.cost <= room) {
            *choice = Some(first);
            used = others.saturating_add(offer.cost);
        }
    }
    let worths = chosen(candidates, &choices).map(|offer| offer.worth);
    let worth = worths.fold(0, u64::saturating_add);
    Ok(Fitted {
        choices,
        used,
        unused: budget.saturating_sub(used),
        worth,
        bound: relaxed.bound().unsigned_abs().max(worth),
        price: relaxed.price(),
    })
}

/// Returns the offer that is chosen before the pass.
fn reserved(candidate: &Candidate) -> Option<usize> {
    let (index, _) = cheapest(candidate).filter(|_| candidate.critical)?;
    Some(index)
}

fn chosen<'a>(
    candidates: &'a [Candidate],
    choices: &'a [Option<usize>],
) -> impl Iterator<Item = &'a Offer> {
    let pairs = candidates.iter().zip(choices);
    pairs.filter_map(|(candidate, choice)| candidate.offers.get((*choice)?))
}
