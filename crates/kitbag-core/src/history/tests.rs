//! Tests of the policy that shortens histories.

use alloc::format;
use alloc::string::ToString;
use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::assembly::{Assembly, AssemblySettings, Draft, OutputForm, assemble};
use crate::content::Content;
use crate::message::ToolCall;
use crate::tokens::Characters;

fn said(message: &Message) -> String {
    message.content.text().into_owned()
}

fn room(tokens: u32) -> HistoryRoom {
    HistoryRoom {
        tokens: Tokens(tokens),
        messages: 50,
    }
}

/// Messages of 100 characters by user and assistant in turn, each of which names its number.
fn talk(count: usize) -> Vec<Message> {
    let text = |number: usize| {
        format!(
            "Message {number:03} is about the garden. {}",
            "x".repeat(65)
        )
    };
    (0..count)
        .map(|number| match number % 2 {
            0 => Message::user(text(number)),
            _ => Message::assistant(text(number)),
        })
        .collect()
}

fn shown(short: &ShortHistory) -> Vec<String> {
    let text = |message: &Message| said(message).chars().take(11).collect();
    short.messages.iter().map(text).collect()
}

#[test]
fn c12_a_history_that_fits_stays_as_it_is() {
    let short = shorten(talk(4), 0, room(1_000), None, &said, &Characters);
    assert_eq!(short.messages, talk(4));
    assert_eq!((short.earlier, short.problem), (None, None));
}

#[test]
fn c12_the_newest_messages_stand_without_a_gap_and_the_others_are_counted() {
    let short = shorten(talk(40), 10, room(700), None, &said, &Characters);
    assert_eq!(
        shown(&short),
        [
            "Message 034",
            "Message 035",
            "Message 036",
            "Message 037",
            "Message 038",
            "Message 039"
        ]
    );
    let earlier = short.earlier.unwrap();
    assert_eq!(earlier.priority, ContextPriority::Critical);
    let line = earlier.levels.last().unwrap();
    assert_eq!(line.level, Detail::Line);
    assert_eq!(
        line.content,
        "44 earlier messages of this conversation are not shown"
    );
    // Each level tells of the newest of them, the next of fewer.
    let told = |level: &Level, number: &str| level.content.contains(number);
    let [most, .., least, _] = earlier.levels.as_slice() else {
        panic!("{:?}", earlier.levels)
    };
    assert!(
        told(most, "Message 01") && told(most, "Message 03"),
        "{most:?}"
    );
    assert!(
        !told(least, "Message 01") && told(least, "Message 03"),
        "{least:?}"
    );
    assert_eq!(
        short.problem.unwrap().to_string(),
        "history: 44 of 50 messages are not shown word for word"
    );
}

#[test]
fn c12_a_message_without_room_is_counted_too() {
    let short = shorten(talk(1), 0, room(50), None, &said, &Characters);
    assert_eq!(short.messages, []);
    let line = short.earlier.unwrap().levels.pop().unwrap().content;
    assert_eq!(line, "1 earlier message of this conversation is not shown");
}

#[test]
fn c12_a_history_never_begins_with_the_result_of_a_call() {
    let call = ToolCall {
        id: "c1".into(),
        name: "read".into(),
        arguments: Default::default(),
    };
    let mut history = talk(2);
    history.push(Message::assistant("x".repeat(90)).with_tool_calls(vec![call]));
    history.push(Message::tool("c1", "the result"));
    history.push(Message::assistant("read"));
    history.push(Message::user("and now?"));
    let short = shorten(history, 0, room(60), None, &said, &Characters);
    assert_eq!(short.messages, [Message::user("and now?")]);
}

