//! Behaviour of the fitter against independent solvers, on made-up and on adversarial instances.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::{Candidate, FitError, Fitted, Offer, fit, fit_greedy, solve};
use crate::tokens::Tokens;

#[path = "../../benches/fit/instances.rs"]
mod instances;

use instances::{Instance, Random, instance};

/// The sum of what was chosen: cost and worth.
fn total(candidates: &[Candidate], choices: &[Option<usize>]) -> (u64, u64) {
    assert_eq!(candidates.len(), choices.len());
    let mut sum = (0, 0);
    for (candidate, choice) in candidates.iter().zip(choices) {
        assert!(choice.is_some() || !candidate.critical, "critical is in");
        if let Some(offer) = choice.map(|index| candidate.offers[index]) {
            sum = (sum.0 + u64::from(offer.cost.0), sum.1 + offer.worth);
        }
    }
    sum
}

/// What holds of every result.
fn check(candidates: &[Candidate], budget: Tokens, fitted: &Fitted) {
    let (cost, worth) = total(candidates, &fitted.choices);
    assert!(cost <= u64::from(budget.0), "within the budget");
    assert_eq!((cost, worth), (u64::from(fitted.used.0), fitted.worth));
    assert_eq!(fitted.used.0 + fitted.unused.0, budget.0);
    assert!(fitted.bound >= worth);
    assert!(fitted.price.tokens > Tokens::ZERO);
}

/// The optimum by dynamic programming over every amount of tokens; `None` if nothing is feasible.
fn exact(candidates: &[Candidate], budget: Tokens) -> Option<u64> {
    let mut best = vec![Some(0_u64); budget.0 as usize + 1];
    for candidate in candidates {
        let mut next = if candidate.critical {
            vec![None; best.len()]
        } else {
            best.clone()
        };
        for offer in &candidate.offers {
            let shifted = next.iter_mut().skip(offer.cost.0 as usize);
            for (slot, before) in shifted.zip(&best) {
                *slot = (*slot).max(before.map(|worth| worth + offer.worth));
            }
        }
        best = next;
    }
    best[budget.0 as usize]
}

/// The optimum by trying everything; `None` if nothing is feasible.
fn brute_force(candidates: &[Candidate], budget: u64) -> Option<u64> {
    let Some((candidate, rest)) = candidates.split_first() else {
        return Some(0);
    };
    let out = (!candidate.critical).then(|| brute_force(rest, budget));
    let offers = candidate.offers.iter().map(|offer| {
        let left = budget.checked_sub(u64::from(offer.cost.0))?;
        Some(offer.worth + brute_force(rest, left)?)
    });
    offers.chain(out).max().flatten()
}

fn shuffled(candidates: &[Candidate], seed: u64) -> Vec<Candidate> {
    let mut random = Random(seed);
    let mut candidates = candidates.to_vec();
    for end in (1..candidates.len()).rev() {
        candidates.swap(end, random.below(end as u64 + 1) as usize);
    }
    candidates
}

#[test]
fn x01_small_instances_are_solved_exactly() {
    let mut over_budget = 0;
    for seed in 0..600 {
        let chunks = 1 + seed as usize % 40;
        let Instance { candidates, budget } = instance(seed, chunks, 60.0);
        let optimum = exact(&candidates, budget);
        match fit(&candidates, budget) {
            Ok(fitted) => {
                check(&candidates, budget, &fitted);
                assert_eq!(Some(fitted.worth), optimum, "seed {seed}");
                assert!(fitted.is_optimal(), "seed {seed}");
            }
            Err(error) => {
                assert!(matches!(error, FitError::CriticalOverBudget { .. }));
                assert_eq!(optimum, None, "seed {seed}");
                over_budget += 1;
            }
        }
    }
    assert!(over_budget < 60, "most instances are feasible");
}

#[test]
fn x01_forty_chunks_of_full_size_are_solved_exactly() {
    for seed in 0..10 {
        let Instance { candidates, budget } = instance(seed, 40, 400.0);
        let fitted = fit(&candidates, budget).unwrap();
        check(&candidates, budget, &fitted);
        assert_eq!(Some(fitted.worth), exact(&candidates, budget));
        assert!(fitted.is_optimal());
    }
}

