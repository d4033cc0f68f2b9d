//! Clients that leave old messages out, write them anew or send odd ones: each message is learned once.

use serde_json::{Value, json};

use super::memory::{ASKED, Proxy, SAID, block, chat};
use crate::ask::upstream::{CHAT, Reply};

const PATH: &str = "/v1/chat/completions";

/// A client that sends what it says and the answers with numbers.
fn numbered() -> Proxy {
    Proxy::answering("", |request| {
        let newest = request.rsplit_once("question ").unwrap().1;
        let (number, _) = newest.split_once('"').unwrap();
        Reply::stream(&CHAT.replace("Porto.", &format!("answer {number}.")))
    })
}

/// The messages of a conversation from one on to a question.
fn window(from: usize, to: usize) -> Vec<String> {
    let all = (1..=to).flat_map(|n| [format!("question {n}"), format!("In answer {n}.")]);
    all.take(2 * to - 1).skip(2 * (from - 1)).collect()
}

fn ask(proxy: &Proxy, headers: &[(&str, &str)], said: &[String]) {
    let said: Vec<&str> = said.iter().map(String::as_str).collect();
    proxy.post(PATH, headers, &chat(&said));
    let last = said.last().unwrap().replace("question", "In answer");
    proxy.wait_for(&format!("{last}."));
}

#[track_caller]
fn each_once(proxy: &Proxy, texts: usize) -> Vec<Value> {
    let exported = proxy.exported();
    for number in 1..=texts {
        for text in [
            format!("\"text\":\"question {number}\""),
            format!("\"text\":\"In answer {number}.\""),
        ] {
            assert_eq!(exported.matches(&text).count(), 1, "{text} {exported}");
        }
    }
    let lines = exported.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn x06_a_client_that_sends_its_latest_messages_is_learned_once() {
    for headers in [&[][..], &[("x-kitbag-conversation", "garden")]] {
        let proxy = numbered();
        ask(&proxy, headers, &window(1, 1));
        ask(&proxy, headers, &window(1, 2));
        for newest in 3..=6 {
            ask(&proxy, headers, &window(newest - 1, newest));
        }
        let kept = each_once(&proxy, 6);
        let mut conversations: Vec<&Value> = kept.iter().map(|it| &it["conversation"]).collect();
        conversations.dedup();
        assert_eq!(conversations.len(), 1, "{kept:?}");
    }
}

#[test]
fn x06_a_first_message_that_tells_the_time_makes_no_other_conversation() {
    let proxy = numbered();
    let named = [("x-kitbag-conversation", "garden")];
    for newest in 1..=4 {
        let mut said = window(1, newest);
        said.insert(0, "Hello.".to_owned());
        said.insert(0, format!("It is {newest} o'clock."));
        ask(&proxy, &named, &said);
    }
    each_once(&proxy, 4);
    // A history that a summary of the client replaced.
    let said = ["A summary of all that.".to_owned(), "Good.".to_owned()];
    ask(&proxy, &named, &[&said[..], &window(9, 9)].concat());
    let exported = proxy.exported();
    assert!(
        exported.contains("question 9") && !exported.contains("A summary of"),
        "{exported}"
    );
}

#[test]
fn x06_a_conversation_that_begins_with_a_coloured_log_is_learned() {
    let proxy = Proxy::new();
    proxy.post(PATH, &[], &chat(&["\u{1b}[31mred: where are the bees?"]));
    proxy.wait_for("red: where are the bees?");
    let exported = proxy.exported();
    assert!(exported.contains("In Porto."), "{exported}");
}

#[test]
fn x06_a_block_that_is_kept_too_late_is_sent_and_put_back() {
    let proxy = Proxy::within("2s", "", |_| Reply::stream(CHAT));
    proxy.say(&[], SAID);
    let file = proxy.folder.path().join("memory.db");
    let raw = rusqlite::Connection::open(file).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (answer, first) = proxy.post(PATH, &[], &chat(&[ASKED]));
    assert_eq!(answer.header("x-kitbag-memory"), Some("added"));
    assert!(block(&first).contains(SAID));
    raw.execute_batch("COMMIT").unwrap();
    // The answer is learned behind it.
    proxy.wait_for(ASKED);
    let mut said = chat(&[ASKED, "In Porto.", "Thanks."]);
    said["extra"] = json!(1);
    let (_, second) = proxy.post(PATH, &[], &said);
    let end = first.find(ASKED).unwrap() + ASKED.len();
    let same = first.find("[{").unwrap();
    let place = second.find("[{").unwrap();
    assert_eq!(first.get(same..end), second.get(place..place + end - same));
}
