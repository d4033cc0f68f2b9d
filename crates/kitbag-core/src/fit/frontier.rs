//! The reach of the search so far, and the bound on the classes beyond it.

use alloc::vec;
use alloc::vec::Vec;

use super::price::Price;
use super::relax::{Relaxed, Step};
use super::table::Table;

/// The freed classes, and the nearest steps on both sides of the split whose classes are not freed.
pub(super) struct Frontier<'a> {
    taken: &'a [Step],
    untaken: &'a [Step],
    freed: Vec<bool>,
    upward: bool,
}

impl<'a> Frontier<'a> {
    pub(super) fn new(table: &Table, relaxed: &'a Relaxed) -> Self {
        // `split` counts steps, so it lies within them.
        let (taken, untaken) = relaxed
            .steps
            .split_at_checked(relaxed.split)
            .unwrap_or_default();
        Self {
            taken,
            untaken,
            freed: vec![false; table.class_count()],
            upward: true,
        }
    }

    /// Frees the class of the nearest step above or below the split, in turns.
    pub(super) fn free_next(&mut self) -> Option<usize> {
        let (up, down) = (self.untaken.first(), self.taken.last());
        let step = if self.upward {
            up.or(down)?
        } else {
            down.or(up)?
        };
        // Both sides in turns: a better choice gives up something below the split for something
        // above it.
        self.upward = !self.upward;
        if let Some(freed) = self.freed.get_mut(step.class) {
            *freed = true;
        }
        let is_freed = |step: &Step| self.freed.get(step.class) == Some(&true);
        while let Some((_, rest)) = self.untaken.split_first().filter(|(s, _)| is_freed(s)) {
            self.untaken = rest;
        }
        while let Some((_, rest)) = self.taken.split_last().filter(|(s, _)| is_freed(s)) {
            self.taken = rest;
        }
        Some(step.class)
    }

    /// Returns the best rates at which the other classes trade tokens for worth.
    pub(super) fn margin(&self) -> Margin {
        Margin {
            up: self.untaken.first().map_or(Price::ZERO, |s| s.price),
            down: self.taken.last().map(|step| step.price),
        }
    }
}

/// The best rates at which the classes that are not freed trade tokens for worth.
#[derive(Clone, Copy)]
pub(super) struct Margin {
    /// The most that a token left can bring.
    up: Price,
    /// The least worth that winning back a token costs; `None` when none can be won back.
    down: Option<Price>,
}

impl Margin {
    /// Tells whether a state may still become worth more than `best`.
    pub(super) fn reaches(&self, left: i64, worth: i64, best: i64) -> bool {
        let price = if left < 0 { self.down } else { Some(self.up) };
        price.is_some_and(|price| price.buys(best + 1 - worth, left))
    }

    /// Returns the most that a state may still become worth.
    pub(super) fn bound(&self, left: i64, worth: i64) -> i64 {
        let price = if left < 0 { self.down } else { Some(self.up) };
        let bound = price.map(|price| i128::from(worth) + price.worth_of(left));
        bound.map_or(i64::MIN, |b| i64::try_from(b).unwrap_or(i64::MAX))
    }
}