/// The assembly of a turn whose history was shortened.
fn turn(history: &[Message], budget: u32, previous: Option<&Assembly>) -> (ShortHistory, Assembly) {
    let previous = previous.map(|assembly| &assembly.epoch);
    let room = room(budget / 2);
    let short = shorten(history.to_vec(), 0, room, previous, &said, &Characters);
    let mut draft = Draft::new(format!("Question {}", history.len()));
    draft.history.clone_from(&short.messages);
    let chunks = short.earlier.clone().into_iter().map(Into::into).collect();
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(budget));
    let assembly = assemble(&draft, chunks, &settings, &Characters, previous).unwrap();
    (short, assembly)
}

#[test]
fn x02_the_beginning_of_a_history_moves_rarely() {
    let mut history = Vec::new();
    let mut starts = Vec::new();
    let mut previous: Option<Assembly> = None;
    for number in 0..60 {
        let (short, assembly) = turn(&history, 4_000, previous.as_ref());
        starts.push(short.messages.first().map(said));
        assert_eq!(
            assembly.body.contains("are not shown"),
            short.earlier.is_some()
        );
        history.push(Message::user(format!("Question {}", history.len())));
        history.push(Message::assistant(format!(
            "Answer {number:03}. {}",
            "y".repeat(60)
        )));
        previous = Some(assembly);
    }
    let moved = starts.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!((2..=6).contains(&moved), "{moved} of 60: {starts:?}");
}

proptest! {
    #[test]
    fn c12_nothing_leaves_without_being_counted(
        count in 0..80_usize, unread in 0..20_usize, tokens in 0..9_000_u32, messages in 0..60_usize,
    ) {
        let room = HistoryRoom { tokens: Tokens(tokens), messages };
        let short = shorten(talk(count), unread, room, None, &said, &Characters);
        let left_out = count + unread - short.messages.len();
        prop_assert!(short.messages.len() <= messages);
        let all = talk(count);
        prop_assert_eq!(&short.messages[..], &all[count - short.messages.len()..]);
        let told = short.earlier.map(|chunk| chunk.levels.last().unwrap().content.clone());
        let number = told.map_or(0, |line| line.split(' ').next().unwrap().parse().unwrap());
        prop_assert_eq!(number, left_out);
    }
}

fn turn_of(history: Vec<Message>, budget: u32, previous: Option<&Epoch>) -> Assembly {
    let mut draft = Draft::new("and now?");
    draft.history = history;
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(budget));
    assemble(&draft, Vec::new(), &settings, &Characters, previous).unwrap()
}

#[test]
fn c12_a_history_that_was_cut_for_a_small_prompt_grows_again() {
    let small = shorten(talk(20), 0, room(500), None, &said, &Characters);
    assert!(small.messages.len() < 6);
    let epoch = turn_of(small.messages.clone(), 5_000, None).epoch;
    let next = |tokens: u32| {
        let mut history = talk(20);
        history.extend([Message::user("and now?"), Message::assistant("Yes.")]);
        shorten(history, 0, room(tokens), Some(&epoch), &said, &Characters)
    };
    // It stays as it is while it takes more than a quarter of its room.
    assert_eq!(next(1_000).messages.len(), small.messages.len() + 2);
    assert_eq!(next(20_000).messages.len(), 22);
    assert_eq!(next(20_000).problem, None);
    let grown = next(3_500).messages.len();
    assert!((small.messages.len() + 3..22).contains(&grown), "{grown}");
}

#[test]
fn c12_a_prompt_without_the_history_says_nothing_about_it() {
    let node = turn_of(Vec::new(), 5_000, None).epoch;
    let mut history = talk(6);
    history.extend([Message::user("and now?"), Message::assistant("Yes.")]);
    let short = shorten(
        history.clone(),
        0,
        room(5_000),
        Some(&node),
        &said,
        &Characters,
    );
    assert_eq!(short.messages, history);
}

#[test]
fn c12_a_picture_takes_the_tokens_of_a_picture() {
    let data = "A".repeat(80_000);
    let json = format!(
        r#"[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}]"#
    );
    let picture = Message::user(serde_json::from_str::<Content>(&json).unwrap());
    let cost = message_cost(&picture, &Characters);
    assert!((1_600..2_000).contains(&cost.0), "{cost}");
}
