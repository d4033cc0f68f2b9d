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

#[test]
fn x06_answers_that_a_client_writes_anew_are_learned_once() {
    for headers in [&[][..], &[("x-kitbag-conversation", "garden")]] {
        let proxy = Proxy::answering("", |request| {
            let newest = request.rsplit_once("question ").unwrap().1;
            let (number, _) = newest.split_once('"').unwrap();
            let answer = format!("<think>hm {number}</think>In answer {number}.");
            Reply::stream(&CHAT.replace("In \"", "\"").replace("Porto.", &answer))
        });
        for newest in 1..=4 {
            ask(&proxy, headers, &window(1, newest));
        }
        let exported = proxy.exported();
        for number in 1..=4 {
            for text in [
                format!("In answer {number}.\""),
                format!("\"text\":\"question {number}\""),
            ] {
                assert_eq!(exported.matches(&text).count(), 1, "{text} {exported}");
            }
        }
    }
}

#[test]
fn x06_two_chats_that_begin_alike_are_two() {
    let proxy = Proxy::answering("", |request| {
        Reply::stream(match request.matches("\"role\"").count() {
            1 => CHAT,
            _ => {
                "data: {\"choices\":[{\"delta\":{\"content\":\"Noted.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
            }
        })
    });
    let hi = ["Hi", "In Porto."];
    proxy.say(&[], "Hi");
    proxy.post(PATH, &[], &chat(&[&hi[..], &[SAID]].concat()));
    proxy.wait_for(SAID);
    proxy.post(PATH, &[], &chat(&hi[..1]));
    let second = [&hi[..], &[ASKED]].concat();
    let (answer, arrived) = proxy.post(PATH, &[], &chat(&second));
    // The first chat is another one, whose memory the second one may have.
    assert_eq!(answer.header("x-kitbag-memory"), Some("added"));
    assert!(block(&arrived).contains("fly.io"), "{arrived}");
    proxy.wait_for(ASKED);
    proxy.post(
        PATH,
        &[],
        &chat(&[&second[..], &["Noted.", "Thanks a lot."]].concat()),
    );
    proxy.wait_for("Thanks a lot.");
    let exported = proxy.exported();
    let lines = exported
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let place = |text: &str| {
        let mut found = lines.iter().filter(|it| it["text"] == text);
        let place = found.next().unwrap()["conversation"].clone();
        assert!(found.next().is_none(), "{text}: {exported}");
        place
    };
    assert_eq!(place("Hi"), place(SAID));
    assert_ne!(place(ASKED), place(SAID), "{exported}");
    assert_eq!(place("Thanks a lot."), place(ASKED), "{exported}");
}

#[test]
fn x06_the_same_words_are_learned_each_time_where_a_provider_keeps_the_history() {
    let mut count = 0;
    let proxy = Proxy::answering("", move |_| {
        count += 1;
        let text =
            json!({"type": "output_text", "text": format!("Part {count}."), "annotations": []});
        let item = json!({"type": "message", "id": "i", "status": "completed", "role": "assistant",
            "content": [text]});
        let answer = json!({"id": format!("resp_{count}"), "object": "response", "status": "completed",
            "model": "m", "output": [item]});
        Reply::whole(&answer.to_string())
    });
    let said = [
        "Tell me of the bees.",
        "Continue.",
        "Continue.",
        "Continue.",
    ];
    for (number, words) in said.into_iter().enumerate() {
        let body = json!({"model": "m", "conversation": "conv_1", "input": words});
        proxy.post("/v1/responses", &[], &body);
        proxy.wait_for(&format!("\"Part {}.\"", number + 1));
    }
    assert_eq!(
        proxy.exported().matches("\"text\":\"Continue.\"").count(),
        3
    );
    // The same by the name of the answer before. One that is sent again is the same.
    let named = [("x-kitbag-conversation", "story")];
    for (number, before) in [(5, 0), (6, 5), (7, 6), (8, 6)] {
        let mut body = json!({"model": "m", "input": "Go on."});
        if before > 0 {
            body["previous_response_id"] = format!("resp_{before}").into();
        }
        proxy.post("/v1/responses", &named, &body);
        proxy.wait_for(&format!("\"Part {number}.\""));
    }
    let exported = proxy.exported();
    assert_eq!(
        exported.matches("\"text\":\"Go on.\"").count(),
        3,
        "{exported}"
    );
    assert_eq!(
        exported.matches("\"text\":\"Part ").count(),
        7,
        "{exported}"
    );
}

#[test]
fn x06_a_request_that_is_sent_several_times_at_once_keeps_one_answer() {
    let mut count = 0;
    let proxy = Proxy::answering("", move |_| {
        count += 1;
        Reply::stream(&CHAT.replace("Porto.", &format!("place {count}.")))
    });
    let named = [("x-kitbag-conversation", "c")];
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                proxy
                    .server
                    .post(PATH, &named, &chat(&["Where?"]).to_string())
            });
        }
    });
    proxy.wait_for("Where?");
    assert_eq!(proxy.server.stop().code, Some(0));
    let export = ["--store", "sqlite:memory.db", "memory", "export"];
    let exported = proxy.folder.run(&export).success();
    assert_eq!(
        exported.matches("\"text\":\"In place ").count(),
        1,
        "{exported}"
    );
    assert_eq!(
        exported.matches("\"text\":\"Where?\"").count(),
        1,
        "{exported}"
    );
}
