//! Tests of epochs: what is kept, what is appended, and every reason to choose anew.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use proptest::prelude::*;

use crate::assembly::{
    AssembleError, Assembly, AssemblySettings, Draft, FitStrategy, OutputForm, Reason, Renewal,
    assemble,
};
use crate::band::Band;
use crate::chunk::{ChunkBand, ChunkType, ContextChunk, ContextPriority, Relevance, Trust};
use crate::inject::ContextMessage;
use crate::message::Message;
use crate::rank::RankedChunk;
use crate::tokens::{Quarters, Tokens};

fn file(source: &str, content: &str, ppm: u32) -> RankedChunk {
    ContextChunk::new(ChunkType::File, source, content)
        .with_relevance(Relevance::from_ppm(ppm))
        .into()
}

fn fact(source: &str, content: &str) -> RankedChunk {
    ContextChunk::new(ChunkType::Fact, source, content)
        .with_band(ChunkBand::Volatile)
        .into()
}

/// The draft of the turn with this number.
fn turn(number: usize) -> Draft {
    let mut draft = Draft::new(format!("question {number}"));
    draft.identity = "You answer.".into();
    for earlier in 0..number {
        draft
            .history
            .push(Message::user(format!("question {earlier}")));
        draft
            .history
            .push(Message::assistant(format!("answer {earlier}")));
    }
    draft
}

fn settings(budget: u32) -> AssemblySettings {
    AssemblySettings::new(OutputForm::Anthropic, Tokens(budget))
}

fn go(
    draft: &Draft,
    chunks: &[RankedChunk],
    settings: &AssemblySettings,
    previous: Option<&Assembly>,
) -> Assembly {
    let previous = previous.map(|previous| &previous.epoch);
    assemble(draft, chunks.to_vec(), settings, &Quarters, previous).unwrap()
}

/// The texts as the provider's cache sees them, one after the other.
fn stream(assembly: &Assembly) -> String {
    let segments = assembly.segments.iter();
    segments.map(|segment| segment.text.as_str()).collect()
}

fn reason(assembly: &Assembly, source: &str) -> Reason {
    let entry = assembly
        .ledger
        .entries
        .iter()
        .find(|entry| entry.source == source);
    entry.unwrap().reason
}

#[test]
fn x02_a_selection_is_kept_and_what_becomes_relevant_is_appended_and_stays() {
    let settings = settings(2_000);
    let a = file("a.rs", "aaa", 900_000);
    let first = go(
        &turn(0),
        &[a.clone(), file("b.rs", "bbb", 1_000)],
        &settings,
        None,
    );
    assert_eq!(first.ledger.epoch.renewed, Some(Renewal::First));
    assert_eq!(
        reason(&first, "b.rs"),
        Reason::BelowFloor {
            floor: settings.floor
        }
    );

    let chunks = [a, file("b.rs", "bbb", 900_000)];
    let second = go(&turn(1), &chunks, &settings, Some(&first));
    assert_eq!(second.ledger.epoch.renewed, None);
    assert_eq!(reason(&second, "a.rs"), Reason::Kept);
    assert_eq!(reason(&second, "b.rs"), Reason::Appended);
    let third = go(&turn(2), &chunks, &settings, Some(&second));
    assert_eq!(reason(&third, "b.rs"), Reason::Kept);
    assert_eq!(stream(&third).matches("bbb").count(), 1);
    assert!(stream(&third).find("question 0").unwrap() < stream(&third).find("bbb").unwrap());
    assert!(stream(&third).find("bbb").unwrap() < stream(&third).find("question 1").unwrap());
    assert!(third.reuse.unwrap().permille() > 900, "{:?}", third.reuse);
}

#[test]
fn x02_recalled_messages_stay_before_the_message_that_they_were_recalled_for() {
    let settings = settings(2_000);
    let recalled = |source: &str, content: &str| -> RankedChunk {
        ContextChunk::new(ChunkType::Turn, source, content)
            .with_band(ChunkBand::Appended)
            .with_trust(Trust::Remembered)
            .into()
    };
    let (a, b) = (recalled("message/1", "aaa"), recalled("message/2", "bbb"));
    let first = go(&turn(0), core::slice::from_ref(&a), &settings, None);
    let second = go(&turn(1), &[a, b], &settings, Some(&first));
    let third = go(&turn(2), &[], &settings, Some(&second));
    assert_eq!(third.ledger.epoch.renewed, None);
    let text = stream(&third);
    let places = ["aaa", "question 0", "answer 0", "bbb", "question 1"].map(|one| text.find(one));
    assert!(
        places.is_sorted() && places.iter().all(Option::is_some),
        "{text}"
    );
    assert_eq!(text.matches("aaa").count(), 1, "{text}");
    for (before, after) in [(&first, &second), (&second, &third)] {
        assert!(
            stream(after).starts_with(&stream(before)),
            "{}",
            stream(after)
        );
    }
}

