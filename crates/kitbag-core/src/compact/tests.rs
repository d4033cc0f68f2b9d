//! Tests of compaction: what survives, what is refused, and that it does not go on for ever.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::history::HistoryRoom;
use crate::message::{Message, ToolCall};
use crate::role::{Role, Visibility};
use crate::tokens::{Characters, TokenCounter, Tokens};

fn said(message: &Message) -> String {
    message.content.text().into_owned()
}

fn room(tokens: u32) -> HistoryRoom {
    HistoryRoom {
        tokens: Tokens(tokens),
        messages: 1_000,
    }
}

/// The compaction by rules of a history.
fn compacted(
    history: &[Message],
    before: &Compaction,
    tokens: u32,
) -> Result<Compaction, CompactionRefused> {
    let plan = plan(history, before, room(tokens), &said, &Characters)?;
    let through = before.through + plan.split as u32;
    let summary = plan.extract(&Characters);
    plan.compact(history, through, &summary, &said, &Characters)
}

/// Exchanges with long answers.
fn talk(questions: &[&str]) -> Vec<Message> {
    let answer =
        "The garden has many beds, and each of them wants water in the evening. ".repeat(9);
    let exchange = |question: &&str| [Message::user(*question), Message::assistant(&*answer)];
    questions.iter().flat_map(exchange).collect()
}