/// Worth close to cost is the hardest kind: every choice is nearly as good as any other.
#[test]
fn x01_worth_in_proportion_to_cost_is_solved_exactly() {
    for seed in 0..20 {
        let Instance { candidates, budget } = instance(seed, 40, 60.0);
        let proportional: Vec<_> = (candidates.into_iter())
            .map(|mut candidate| {
                for offer in &mut candidate.offers {
                    offer.worth = u64::from(offer.cost.0) * 1000 + seed;
                }
                candidate
            })
            .collect();
        let fitted = fit(&proportional, budget).unwrap();
        check(&proportional, budget, &fitted);
        assert_eq!(Some(fitted.worth), exact(&proportional, budget));
        assert!(fitted.is_optimal());
    }
}

#[test]
fn x01_large_instances_come_close_to_the_bound_and_use_the_budget() {
    let mut fine_grained = 0;
    for (seed, chunks) in (0..20).map(|seed| (seed, if seed < 15 { 1000 } else { 10_000 })) {
        let Instance { candidates, budget } = instance(seed, chunks, 400.0);
        let fitted = fit(&candidates, budget).unwrap();
        check(&candidates, budget, &fitted);
        assert!(u64::from(fitted.used.0) * 100 >= u64::from(budget.0) * 97);
        let offers = candidates.iter().flat_map(|c| &c.offers);
        if offers.map(|offer| offer.worth).max().unwrap() * 500 <= fitted.worth {
            fine_grained += 1;
            assert!(fitted.ratio_ppm() >= 995_000, "{}", fitted.ratio_ppm());
        }
    }
    assert!(fine_grained >= 4, "the second rule was put to the test");
}

#[test]
fn x01_order_of_candidates_does_not_change_the_worth() {
    for seed in 0..60 {
        let Instance { candidates, budget } = instance(seed, 150, 400.0);
        // Few distinct worths and costs make many ties.
        let tied: Vec<_> = (candidates.iter().cloned())
            .map(|mut candidate| {
                for offer in &mut candidate.offers {
                    offer.cost.0 = offer.cost.0.next_power_of_two();
                    offer.worth = offer.worth.next_power_of_two();
                }
                candidate
            })
            .collect();
        for candidates in [candidates, tied] {
            let first = fit(&candidates, budget);
            assert_eq!(first, fit(&candidates, budget));
            let second = fit(&shuffled(&candidates, seed), budget);
            let summary = |f: Fitted| (f.worth, f.bound, f.price);
            assert_eq!(first.map(summary), second.map(summary));
        }
    }
}

#[test]
fn x01_work_is_limited_and_the_bound_still_holds() {
    // Even costs and an odd budget: the relaxation promises what no choice reaches.
    let mut random = Random(1);
    let candidates: Vec<_> = (0..600)
        .map(|_| {
            let cost = 2 * (5_000 + random.below(5_000));
            Candidate::optional([Offer::new(cost as u32, cost * 1_000_003)])
        })
        .collect();
    let budget = Tokens(2_000_001);
    let fitted = fit(&candidates, budget).unwrap();
    check(&candidates, budget, &fitted);
    assert!(!fitted.is_optimal());
    assert!(fitted.ratio_ppm() >= 999_000);
}

#[test]
fn x01_however_little_work_is_allowed_the_bound_holds() {
    let mut unproven = 0;
    for seed in 0..100 {
        let Instance { candidates, budget } = instance(seed, 30, 60.0);
        let Some(optimum) = exact(&candidates, budget) else {
            continue;
        };
        for work in [0, 3, 20, 100, 400] {
            let fitted = solve(&candidates, budget, work).unwrap();
            check(&candidates, budget, &fitted);
            assert!(fitted.worth <= optimum && optimum <= fitted.bound);
            unproven += u32::from(!fitted.is_optimal());
        }
    }
    assert!(unproven > 50, "the work did run out");
}

#[test]
fn everything_that_fits_is_taken_at_no_price() {
    let candidates = [
        Candidate::optional([Offer::new(100, 10), Offer::new(10, 9)]),
        Candidate::optional([Offer::new(0, 5), Offer::new(7, 5)]),
        Candidate::optional([Offer::new(3, 0)]),
        Candidate::optional([Offer::new(1000, 100_000)]),
        Candidate::critical([Offer::new(9, 0), Offer::new(2, 0)]),
    ];
    let fitted = fit(&candidates, Tokens(150)).unwrap();
    assert_eq!(fitted.choices, [Some(0), Some(0), None, None, Some(1)]);
    assert_eq!((fitted.used, fitted.worth), (Tokens(102), 15));
    assert_eq!(fitted.price.worth, 0);
    assert!(fitted.is_optimal());
}

