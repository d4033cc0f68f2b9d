//! Measures the fitter: one JSON line for each number of chunks.
//!
//! The time is the median over instances, each fitted once; the share of the bound and of the
//! budget are the lowest.

#![expect(clippy::print_stdout, reason = "its output is the measurement")]

use std::time::Instant;

use kitbag_core::fit::{Candidate, Offer, fit};
use kitbag_core::tokens::Tokens;

#[path = "fit/instances.rs"]
#[expect(clippy::indexing_slicing, reason = "fixed arrays")]
mod instances;

fn main() {
    for (chunks, count) in [(40, 200), (1_000, 100), (10_000, 20), (100_000, 10)] {
        measure(chunks, count);
    }
}

fn measure(chunks: usize, count: u64) {
    let mut seconds = Vec::new();
    let (mut ratio_ppm, mut used_permille, mut optimal) = (u32::MAX, u64::MAX, 0);
    for seed in 0..count {
        let instance = instances::instance(seed, chunks, 400.0);
        let start = Instant::now();
        let fitted = fit(&instance.candidates, instance.budget);
        seconds.push(start.elapsed().as_secs_f64());
        let Ok(fitted) = fitted else {
            continue;
        };
        let used = u64::from(fitted.used.0) * 1000 / u64::from(instance.budget.0.max(1));
        used_permille = used_permille.min(used);
        ratio_ppm = ratio_ppm.min(fitted.ratio_ppm());
        optimal += u64::from(fitted.is_optimal());
    }
    seconds.sort_by(f64::total_cmp);
    let median = seconds.get(seconds.len() / 2).unwrap_or(&0.0);
    let longest = seconds.last().unwrap_or(&0.0);
    println!(
        r#"{{"bench":"fit","chunks":{chunks},"instances":{count},"seconds":{median:.6},"seconds_max":{longest:.6},"ratio_ppm":{ratio_ppm},"used_permille":{used_permille},"optimal":{optimal}}}"#
    );
}