fn call(id: &str) -> ToolCall {
    let json = format!(r#"{{"id":"{id}","name":"search","arguments":{{"q":"beds"}}}}"#);
    serde_json::from_str(&json).unwrap()
}

#[test]
fn a10_what_the_user_said_survives() {
    let long = format!(
        "Here is how we work. {} Never water at noon. {}",
        "It was a long year with much rain and little sun, as everybody knows. ".repeat(4),
        "The neighbours said much the same of their own beds and of the weather. ".repeat(4),
    );
    let mut history = talk(&["Call me Ines.", &long, "Only metric units."]);
    history.extend(talk(&["And now?", "And then?", "What else?"]));
    let compaction = compacted(&history, &Compaction::default(), 4_000).unwrap();
    let text = compaction.text();
    for words in [
        "Call me Ines.",
        "Never water at noon.",
        "Only metric units.",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(text.starts_with("The first "), "{text}");
    assert!(Characters.count(&text) <= Tokens(1_000));
}

#[test]
fn a10_instructions_open_questions_and_open_calls_survive() {
    let mut history = vec![Message::new(Role::System, "Answer in Portuguese.")];
    history.extend(talk(&["Hello."]));
    history.push(Message::user("Is the shed locked?"));
    history.push(Message::user("Water the roses."));
    history.push(Message::assistant("").with_tool_calls(vec![call("c1"), call("c2")]));
    history.push(Message::tool("c1", "done"));
    history.extend(talk(&["Go on."]));
    history.push(Message::user("What about the hedge?"));
    history.push(Message::assistant("It is tall. Shall I cut it?"));
    history.push(Message::user("Yes."));
    history.push(Message::assistant("x".repeat(1_250)));
    let before = Compaction::default();
    let compaction = compacted(&history, &before, 2_600).unwrap();
    assert_eq!(compaction.messages, 11);
    assert_eq!(compaction.instructions.len(), 1);
    assert_eq!(compaction.asked.as_deref(), Some("Shall I cut it?"));
    let calls: Vec<&str> = compaction
        .calls
        .iter()
        .map(|call| call.id.as_str())
        .collect();
    assert_eq!(calls, ["c2"]);
    let shed = compaction.words.iter();
    let mut shed = shed.filter(|words| words.text == "Is the shed locked?");
    assert!(shed.next().is_some_and(|words| words.binding));
    // A result that comes later closes the call.
    let mut later = talk(&["So?"]);
    later.insert(1, Message::tool("c2", "done"));
    later.extend(talk(&["a", "b", "c"]));
    assert_eq!(compacted(&later, &compaction, 2_400).unwrap().calls, []);
}

#[test]
fn a10_the_exchange_that_has_just_ended_stays() {
    // It takes more than the three eighths that stay.
    let mut history = talk(&["Hello.", "Go on."]);
    history.push(Message::user("Tell me all."));
    history.push(Message::assistant("x".repeat(1_500)));
    let before = Compaction::default();
    let plan_of = |history: &[Message]| plan(history, &before, room(2_400), &said, &Characters);
    assert_eq!(plan_of(&history).unwrap().split, 4);
    // So it does with an instruction behind it.
    history.push(Message::new(Role::System, "Be brief."));
    assert_eq!(plan_of(&history).unwrap().split, 4);
    let alone = plan_of(&history[4..]);
    assert_eq!(alone.unwrap_err(), CompactionRefused::NothingOlder);
}

#[test]
fn a10_a_call_is_never_parted_from_a_result_that_came_late() {
    let mut history = talk(&["Hello.", "Look it up."]);
    history.push(Message::assistant("").with_tool_calls(vec![call("late")]));
    history.extend(talk(&["Meanwhile?", "And?"]));
    history.push(Message::tool("late", "found"));
    let plan = plan(
        &history,
        &Compaction::default(),
        room(2_000),
        &said,
        &Characters,
    );
    assert_eq!(plan.unwrap().split, 2, "the call stays with its result");
}

#[test]
fn a10_a_summary_that_cannot_be_taken_is_refused() {
    let history = talk(&["One.", "Two.", "Three.", "Four."]);
    let plan = plan(
        &history,
        &Compaction::default(),
        room(2_800),
        &said,
        &Characters,
    )
    .unwrap();
    let compact = |summary: &str| plan.compact(&history, 4, summary, &said, &Characters);
    assert_eq!(compact(" "), Err(CompactionRefused::EmptySummary));
    let long = compact(&"x".repeat(500));
    assert!(
        matches!(long, Err(CompactionRefused::LongSummary { .. })),
        "{long:?}"
    );
    let mut other = history.clone();
    other[0] = Message::user("Something that nobody planned for.");
    let lost = plan.compact(&other, 4, "They counted.", &said, &Characters);
    let what = "what the user said";
    assert_eq!(lost, Err(CompactionRefused::Lost { what }));
    assert!(compact("They counted.").is_ok());
}

#[test]
fn a10_a_history_that_was_not_planned_for_is_refused() {
    let history = talk(&["One.", "Two.", "Three.", "Four."]);
    let plan = plan(
        &history,
        &Compaction::default(),
        room(2_000),
        &said,
        &Characters,
    )
    .unwrap();
    let summary = plan.extract(&Characters);
    let refused = plan.compact(&history[..1], 1, &summary, &said, &Characters);
    let what = "messages that the plan was made of";
    assert_eq!(refused, Err(CompactionRefused::Lost { what }));
}

#[test]
fn a10_what_frees_too_little_is_refused_and_not_tried_again_at_once() {
    // Words of the user that may not be cut leave nothing to gain.
    let rules: Vec<String> = (0..12)
        .map(|number| format!("Never plant number {number} beside the old wall of the house."))
        .collect();
    let history: Vec<Message> = rules
        .iter()
        .map(|rule| Message::user(rule.as_str()))
        .collect();
    let refused = compacted(&history, &Compaction::default(), 700).unwrap_err();
    assert!(
        matches!(refused, CompactionRefused::TooLong { .. }),
        "{refused:?}"
    );
    let kept = Compaction::default().refused(12, refused.to_string());
    assert!(!kept.may_try(12 + GROWTH - 1));
    assert!(kept.may_try(12 + GROWTH));
    let short = talk(&["One."]);
    let nothing = compacted(&short, &Compaction::default(), 4_000);
    assert_eq!(nothing, Err(CompactionRefused::NothingOlder));
}

#[test]
fn a10_older_words_make_room_for_new_ones_unless_they_bind() {
    let mut compaction = Compaction::default();
    for round in 0..12 {
        let questions: Vec<String> = (0..8)
            .map(|number| match (round, number) {
                (0, 0) => "Never use the blue can.".to_owned(),
                _ => format!("Tell me of bed {number} in year {round}, please."),
            })
            .collect();
        let questions: Vec<&str> = questions.iter().map(String::as_str).collect();
        compaction = compacted(&talk(&questions), &compaction, 6_000).unwrap();
        assert!(Characters.count(&compaction.text()) <= Tokens(1_500));
    }
    let text = compaction.text();
    assert!(text.contains("Never use the blue can."), "{text}");
    assert!(compaction.unlisted > 0, "{text}");
    assert!(text.contains("earlier messages)"), "{text}");
}

#[test]
fn a10_internal_messages_stay_out_of_compactions() {
    let mut history = talk(&["Hello.", "Go on.", "And?"]);
    history[0] = Message::user("For the model alone.").with_visibility(Visibility::Internal);
    let compaction = compacted(&history, &Compaction::default(), 2_400).unwrap();
    assert!(
        !compaction.text().contains("alone"),
        "{}",
        compaction.text()
    );
}

/// Messages of all kinds, with calls that have results or none.
fn histories() -> impl Strategy<Value = Vec<Message>> {
    let sentence = prop::sample::select(vec![
        "I never eat fish.",
        "Thanks!",
        "Is it done?",
        "We have to leave at 7.",
        "The river was high and the boats lay on the bank all day long.",
        "Always answer in Dutch.",
        "Good.",
    ]);
    let text = prop::collection::vec(sentence, 1..9).prop_map(|all| all.join(" "));
    let message = (0..10_u8, text, 0..6_u8).prop_map(|(kind, text, id)| match kind {
        0 => Message::new(Role::System, text),
        1 => Message::assistant("").with_tool_calls(vec![call(&format!("c{id}"))]),
        2 => Message::tool(format!("c{id}"), text),
        3 => Message::user(text).with_visibility(Visibility::Internal),
        4..=6 => Message::assistant(text),
        _ => Message::user(text),
    });
    prop::collection::vec(message, 0..60)
}

proptest! {
    #[test]
    fn a10_a_compaction_keeps_all_that_must_survive(
        history in histories(),
        tokens in 200..6_000_u32,
    ) {
        let before = Compaction::default();
        let Ok(plan) = plan(&history, &before, room(tokens), &said, &Characters) else {
            return Ok(());
        };
        let summary = plan.extract(&Characters);
        let made = plan.compact(&history, 1, &summary, &said, &Characters);
        let Ok(compaction) = made else {
            return Ok(());
        };
        let (part, rest) = history.split_at(plan.split);
        prop_assert!(rest.iter().any(|one| one.role == Role::User), "the latest exchange stays");
        let text = compaction.text();
        prop_assert!(Characters.count(&text) <= Tokens(tokens / 4));
        let cost: usize = part.iter().map(|message| said(message).chars().count()).sum();
        prop_assert!(cost + part.len() * 40 > text.chars().count(), "it frees something");
        for message in part {
            let words = said(message);
            let is_told = message.role == Role::User && message.is_for_user();
            if is_told && words.chars().count() <= 48 {
                let listed = compaction.words.iter().any(|kept| kept.text == words.trim());
                prop_assert!(listed, "{words}: {text}");
            }
            for rule in ["I never eat fish.", "We have to leave at 7.", "Always answer in Dutch."] {
                if is_told && words.contains(rule) {
                    prop_assert!(text.contains(rule), "{rule}: {text}");
                }
            }
            if message.role == Role::System {
                prop_assert!(compaction.instructions.contains(message));
            }
            for open in message.calls() {
                let id = Some(open.id.as_str());
                let mut results = history.iter().filter(|one| one.tool_call_id.as_deref() == id);
                let is_open = results.next().is_none();
                let is_kept = compaction.calls.iter().any(|kept| kept.id == open.id);
                prop_assert_eq!(is_open, is_kept);
                let parted = rest.iter().any(|one| one.tool_call_id.as_deref() == id);
                prop_assert!(!parted, "a call is parted from its result");
            }
        }
    }
}

#[test]
fn a10_a_conversation_full_of_rules_can_be_compacted_for_ever() {
    let mut before = Compaction::default();
    let mut rule = 0;
    for round in 0..40 {
        let rules: Vec<String> = (0..8)
            .map(|_| {
                rule += 1;
                format!("You must never touch bed {rule} before the bell has rung twice.")
            })
            .collect();
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        let history = talk(&rules);
        let made = compacted(&history, &before, 4_000);
        let made = made.unwrap_or_else(|refused| panic!("round {round}: {refused}"));
        assert!(
            Characters.count(&made.text()) <= Tokens(1_000),
            "round {round}"
        );
        before = made;
    }
    let text = before.text();
    assert!(text.contains("earlier messages)"), "{text}");
    assert!(!text.contains("bed 1 before"), "{text}");
}