#[test]
fn offers_below_the_hull_are_used_when_only_they_fit() {
    // The middle offer is worth less per token than the way from nothing to the first.
    let candidate = Candidate::optional([Offer::new(100, 1000), Offer::new(60, 300)]);
    let fitted = fit(&[candidate.clone(), candidate], Tokens(160)).unwrap();
    assert_eq!((fitted.used, fitted.worth), (Tokens(160), 1300));
}

#[test]
fn equal_candidates_are_taken_from_the_front() {
    let candidates = vec![Candidate::optional([Offer::new(10, 10)]); 5];
    let fitted = fit(&candidates, Tokens(25)).unwrap();
    assert_eq!(fitted.choices, [Some(0), Some(0), None, None, None]);
}

#[test]
fn nothing_to_fit_and_nothing_to_fit_into() {
    let empty = fit(&[], Tokens(10)).unwrap();
    assert_eq!(
        (empty.worth, empty.bound, empty.ratio_ppm()),
        (0, 0, 1_000_000)
    );
    let free = Candidate::critical([Offer::new(0, 3), Offer::new(1, 9)]);
    let fitted = fit(&[free], Tokens::ZERO).unwrap();
    assert_eq!(fitted.choices, [Some(0)]);
    assert!(fitted.is_optimal());
}

#[test]
fn critical_candidates_that_cannot_be_in_are_an_error() {
    let candidates = [
        Candidate::critical([Offer::new(50, 1), Offer::new(30, 1)]),
        Candidate::optional([Offer::new(1, 1)]),
        Candidate::critical([Offer::new(90, 1), Offer::new(40, 1)]),
    ];
    let error = FitError::CriticalOverBudget {
        needed: Tokens(70),
        budget: Tokens(69),
        largest: 2,
    };
    insta::assert_snapshot!(error, @"critical candidates need 70 tokens at least but the budget is 69");
    assert_eq!(fit(&candidates, Tokens(69)), Err(error.clone()));
    assert_eq!(fit_greedy(&candidates, &[0, 1, 2], Tokens(69)), Err(error));
    let fitted = fit(&candidates, Tokens(70)).unwrap();
    assert_eq!(fitted.choices, [Some(1), None, Some(1)]);

    let bare = [Candidate::optional([]), Candidate::critical([])];
    let error = FitError::CriticalWithoutOffers { index: 1 };
    assert_eq!(fit(&bare, Tokens(9)), Err(error));

    let huge = vec![Candidate::critical([Offer::new(u32::MAX, 1)]); 3];
    let error = fit(&huge, Tokens(u32::MAX)).unwrap_err();
    assert!(matches!(
        error,
        FitError::CriticalOverBudget { largest: 0, .. }
    ));
}

#[test]
fn worths_beyond_all_sums_do_not_overflow() {
    let offers = [
        Offer::new(u32::MAX, u64::MAX),
        Offer::new(3, u64::MAX - 1),
        Offer::new(2, 1 << 60),
    ];
    for count in 1..9 {
        let candidates = vec![Candidate::optional(offers); count];
        let order: Vec<_> = (0..count).collect();
        for budget in [1, 4, 7, 11, u32::MAX] {
            let fitted = fit(&candidates, Tokens(budget)).unwrap();
            assert!(fitted.is_optimal() && fitted.used <= Tokens(budget));
            let greedy = fit_greedy(&candidates, &order, Tokens(budget)).unwrap();
            assert_eq!(greedy.worth > 0, budget > 1);
        }
    }
}

#[test]
fn shortfall_says_how_much_budget_is_missing() {
    let candidates = [
        Candidate::optional([Offer::new(100, 1000)]),
        Candidate::optional([Offer::new(100, 500)]),
        Candidate::optional([Offer::new(300, 600)]),
    ];
    // 150 tokens are unused, and the third would have paid 2 for each.
    let fitted = fit(&candidates, Tokens(350)).unwrap();
    assert_eq!(fitted.choices, [Some(0), Some(0), None]);
    assert_eq!(fitted.shortfall(&Offer::new(300, 200)), Some(Tokens(50)));
    assert_eq!(fitted.shortfall(&Offer::new(700, 4000)), Some(Tokens(350)));
    assert_eq!(fitted.shortfall(&Offer::new(10, 900)), Some(Tokens(1)));
    assert_eq!(fitted.shortfall(&Offer::new(10, 0)), None);

    let all = fit(&candidates[..1], Tokens(250)).unwrap();
    assert_eq!(all.shortfall(&Offer::new(400, 1)), Some(Tokens(250)));
}

