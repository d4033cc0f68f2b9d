//! What `chat`, `ask` and `memory close` learn, and how a person sees it.

use serde_json::{Value, json};

use crate::run::{Folder, Output};

const SUMMARY: &str = "The user sails a red dinghy and asked how the ferry and the harbour were.";

/// A folder in which one provider answers and another learns.
fn folder(memory: &str) -> Folder {
    let folder = Folder::new();
    let config = format!(
        "settings: {{model: demo, learning_model: scribe}}\n\
         memory: {memory}\n\
         providers:\n  \
         demo: {{kind: script, answers: answers.jsonl}}\n  \
         scribe: {{kind: script, answers: learned.jsonl}}\n"
    );
    folder.write("kitbag.yaml", config);
    let answer = json!({"text": "The ferry was late, and the harbour was crowded. ".repeat(12)});
    folder.write("answers.jsonl", format!("{answer}\n"));
    let fact =
        json!({"key": "boat", "value": "red dinghy", "message": 1, "quote": "I sail a red dinghy"});
    let usage = json!({"input": 1_200, "output": 30});
    let facts = json!({"facts": [fact]}).to_string();
    let facts = json!({"when": "List lasting facts", "text": facts, "usage": usage});
    let summary = json!({"when": "Summarise", "text": SUMMARY, "usage": usage});
    folder.write("learned.jsonl", format!("{facts}\n{summary}\n"));
    folder
}

fn chat(folder: &Folder, args: &[&str], typed: &str) -> Output {
    let args = [&["--store", "sqlite:memory.db", "chat"], args].concat();
    folder.run_with_stdin(&args, typed.as_bytes())
}

fn memory(folder: &Folder, args: &[&str]) -> Output {
    let args = [&["--store", "sqlite:memory.db", "memory"], args].concat();
    folder.run(&args)
}

const TALK: &str = "I sail a red dinghy.\nHow was the ferry?\n";

#[test]
fn o09_a_new_chat_learns_from_the_one_before() {
    let folder = folder("{learning: model}");
    let first = chat(&folder, &[], TALK);
    assert!(!first.stderr.contains("learned"), "{}", first.stderr);
    let second = chat(&folder, &["--new"], "How was the harbour?\n");
    let told = "learned: a summary, 1 fact (boat), 2,400 tokens in, 60 out\n";
    assert!(second.stderr.contains(told), "{}", second.stderr);
    second.success();
    let summaries = memory(&folder, &["summaries"]).success();
    assert!(summaries.contains(SUMMARY), "{summaries}");
    let facts = memory(&folder, &["facts", "list"]).success();
    assert!(
        facts.contains("boat") && facts.contains("red dinghy"),
        "{facts}"
    );
    let ask = [
        "--store",
        "sqlite:memory.db",
        "ask",
        "Which sail?",
        "--dry-run",
    ];
    let request = folder.run(&ask).success();
    assert!(request.contains("boat: red dinghy"), "{request}");
    assert!(request.contains(SUMMARY), "{request}");
    memory(&folder, &["facts", "unset", "boat"]).success();
    let request = folder.run(&ask).success();
    assert!(!request.contains("boat: red dinghy"), "{request}");
}

#[test]
fn o09_memory_close_asks_a_model() {
    let folder = folder("{learning: off}");
    chat(&folder, &[], TALK).success();
    let closed = memory(&folder, &["close", "--model", "1.1"]);
    assert!(
        closed.stderr.contains("learned: a summary, 1 fact (boat)"),
        "{}",
        closed.stderr
    );
    let printed = closed.success();
    assert_eq!(
        printed,
        format!("1.1 is closed\n  {SUMMARY}\n  fact: boat: red dinghy\n")
    );
    chat(&folder, &[], TALK).success();
    let json = memory(&folder, &["close", "--model=scribe", "--json", "1.2"]).success();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["closed"][0]["summary"], SUMMARY);
}

#[test]
fn o09_learning_that_fails_is_told_in_a_line_and_fails_nothing() {
    let folder = folder("{learning: model}");
    chat(&folder, &[], TALK).success();
    folder.write("learned.jsonl", "{\"error\": \"out of order\"}\n");
    let second = chat(&folder, &["--new"], "How was the harbour?\n");
    let told = "the model's summary cannot be used";
    assert!(second.stderr.contains(told), "{}", second.stderr);
    assert!(second.success().contains("crowded"));
    let summaries = memory(&folder, &["summaries"]).success();
    assert!(summaries.contains("red dinghy"), "{summaries}");
}

#[test]
fn o09_a_wrong_way_to_learn_is_told_with_its_line() {
    let folder = folder("{learning: sometimes}");
    let told = chat(&folder, &[], "Hello?\n").stderr;
    assert!(
        told.contains("kitbag.yaml:2") && told.contains("`model` or `rules` or `off`"),
        "{told}"
    );
}

#[test]
fn o09_asking_for_a_new_conversation_learns_from_the_one_before() {
    let folder = folder("{learning: model}");
    chat(&folder, &[], TALK).success();
    let args = ["--store", "sqlite:memory.db", "ask", "/new"];
    let asked = folder.run(&args);
    let told = "learned: a summary, 1 fact (boat), 2,400 tokens in, 60 out\n";
    assert!(asked.stderr.contains(told), "{}", asked.stderr);
    assert_eq!(
        asked.success(),
        "conversation 1.1 is closed; the next message begins another\n"
    );
    let summaries = memory(&folder, &["summaries"]).success();
    assert!(summaries.contains(SUMMARY), "{summaries}");
}