#[test]
fn x02_nothing_is_appended_twice_by_any_strategy() {
    for strategy in [FitStrategy::Optimal, FitStrategy::Greedy] {
        let settings = settings(2_000).with_strategy(strategy);
        let chunks = [file("a.rs", "aaa", 900_000), file("b.rs", "bbb", 800_000)];
        let mut previous: Option<Assembly> = None;
        for number in 0..4 {
            let assembly = go(&turn(number), &chunks, &settings, previous.as_ref());
            assert_eq!(
                stream(&assembly).matches("aaa").count(),
                1,
                "{strategy:?} {number}"
            );
            previous = Some(assembly);
        }
    }
}

#[test]
fn x02_within_a_turn_everything_before_the_steps_is_frozen() {
    let settings = settings(3_000);
    let long = "remember ".repeat(200);
    let first = go(&turn(0), &[file("a.rs", "aaa", 900_000)], &settings, None);
    let chunks = [file("a.rs", "aaa", 900_000), fact("fact/1", &long)];
    let second = go(&turn(1), &chunks, &settings, Some(&first));
    assert!(stream(&second).contains("remember"));
    let mut step = turn(1);
    step.steps.push(Message::assistant("looking ".repeat(150)));
    // Even what is recalled anew waits for the next turn.
    let third = go(&step, &[fact("fact/2", "other")], &settings, Some(&second));
    assert_eq!(third.ledger.epoch.renewed, None);
    assert_eq!(
        (third.ledger.epoch.regret, third.kept.len()),
        (0, second.kept.len())
    );
    assert!(stream(&third).contains("remember") && !stream(&third).contains("other"));
    assert_eq!(third.reuse.unwrap().permille(), 1_000);
    let next = go(
        &turn(2),
        &[fact("fact/2", "other")],
        &settings,
        Some(&third),
    );
    assert!(stream(&next).contains("other") && !stream(&next).contains("remember"));
}

#[test]
fn x02_what_is_for_one_turn_may_use_all_the_room() {
    let settings = settings(1_000);
    let first = go(&turn(0), &[], &settings, None);
    let large = fact("fact/large", &"recall ".repeat(350));
    let mut critical = large.clone();
    critical.chunk.priority = ContextPriority::Critical;
    for chunk in [large, critical] {
        let mut previous = first.clone();
        for number in 1..4 {
            previous = go(
                &turn(number),
                core::slice::from_ref(&chunk),
                &settings,
                Some(&previous),
            );
            assert_eq!(previous.ledger.epoch.renewed, None);
            assert!(stream(&previous).contains("recall"));
        }
    }
}

#[test]
fn x03_outdated_and_withdrawn_texts_have_their_line_and_the_present_one_is_shown() {
    let settings = settings(2_000);
    let chunks = [
        file("edit.rs", "version one", 900_000),
        file("gone.rs", "gone", 900_000),
    ];
    let first = go(&turn(0), &chunks, &settings, None);
    let second = go(
        &turn(1),
        &[file("edit.rs", "version two", 5)],
        &settings,
        Some(&first),
    );
    assert_eq!(second.ledger.epoch.renewed, None);
    assert!(
        stream(&second).contains("version two"),
        "what is shown is not left outdated"
    );
    let reasons: Vec<(&str, Reason)> = second
        .ledger
        .entries
        .iter()
        .map(|e| (e.source.as_str(), e.reason))
        .collect();
    assert_eq!(
        reasons,
        [
            ("edit.rs", Reason::Appended),
            ("edit.rs", Reason::Outdated),
            ("gone.rs", Reason::Kept),
        ]
    );
    let shown = second
        .ledger
        .entries
        .iter()
        .filter(|entry| entry.level.is_some())
        .count();
    assert_eq!(shown, second.kept.len());
}

