//! The linear relaxation: the best choice if offers could be taken in part.
//!
//! It is solved by taking steps along the upper convex hull of each class in the order of worth
//! per token. At most one step, the split, is taken in part; without it the rest is a solution,
//! and its worth per token is the price of the budget.

use alloc::vec::Vec;

use super::price::Price;
use super::table::{Point, Solution, Table};
use crate::tokens::Tokens;

/// The relaxation's solution, rounded down, and the steps around it.
pub(super) struct Relaxed {
    /// All steps, the worthiest per token first; the steps of one class in their order.
    pub(super) steps: Vec<Step>,
    /// The number of steps that were taken: the position of the split.
    pub(super) split: usize,
    /// The steps before the split, taken.
    pub(super) solution: Solution,
}

/// A move of one class from one point of its hull to the next.
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub(super) class: usize,
    pub(super) from: usize,
    pub(super) to: usize,
    /// Its worth and its cost, not reduced.
    pub(super) price: Price,
}

pub(super) fn relax(table: &Table) -> Relaxed {
    let mut steps = Vec::with_capacity(table.class_count() * 3);
    let mut hull = Vec::new();
    for class in 0..table.class_count() {
        push_steps(table, class, &mut hull, &mut steps);
    }
    steps.sort_unstable_by(|one, other| {
        (other.price.compare(&one.price))
            .then_with(|| table.compare(one.class, other.class))
            .then(one.from.cmp(&other.from))
    });
    let mut solution = table.start();
    let mut split = 0;
    for step in &steps {
        // Later steps may still fit, but only whole runs from the start give the bound: `fill`
        // takes those.
        if step.cost() > solution.left {
            break;
        }
        solution.step(step.class, step.to, step.cost(), step.worth());
        split += 1;
    }
    Relaxed {
        steps,
        split,
        solution,
    }
}

impl Relaxed {
    /// Returns the worth of a token where the budget ran out.
    pub(super) fn price(&self) -> Price {
        self.steps.get(self.split).map_or(Price::ZERO, |s| s.price)
    }

    /// Returns the worth of the relaxation, rounded down: no solution exceeds it.
    pub(super) fn bound(&self) -> i64 {
        let part = self.price().worth_of(self.solution.left);
        self.solution
            .worth
            .saturating_add(i64::try_from(part).unwrap_or(i64::MAX))
    }
}

impl Step {
    pub(super) fn cost(&self) -> i64 {
        i64::from(self.price.tokens.0)
    }

    pub(super) fn worth(&self) -> i64 {
        self.price.worth.cast_signed()
    }
}

/// Appends the steps of one class: the upper hull of its points, with those on its edges.
fn push_steps(table: &Table, class: usize, hull: &mut Vec<(usize, Point)>, steps: &mut Vec<Step>) {
    hull.clear();
    for (index, &point) in table.points(class).iter().enumerate() {
        // The last point lies below the line between its neighbours: no price leads there.
        while let [.., (_, before), (_, last)] = hull.as_slice()
            && price(before, last).compare(&price(last, &point)).is_lt()
        {
            hull.pop();
        }
        hull.push((index, point));
    }
    let edges = hull.iter().zip(hull.iter().skip(1));
    steps.extend(edges.map(|((from, before), (to, after))| Step {
        class,
        from: *from,
        to: *to,
        price: price(before, after),
    }));
}

/// Returns the worth per token of the upgrade between two points of a class.
fn price(from: &Point, to: &Point) -> Price {
    Price {
        worth: to.worth.abs_diff(from.worth),
        tokens: Tokens(u32::try_from(to.cost - from.cost).unwrap_or(u32::MAX)),
    }
}
