//! Upstreams that fail in every way: each ends in a clear error, nothing hangs, the message is kept
//! once, and the key is nowhere.

use super::key::assert_key_is_nowhere;
use super::upstream::{self, Reply, Upstream};
use super::{KEY, ask_served, served, served_within};
use crate::run::Folder;

/// A fault, what is told of it, and how many requests it takes.
type Case = (Vec<Reply>, &'static str, usize);

#[test]
fn o07_faults_of_anthropic_end_in_a_clear_error_and_the_key_is_nowhere() {
    let whole = upstream::ANTHROPIC;
    let error = r#"{"type":"error","error":{"type":"odd","message":"KEY"}}"#;
    faults("anthropic", whole, before(whole, "event: end"), error);
}

#[test]
fn o07_faults_of_chat_completions_end_in_a_clear_error_and_the_key_is_nowhere() {
    let whole = upstream::CHAT;
    let error = r#"{"error":{"type":"odd","message":"KEY"}}"#;
    faults(
        "openai",
        whole,
        before(whole, r#"data: {"choices":[{"delta":{"content":"Porto."#),
        error,
    );
}

#[test]
fn o07_faults_of_responses_end_in_a_clear_error_and_the_key_is_nowhere() {
    let whole = upstream::RESPONSES;
    let error = r#"{"type":"error","error":{"type":"odd","message":"KEY"}}"#;
    faults(
        "responses",
        whole,
        before(whole, r#"data: {"type":"response.completed"#),
        error,
    );
}

#[test]
fn o07_a_cut_stream_keeps_its_usage() {
    let begun = before(upstream::ANTHROPIC, "event: end");
    for reply in [Reply::stream(begun), Reply::torn(begun)] {
        let upstream = Upstream::start(vec![reply]);
        let folder = served(&upstream, "anthropic");
        let output = ask_served(&folder, "Where are the bees?", &["--json"]);
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(
            output.stderr.contains("90 tokens in, 64 cached"),
            "{output:?}"
        );
        let report: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(report["usage"]["input"], 90, "{report}");
        assert_eq!(report["text"], "In Porto.", "{report}");
    }
}

#[test]
fn o07_reasoning_alone_is_no_answer_and_does_not_poison_the_conversation() {
    let thought = before(
        upstream::ANTHROPIC,
        r#"data: {"type":"content_block_delta","index":1"#,
    );
    let cut = "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"},\
               \"usage\":{\"output_tokens\":7}}\n\ndata: {\"type\":\"message_stop\"}\n\n";
    let replies = vec![
        Reply::stream(&format!("{thought}{cut}")),
        Reply::stream(upstream::ANTHROPIC),
    ];
    let upstream = Upstream::start(replies);
    let folder = served(&upstream, "anthropic");
    let failed = ask_served(&folder, "Where are the bees?", &[]);
    let told = &failed.stderr;
    assert!(
        told.contains("the model reasoned and then said nothing: it ended with `max_tokens`"),
        "{told}"
    );
    assert!(told.contains("90 tokens in, 64 cached, 7 out"), "{told}");
    assert!(told.contains("hint: `request: {max_tokens: …}`"), "{told}");
    assert_eq!(failed.code, Some(1), "{told}");
    let record = folder.run(&["--store", "sqlite:memory.db", "memory", "history", "1.1.1"]);
    assert!(record.success().contains("7 out"), "the usage is kept");
    ask_served(&folder, "And now?", &[]).success();
    let [_, again] = &upstream.bodies()[..] else {
        panic!("two asks are two requests");
    };
    assert!(again.contains("Where are the bees?"), "{again}");
    assert!(!again.contains(r#""role":"assistant""#), "{again}");
}

fn faults(kind: &str, whole: &str, begun: &str, error: &str) {
    let error = format!("data: {}\n\n", error.replace("KEY", KEY));
    for (replies, told, requests) in cases(whole, begun, &error) {
        // Where something is to come it may take its time.
        let folder = |upstream: &Upstream| match told.contains(" within ") {
            true => served_within(&upstream.address(), kind, "first_byte: 2s, idle: 300ms"),
            false => served(upstream, kind),
        };
        let upstream = Upstream::start(replies);
        let folder = folder(&upstream);
        let output = ask_served(&folder, "Where are the bees?", &[]);
        let printed = format!("{}{}", output.stdout, output.stderr);
        assert!(printed.contains(told), "{told}: {printed}");
        assert!(!printed.contains("panicked"), "{printed}");
        assert_eq!(output.code == Some(0), told == "In Porto.", "{printed}");
        assert_eq!(upstream.requests().len(), requests, "{told}");
        assert_eq!(times_kept(&folder, "Where are the bees?"), 1, "{told}");
        assert_key_is_nowhere(&folder, &output);
    }
}

fn cases(whole: &str, begun: &str, error: &str) -> Vec<Case> {
    let echo = format!(r#"{{"error":{{"message":"wrong key {KEY}"}}}}"#);
    let again = || Reply::status(500, "retry-after: 0\r\n", "oh no");
    let slow = Reply::status(429, "retry-after: 0\r\n", "slow down");
    let later = Reply::status(429, "retry-after: 900\r\n", "later");
    let cut = "the answer was cut off";
    vec![
        (vec![slow, Reply::stream(whole)], "In Porto.", 2),
        (vec![Reply::Drop, Reply::stream(whole)], "In Porto.", 2),
        (vec![again(), again(), again()], "answered 500: oh no", 3),
        (vec![later], "wait 900 s", 1),
        (
            vec![Reply::status(401, "", &echo)],
            "answered 401: wrong key [key]",
            1,
        ),
        (vec![Reply::stream(begun)], cut, 1),
        (vec![Reply::torn(begun)], cut, 1),
        (
            vec![Reply::Silent(begun.to_owned())],
            "nothing more came within 0.300 s",
            1,
        ),
        (
            vec![Reply::Silent(String::new())],
            "no answer within 2 s",
            1,
        ),
        (
            vec![Reply::stream("data: {nonsense\n\n")],
            "the answer cannot be read",
            1,
        ),
        (vec![Reply::stream("<html>busy</html>\n\n")], cut, 1),
        (
            vec![Reply::stream(error)],
            "the provider broke off: odd: [key]",
            1,
        ),
    ]
}

/// The part of a stream before a mark.
fn before<'a>(stream: &'a str, mark: &str) -> &'a str {
    stream.split_at(stream.find(mark).unwrap()).0
}

/// The number of messages with this text that the store has.
fn times_kept(folder: &Folder, text: &str) -> usize {
    let args = ["--store", "sqlite:memory.db", "memory", "export"];
    folder.run(&args).success().matches(text).count()
}