#[test]
fn x02_a_shortened_history_leaves_what_stands_before_it() {
    let settings = settings(2_000);
    let chunks = [file("a.rs", "aaa", 900_000)];
    let first = go(&turn(0), &chunks, &settings, None);
    let second = go(&turn(1), &chunks, &settings, Some(&first));
    // What became relevant in the second turn stands among its messages.
    let more = [chunks[0].clone(), file("b.rs", "bbb", 900_000)];
    let third = go(&turn(2), &more, &settings, Some(&second));
    let appended = |assembly: &Assembly| {
        let mut kept = assembly.kept.iter();
        kept.find(|kept| kept.source == "b.rs")
            .and_then(|kept| kept.before)
    };
    assert_eq!(appended(&third), Some(turn(2).history.len()));

    let mut shortened = turn(3);
    shortened.history.drain(..2);
    let fourth = go(&shortened, &more, &settings, Some(&third));
    assert_eq!(fourth.ledger.epoch.renewed, None);
    assert_eq!(appended(&fourth), Some(shortened.history.len()));
    let before = |assembly: &Assembly| {
        let segments = assembly.segments.iter();
        let before = segments.take_while(|segment| segment.band < Band::History);
        before
            .map(|segment| segment.text.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(before(&fourth), before(&third));
    assert!(before(&fourth).concat().contains("aaa"));
}

#[test]
fn x02_every_reason_for_a_fresh_selection() {
    let settings = settings(2_000);
    let chunks = [file("a.rs", "aaa", 900_000)];
    let first = go(&turn(0), &chunks, &settings, None);
    let renewed = |draft: &Draft, settings: &AssemblySettings| {
        go(draft, &chunks, settings, Some(&first))
            .ledger
            .epoch
            .renewed
    };
    assert_eq!(renewed(&turn(1), &settings), None);

    let mut changed = turn(1);
    changed
        .injected
        .push(ContextMessage::system("k", "new rule"));
    assert_eq!(renewed(&changed, &settings), Some(Renewal::PrefixChanged));
    let other = AssemblySettings::new(OutputForm::Flat, Tokens(2_000));
    assert_eq!(renewed(&turn(1), &other), Some(Renewal::PrefixChanged));

    // There is room for one of two files, and the better one is not the one that stands.
    let large = |source: &str, ppm: u32| file(source, &source.repeat(50), ppm);
    let mut limited = settings.clone();
    limited.chunk_limit = Some(Tokens(70));
    let standing = go(&turn(1), &[large("a.rs", 90_000)], &limited, None);
    let better = [large("a.rs", 90_000), large("b.rs", 900_000)];
    let compacted = go(&turn(0), &better, &limited, Some(&standing));
    assert_eq!(
        compacted.ledger.epoch.renewed,
        Some(Renewal::HistoryChanged)
    );

    let mut forgotten = turn(1);
    forgotten.retracted.push(chunks[0].chunk.id.clone());
    let after = go(&forgotten, &[], &settings, Some(&first));
    assert_eq!(after.ledger.epoch.renewed, Some(Renewal::Retracted));
    assert!(!stream(&after).contains("aaa"));

    let mut grown = turn(1);
    grown.history[1] = Message::assistant("long ".repeat(1_580));
    assert_eq!(renewed(&grown, &settings), Some(Renewal::NoRoom));

    let mut impatient = settings.clone();
    impatient.patience_permille = 0;
    let better = [
        file("a.rs", "aaa", 15_000),
        file("b.rs", &"b".repeat(7_600), 900_000),
    ];
    let third = go(&turn(1), &better, &impatient, Some(&first));
    assert_eq!(third.ledger.epoch.renewed, Some(Renewal::Regret));
}

/// A few turns with chunks that come, go and change.
fn turns() -> impl Strategy<Value = Vec<Vec<RankedChunk>>> {
    let chunk = (
        "[a-c]{1}",
        "[xyz ]{1,200}",
        0u32..1_000_000,
        0..5usize,
        any::<bool>(),
    )
        .prop_map(|(source, content, ppm, priority, is_volatile)| {
            let mut chunk = file(&source, &content, ppm);
            chunk.chunk.priority = ContextPriority::ALL[priority];
            if is_volatile {
                chunk.chunk.band = ChunkBand::Volatile;
            }
            chunk
        });
    prop::collection::vec(prop::collection::vec(chunk, 0..6), 2..6)
}

proptest! {
    #[test]
    fn x02_over_turns_budget_ledger_and_order_hold(
        turns in turns(), budget in 120u32..700, form in 0..OutputForm::ALL.len(), limit in prop::option::of(20u32..200),
        greedy in any::<bool>(),
    ) {
        let mut settings = AssemblySettings::new(OutputForm::ALL[form], Tokens(budget));
        settings.chunk_limit = limit.map(Tokens);
        if greedy {
            settings = settings.with_strategy(FitStrategy::Greedy);
        }
        let mut previous: Option<Assembly> = None;
        for (number, chunks) in turns.into_iter().enumerate() {
            let draft = turn(number);
            let epoch = previous.as_ref().map(|previous| &previous.epoch);
            let mut reversed = chunks.clone();
            reversed.reverse();
            let one = assemble(&draft, chunks, &settings, &Quarters, epoch);
            let other = assemble(&draft, reversed, &settings, &Quarters, epoch);
            prop_assert_eq!(&one, &other);
            match one {
                Ok(assembly) => {
                    prop_assert!(assembly.tokens <= Tokens(budget));
                    let shown = assembly.ledger.entries.iter().filter(|entry| entry.level.is_some()).count();
                    prop_assert_eq!(shown, assembly.kept.len());
                    let texts: Vec<&String> = assembly.kept.iter().map(|kept| &kept.text).collect();
                    for kept in &assembly.kept {
                        let twice = assembly.kept.iter().filter(|other| (&other.id, &other.text) == (&kept.id, &kept.text));
                        prop_assert_eq!(twice.count(), 1, "{:?}", texts);
                    }
                    previous = Some(assembly);
                }
                Err(AssembleError::FixedOverBudget { .. } | AssembleError::CriticalOverBudget { .. }) => {}
                Err(other) => prop_assert!(false, "{other}"),
            }
        }
    }
}
