//! Learning by `chat`, `ask` and `memory close`, as a person sees it.

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
fn o09_a_closed_conversation_with_a_summary_by_rules_is_learned_from_by_asking_again() {
    let folder = folder("{learning: off}");
    chat(&folder, &[], TALK).success();
    memory(&folder, &["close", "1.1"]).success();
    let again = memory(&folder, &["close", "--model", "1.1"]);
    assert!(
        again.stderr.contains("learned: a summary, 1 fact (boat)"),
        "{}",
        again.stderr
    );
    let printed = again.success();
    let expected = format!("1.1 was closed before\n  {SUMMARY}\n  fact: boat: red dinghy\n");
    assert_eq!(printed, expected);
    let third = memory(&folder, &["close", "--model", "1.1"]);
    let told = "1.1 already has a summary by a model, so no model was asked\n";
    assert_eq!(third.stderr, told);
    assert_eq!(third.success(), "1.1 was closed before\n");
}

#[test]
fn o09_a_model_that_finds_nothing_is_told() {
    let folder = folder("{learning: off}");
    folder.write("learned.jsonl", "{\"text\": \"{\\\"facts\\\": []}\"}\n");
    let ask = ["--store", "sqlite:memory.db", "ask", "I sail."];
    folder.write("answers.jsonl", "{\"text\": \"Nice.\"}\n");
    folder.run(&ask).success();
    let closed = memory(&folder, &["close", "--model", "1.1"]);
    assert_eq!(closed.stderr, "nothing new was learned from 1.1\n");
    closed.success();
}

#[test]
fn o09_a_script_that_knows_no_facts_ends_a_conversation_quietly() {
    let folder = Folder::new();
    folder.write("answers.jsonl", "{\"text\": \"Nice.\"}\n");
    let config = "providers: {demo: {kind: script, answers: answers.jsonl}}\n";
    folder.write("kitbag.yaml", config);
    let talked = chat(
        &folder,
        &[],
        "I sail a red dinghy.\n/new\nI live in Porto.\n",
    );
    assert!(!talked.stderr.contains("warning"), "{}", talked.stderr);
    let closed = memory(&folder, &["close", "--model", "1.2"]);
    assert!(!closed.stderr.contains("warning"), "{}", closed.stderr);
    closed.success();
}

#[test]
fn o09_a_learner_without_a_model_is_not_asked_for_the_one_that_answers() {
    let folder = Folder::new();
    folder.write("answers.jsonl", "{\"text\": \"Nice.\"}\n");
    folder.write("fake.sh", "echo \"asked: $*\" >> asked.txt\necho oops\n");
    for (learner, expected) in [("cc", ""), ("cc/opus", "--model opus")] {
        let config = format!(
            "settings: {{model: demo/claude-opus-4-8, learning_model: {learner}}}\n\
             providers:\n  \
             demo: {{kind: script, answers: answers.jsonl}}\n  \
             cc: {{kind: claude-code, command: [sh, {}]}}\n",
            folder.path().join("fake.sh").display()
        );
        folder.write("named.yaml", config);
        let config = ["--config", "named.yaml"];
        chat(&folder, &config, "I sail a red dinghy.\n/new\n").success();
        let asked = std::fs::read_to_string(folder.path().join("asked.txt")).unwrap();
        let asked = asked.lines().last().unwrap();
        let model = asked.find("--model ").and_then(|at| asked.get(at..));
        let model = model.unwrap_or_default();
        assert!(!asked.contains("claude-opus-4-8"), "{asked}");
        assert!(model.starts_with(expected), "{asked}");
    }
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