#[test]
fn greedy_takes_the_first_offer_that_fits_in_order() {
    let candidates = [
        Candidate::optional([Offer::new(60, 9), Offer::new(20, 5), Offer::new(5, 0)]),
        Candidate::optional([Offer::new(70, 8)]),
        Candidate::critical([Offer::new(50, 7), Offer::new(10, 1)]),
        Candidate::optional([Offer::new(2, 6)]),
    ];
    let choices = |order: &[usize], budget| {
        let fitted = fit_greedy(&candidates, order, Tokens(budget)).unwrap();
        check(&candidates, Tokens(budget), &fitted);
        fitted.choices
    };
    // The critical one has its 10 reserved, so the first gets no more than 20.
    assert_eq!(
        choices(&[0, 1, 2, 3], 65),
        [Some(1), None, Some(1), Some(0)]
    );
    assert_eq!(
        choices(&[2, 0, 1, 3], 65),
        [Some(2), None, Some(0), Some(0)]
    );
    assert_eq!(choices(&[0, 1, 2, 3], 200), [Some(0); 4]);
    // Left out of the order, or not there at all.
    assert_eq!(choices(&[3, 17, 3], 12), [None, None, Some(1), Some(0)]);
}

#[test]
fn x01_greedy_states_what_it_gave_away() {
    for seed in 0..20 {
        let Instance { candidates, budget } = instance(seed, 100, 400.0);
        let mut order: Vec<_> = (0..candidates.len()).collect();
        order.sort_by_key(|&index| core::cmp::Reverse(candidates[index].offers[0].worth));
        let greedy = fit_greedy(&candidates, &order, budget).unwrap();
        check(&candidates, budget, &greedy);
        let best = fit(&candidates, budget).unwrap();
        assert!(greedy.worth <= best.worth && best.worth <= greedy.bound);
        assert!(greedy.ratio_ppm() < 1_000_000);
    }
}

/// Costs and worths where mistakes hide: zero, equal, tiny, huge.
fn offer() -> impl Strategy<Value = Offer> {
    let cost = prop_oneof![
        4 => 0..12_u32,
        3 => 0..200_u32,
        1 => (u32::MAX / 3 - 2)..(u32::MAX / 3 + 2),
        1 => Just(u32::MAX),
    ];
    let worth = prop_oneof![
        4 => 0..12_u64,
        2 => 0..200_u64,
        2 => 7_999_999_990..8_000_000_000_u64,
    ];
    (cost, worth).prop_map(|(cost, worth)| Offer::new(cost, worth))
}

fn candidate() -> impl Strategy<Value = Candidate> {
    (prop::collection::vec(offer(), 0..=4), 0..5).prop_map(|(offers, kind)| match kind {
        0 => Candidate::critical(offers),
        _ => Candidate::optional(offers),
    })
}

fn budget() -> impl Strategy<Value = Tokens> {
    let amount =
        prop_oneof![4 => 0..40_u32, 4 => 0..400_u32, 2 => 0..=u32::MAX, 1 => Just(u32::MAX)];
    amount.prop_map(Tokens)
}

proptest! {
    #[test]
    fn x01_adversarial_instances_are_solved_exactly(
        candidates in prop::collection::vec(candidate(), 0..=7),
        budget in budget(),
        seed in 0..1000_u64,
    ) {
        let optimum = brute_force(&candidates, u64::from(budget.0));
        let fitted = fit(&candidates, budget);
        prop_assert_eq!(fitted.as_ref().ok().map(|f| f.worth), optimum);
        if let Ok(fitted) = fitted {
            check(&candidates, budget, &fitted);
            prop_assert!(fitted.is_optimal());
            for (candidate, choice) in candidates.iter().zip(&fitted.choices) {
                if let Some(offer) = choice.map(|index| candidate.offers[index]) {
                    prop_assert!(offer.worth > 0 || candidate.critical);
                }
            }
            let again = fit(&shuffled(&candidates, seed), budget).unwrap();
            prop_assert_eq!((again.worth, again.bound), (fitted.worth, fitted.bound));
            let order: Vec<_> = (0..candidates.len()).rev().collect();
            let greedy = fit_greedy(&candidates, &order, budget).unwrap();
            check(&candidates, budget, &greedy);
            prop_assert!(greedy.worth <= fitted.worth && fitted.worth <= greedy.bound);
        }
    }
}
