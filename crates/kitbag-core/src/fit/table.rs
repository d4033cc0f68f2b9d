//! The candidates, cleaned: only points that could be part of a best choice.
//!
//! Every candidate starts at its base: the cheapest it can be, which is out for optional ones.
//! Those with nothing better to move to are settled here; the others become classes.

use alloc::vec::Vec;
use core::cmp::{Ordering, Reverse};
use core::ops::Range;

use super::{Candidate, FitError, Offer};
use crate::tokens::Tokens;

/// The classes and their points, in one flat list.
pub(super) struct Table {
    classes: Vec<Class>,
    points: Vec<Point>,
    base: Vec<Option<usize>>,
    start: Solution,
}

/// A candidate that has a choice.
struct Class {
    candidate: usize,
    points: Range<usize>,
}

/// One place where a candidate can stand. Within a class, costs and worths rise strictly.
#[derive(Clone, Copy)]
pub(super) struct Point {
    pub(super) cost: i64,
    pub(super) worth: i64,
    offer: Option<usize>,
}

/// A point for each class, and what that comes to.
#[derive(Clone)]
pub(super) struct Solution {
    /// Indices into the points of each class.
    pub(super) at: Vec<usize>,
    /// The worth of all candidates, settled ones included.
    pub(super) worth: i64,
    /// The rest of the budget.
    pub(super) left: i64,
}

impl Table {
    pub(super) fn new(candidates: &[Candidate], budget: Tokens) -> Result<Self, FitError> {
        let left = i64::from(budget.0) - i64::from(reserve(candidates, budget)?.0);
        let count = i64::try_from(candidates.len()).unwrap_or(i64::MAX);
        // Capped so that the worths of all candidates add up to at most 2^62, which fits.
        let worth_limit = (1 << 62) / count.max(1);
        let mut table = Self {
            classes: Vec::with_capacity(candidates.len()),
            points: Vec::with_capacity(candidates.iter().map(|c| c.offers.len() + 1).sum()),
            base: Vec::with_capacity(candidates.len()),
            start: Solution {
                at: Vec::new(),
                worth: 0,
                left,
            },
        };
        let mut points = Vec::new();
        for candidate in candidates {
            points.clear();
            points.extend((!candidate.critical).then_some(Point::OUT));
            points.extend(
                candidate
                    .offers
                    .iter()
                    .enumerate()
                    .rev()
                    .map(|(index, offer)| Point {
                        cost: i64::from(offer.cost.0),
                        worth: i64::try_from(offer.worth)
                            .unwrap_or(i64::MAX)
                            .min(worth_limit),
                        offer: Some(index),
                    }),
            );
            points.sort_unstable_by_key(|point| (point.cost, Reverse(point.worth), point.offer));
            table.add(&points);
        }
        table.start.at.resize(table.classes.len(), 0);
        Ok(table)
    }

    /// Adds a candidate, given everything it could be, cheapest first.
    fn add(&mut self, points: &[Point]) {
        let Some((base, upgrades)) = points.split_first() else {
            return;
        };
        let first = self.points.len();
        self.points.push(*base);
        let mut best = base.worth;
        for point in upgrades {
            // More cost without more worth is never part of a best choice.
            if point.worth > best && point.cost - base.cost <= self.start.left {
                best = point.worth;
                self.points.push(*point);
            }
        }
        if self.points.len() > first + 1 {
            self.classes.push(Class {
                candidate: self.base.len(),
                points: first..self.points.len(),
            });
        } else {
            // Nothing to choose: the candidate is settled at its base.
            self.points.truncate(first);
        }
        self.base.push(base.offer);
        self.start.worth += base.worth;
    }

    /// Returns the solution with every class at its base.
    pub(super) fn start(&self) -> Solution {
        self.start.clone()
    }

    /// Returns the number of candidates that have a choice.
    pub(super) fn class_count(&self) -> usize {
        self.classes.len()
    }

    /// Returns the points of a class, cheapest first.
    pub(super) fn points(&self, class: usize) -> &[Point] {
        let range = self.classes.get(class).map(|class| class.points.clone());
        range
            .and_then(|range| self.points.get(range))
            .unwrap_or_default()
    }

    /// Returns the point of a class in `solution`, with its index.
    pub(super) fn standing(&self, solution: &Solution, class: usize) -> Option<(usize, Point)> {
        let at = *solution.at.get(class)?;
        Some((at, *self.points(class).get(at)?))
    }

    /// Orders two classes by what they hold, so that ties do not depend on the caller's order.
    pub(super) fn compare(&self, one: usize, other: usize) -> Ordering {
        let content = |class| self.points(class).iter().map(|p| (p.cost, p.worth));
        content(one).cmp(content(other)).then(one.cmp(&other))
    }

    /// Returns the chosen offer of every candidate.
    pub(super) fn choices(&self, solution: &Solution) -> Vec<Option<usize>> {
        let mut choices = self.base.clone();
        for (index, class) in self.classes.iter().enumerate() {
            let standing = self.standing(solution, index);
            if let (Some(choice), Some((_, point))) = (choices.get_mut(class.candidate), standing) {
                *choice = point.offer;
            }
        }
        choices
    }
}

impl Solution {
    /// Moves a class to its point `to`, which costs and brings that much more than where it was.
    pub(super) fn step(&mut self, class: usize, to: usize, cost: i64, worth: i64) {
        if let Some(at) = self.at.get_mut(class) {
            *at = to;
            self.left -= cost;
            self.worth += worth;
        }
    }
}

impl Point {
    const OUT: Self = Self {
        cost: 0,
        worth: 0,
        offer: None,
    };
}

/// Returns the sum of what the critical candidates cost at least.
pub(super) fn reserve(candidates: &[Candidate], budget: Tokens) -> Result<Tokens, FitError> {
    let mut needed = 0_u64;
    let mut largest = None;
    for (index, candidate) in candidates.iter().enumerate().filter(|(_, c)| c.critical) {
        let (_, offer) = cheapest(candidate).ok_or(FitError::CriticalWithoutOffers { index })?;
        needed += u64::from(offer.cost.0);
        // `Reverse` lets the first of equally expensive candidates win.
        largest = largest.max(Some((offer.cost, Reverse(index))));
    }
    let tokens = Tokens(u32::try_from(needed).unwrap_or(u32::MAX));
    match largest {
        Some((_, Reverse(largest))) if needed > u64::from(budget.0) => {
            Err(FitError::CriticalOverBudget {
                needed: tokens,
                budget,
                largest,
            })
        }
        _ => Ok(tokens),
    }
}

/// Returns the offer that costs least; among those the worthiest, then the first.
pub(super) fn cheapest(candidate: &Candidate) -> Option<(usize, &Offer)> {
    let offers = candidate.offers.iter().enumerate();
    offers.min_by_key(|(_, offer)| (offer.cost, Reverse(offer.worth)))
}
