//! Estimated counts, recalibrated by what was billed.

use kitbag::Engine;
use kitbag::answer::Answer;
use kitbag::core::tokens::{Exactness, Tokens};
use kitbag::engine::replay;
use kitbag::store::{Incoming, Store};

use crate::billing::Biller;
use crate::with_store;

const MODEL: &str = "claude-sonnet-4-5";

fn engine(store: &Store, permille: u64, budget: u32) -> Engine {
    let engine = Engine::builder().store(store.clone());
    let engine = engine.provider(Biller::new(MODEL, permille));
    engine.budget(Tokens(budget)).build().unwrap()
}

async fn ask(engine: &Engine, number: usize) -> Answer {
    let told = format!("Line {number} of a story about bees and honey. ").repeat(40);
    let incoming = Incoming::new("cli", "ann", told.as_str());
    engine.ask(incoming).await.unwrap()
}

/// The factor of a prompt, and the number of answers that it is from.
fn factor(answer: &Answer) -> (u32, u32) {
    match answer.prompt.composed.assembly.exactness {
        Exactness::Estimated {
            factor_permille,
            answers,
            ..
        } => (factor_permille, answers),
        _ => panic!("{:?}", answer.prompt.composed.assembly.exactness),
    }
}

#[test]
fn o07_estimates_follow_the_bills_and_past_prompts_stay_as_they_were() {
    with_store(async |store| {
        let engine = engine(&store, 1_150, 4_000);
        let mut factors = Vec::new();
        let mut turns = Vec::new();
        for number in 0..8 {
            let answer = ask(&engine, number).await;
            let assembly = &answer.prompt.composed.assembly;
            assert!(assembly.tokens <= Tokens(4_000), "{}", assembly.tokens);
            factors.push(factor(&answer));
            let turn = answer.turn.unwrap();
            turns.push((turn.id, answer.request.body()));
        }
        assert_eq!(factors[..3], [(1_300, 0); 3]);
        let (now, answers) = factors[7];
        assert!((1_120..=1_180).contains(&now), "{factors:?}");
        assert_eq!(answers, 7);
        let changes = factors.windows(2).filter(|pair| pair[0].0 != pair[1].0);
        assert!(changes.count() <= 2, "{factors:?}");
        // The factor was part of what each prompt was made from: none comes out differently now.
        for (turn, sent) in turns {
            assert_eq!(replay(&store, turn, None).await.unwrap().body, sent);
        }
    });
}

#[test]
fn o07_a_conversation_is_compacted_in_time_where_bills_are_higher_than_the_estimate() {
    with_store(async |store| {
        let engine = engine(&store, 1_750, 6_000);
        let mut compacted = 0;
        for number in 0..30 {
            let part = |part| format!("Part {part} of story {number} tells of bees and honey. ");
            let told: String = (0..24).map(part).collect();
            let answer = engine.ask(Incoming::new("cli", "ann", told.as_str())).await;
            let answer = answer.unwrap();
            let problems = &answer.prompt.composed.assembly.ledger.problems;
            assert_eq!(problems, &[], "turn {number}");
            let after = engine.after(&answer).await.unwrap();
            let lessons = Box::pin(engine.learn_after(after)).await;
            compacted += u32::from(lessons.compacted.is_some());
        }
        assert!(compacted >= 2, "{compacted}");
    });
}

#[test]
fn o07_bills_that_cannot_be_right_change_nothing() {
    for permille in [0, 600, 3_000] {
        with_store(async |store| {
            let engine = engine(&store, permille, 4_000);
            for number in 0..5 {
                assert_eq!(factor(&ask(&engine, number).await), (1_300, 0));
            }
            assert_eq!(store.calibration(MODEL).await.unwrap(), None);
        });
    }
}

#[test]
fn o07_tenants_and_models_are_calibrated_apart() {
    with_store(async |store| {
        let engine = engine(&store, 1_150, 4_000);
        for number in 0..4 {
            ask(&engine, number).await;
        }
        let known = store.calibration(MODEL).await.unwrap().unwrap();
        assert_eq!(known.answers, 4);
        assert_eq!(store.calibration("claude-opus-5-5").await.unwrap(), None);
        let other = store.for_tenant("other".parse().unwrap());
        assert_eq!(other.calibration(MODEL).await.unwrap(), None);
    });
}

#[test]
fn o07_an_exact_count_is_not_corrected_and_a_lasting_difference_is_known() {
    with_store(async |store| {
        let engine = Engine::builder().store(store.clone());
        let engine = engine.provider(Biller::new("gpt-4o", 1_200)).build();
        let engine = engine.unwrap();
        for number in 0..7 {
            let answer = ask(&engine, number).await;
            let exactness = &answer.prompt.composed.assembly.exactness;
            assert_eq!(*exactness, Exactness::Exact);
        }
        let known = store.calibration("gpt-4o").await.unwrap().unwrap();
        let difference = known.lasting_difference().unwrap();
        assert!((1_100..1_250).contains(&difference), "{difference}");
    });
}
