//! `kitbag chat`: messages are answered one after the other, and the conversation goes on.

#[cfg(unix)]
mod terminal;

use crate::run::{Folder, Output};

const SCRIPT: &str = r#"{"when": "I live in", "text": "Noted.", "usage": {"input": 40, "output": 2}}
{"when": "home?", "text": "In Porto."}
{"when": "fail", "error": "out of order"}
{"when": "one\ntwo", "text": "Two lines."}
{"text": "In Porto."}
"#;

fn scripted() -> Folder {
    let folder = Folder::new();
    let config = "providers: {demo: {kind: script, answers: answers.jsonl}}\n";
    folder.write("kitbag.yaml", config);
    folder.write("answers.jsonl", SCRIPT);
    folder
}

fn chat(folder: &Folder, args: &[&str], typed: &str) -> Output {
    let args = [&["--store", "sqlite:memory.db", "chat"], args].concat();
    folder.run_with_stdin(&args, typed.as_bytes())
}

fn history(folder: &Folder, conversation: &str) -> String {
    let args = ["--store", "sqlite:memory.db", "memory", "history"];
    folder.run(&[&args[..], &[conversation]].concat()).success()
}

#[test]
fn o08_a_chat_goes_on_with_the_conversation_that_is_open() {
    let folder = scripted();
    let first = chat(&folder, &[], "I live in Porto.\n\nand now?\n");
    assert_eq!(
        first.stderr.lines().collect::<Vec<_>>(),
        [
            "new conversation",
            "40 tokens in, 2 out, 0.0 s, script",
            "0.0 s, script"
        ]
    );
    assert_eq!(first.success(), "Noted.\nIn Porto.\n");
    let second = chat(&folder, &[], "home?\n");
    assert!(
        second
            .stderr
            .starts_with("conversation 1.1 continues, with 4 messages\n"),
        "{}",
        second.stderr
    );
    assert!(history(&folder, "1.1").contains("home?"));
    let third = chat(&folder, &["--new"], "and here?\n");
    assert!(third.stderr.starts_with("new conversation\n"));
    assert!(history(&folder, "1.2").contains("and here?"));
}

#[test]
fn o08_a_chat_goes_on_after_a_provider_failed() {
    let folder = scripted();
    let failed = chat(&folder, &[], "please fail\nhome?\n");
    assert!(failed.stderr.contains("out of order"), "{}", failed.stderr);
    assert_eq!(failed.success(), "In Porto.\n");
}

#[test]
fn o08_a_message_of_a_chat_may_have_several_lines() {
    let folder = scripted();
    let typed = "one\\\ntwo\n\"\"\"\none\ntwo\n\"\"\"\n";
    let told = chat(&folder, &["--no-memory"], typed);
    assert_eq!(told.success(), "Two lines.\nTwo lines.\n");
    assert!(!folder.path().join("memory.db").exists());
}

#[test]
fn o08_empty_blocks_are_no_messages_however_many() {
    let folder = scripted();
    let typed = "\"\"\"\n".repeat(200_000) + "home?\n";
    let told = chat(&folder, &["--no-memory"], &typed);
    assert_eq!(told.success(), "In Porto.\n");
}

#[test]
fn o08_input_that_ends_inside_a_block_is_a_message() {
    let folder = scripted();
    let told = chat(&folder, &["--no-memory"], "\"\"\"\none\ntwo\n");
    assert_eq!(told.success(), "Two lines.\n");
}

#[test]
fn o07_a_chat_without_a_key_says_at_its_start_what_to_set() {
    let folder = Folder::new();
    let mut command = folder.command(&["--store", "sqlite:memory.db", "chat"]);
    command
        .env_remove("ANTHROPIC_API_KEY")
        .env_remove("OPENAI_API_KEY");
    let output = crate::run::finish(command, Some(b"/facts\n"));
    let warning = "warning: no key for `anthropic`: ANTHROPIC_API_KEY is not set; only commands can be answered\n\
                   hint: set ANTHROPIC_API_KEY, or say under `providers:` where the key is\n";
    assert!(output.stderr.starts_with(warning), "{}", output.stderr);
    assert_eq!(output.success(), "nothing is known about user yet\n");
}
