//! Instances for the fitter: made up, but shaped like chunks of a code base, and repeatable.
//!
//! Included by path, by the tests and by the benchmark, each of which has `Candidate`, `Offer`
//! and `Tokens` in scope.

use std::vec::Vec;

use super::{Candidate, Offer, Tokens};

/// A set of candidates and a budget that some of them fit into.
pub(crate) struct Instance {
    /// Four offers each, the most detailed first.
    pub(crate) candidates: Vec<Candidate>,
    /// 1 to 50 % of what the first offers cost together.
    pub(crate) budget: Tokens,
}

/// Makes the instance of a seed. The first offers cost `median` tokens in the median.
pub(crate) fn instance(seed: u64, chunks: usize, median: f64) -> Instance {
    let mut random = Random(seed);
    let candidates: Vec<_> = (0..chunks)
        .map(|_| candidate(&mut random, median))
        .collect();
    let full = candidates.iter().map(|c| u64::from(c.offers[0].cost.0));
    let share = 0.01 + 0.49 * random.unit();
    let budget = full.sum::<u64>() as f64 * share;
    Instance {
        candidates,
        budget: Tokens(budget as u32),
    }
}

fn candidate(random: &mut Random, median: f64) -> Candidate {
    let full = (median * (1.2 * random.normal()).exp()).clamp(1.0, 1e6);
    let line = 25.0 * median / 400.0;
    // Few candidates are relevant, most are hardly so.
    let relevance = (1e6 * random.unit().powi(4)) as u64;
    let weight = [8, 5, 2, 1][random.below(4) as usize];
    let coverage = if random.below(10) < 3 {
        // Not concave: what is cut away is worth more than what remains.
        [1000, 100 + random.below(230), 50 + random.below(50), 30]
    } else {
        let some = 550 + random.below(300);
        [1000, some, some / 2 + random.below(100), 80]
    };
    let mut offers = Vec::new();
    let mut cost = full as u32;
    for (size, coverage) in [full, 0.35 * full, 0.12 * full, line].iter().zip(coverage) {
        cost = cost.min(*size as u32).max(1);
        offers.push(Offer::new(cost, relevance * coverage * weight));
    }
    if random.below(50) == 0 {
        Candidate::critical(offers)
    } else {
        Candidate::optional(offers)
    }
}

/// `SplitMix64`: small, and the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A whole number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// A number from 0 to 1, never 0.
    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A normally distributed number, by the method of Box and Muller.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (core::f64::consts::TAU * self.unit()).cos()
    }
}
