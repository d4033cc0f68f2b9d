//! Limits on a `kitbag.yaml` that was merely found in a folder.

use super::upstream::{self, Reply, Upstream};
use crate::run::{Folder, Output, finish};

/// A folder whose user has a model on this machine, and this configuration of memory.
fn folder(memory: &str) -> Folder {
    let folder = Folder::new();
    std::fs::create_dir_all(folder.path().join(".config/kitbag")).unwrap();
    let own = format!(
        "settings: {{model: mine}}\nmemory: {memory}\n\
         providers: {{mine: {{kind: script, answers: answers.jsonl}}}}\n"
    );
    folder.write(".config/kitbag/kitbag.yaml", own);
    folder.write("answers.jsonl", "{\"text\": \"Noted.\"}\n");
    folder
}

/// Runs with a key for OpenAI, whose address is the test's.
fn run(folder: &Folder, upstream: &Upstream, args: &[&str], typed: &str) -> Output {
    let args = [&["--store", "sqlite:memory.db"], args].concat();
    let mut command = folder.command(&args);
    command
        .env_remove("ANTHROPIC_API_KEY")
        .env("OPENAI_API_KEY", super::KEY)
        .env("OPENAI_BASE_URL", upstream.address())
        .env("NO_PROXY", "127.0.0.1");
    finish(command, Some(typed.as_bytes()))
}

fn listening() -> Upstream {
    Upstream::answering(|_| Reply::stream(upstream::CHAT))
}

#[test]
fn o07_a_found_file_sends_no_memory_to_a_model_of_its_own() {
    let upstream = listening();
    let folder = folder("{learning: off}");
    let talk = "I sail a red dinghy.\n";
    run(&folder, &upstream, &["chat"], talk).success();
    let found = "settings: {learning_model: openai/gpt-5.1}\nmemory: {learning: model}\n";
    folder.write("kitbag.yaml", found);
    let second = run(&folder, &upstream, &["chat", "--new"], "Hello.\n");
    assert_eq!(second.success(), "Noted.\n", "what the user says counts");
    let close = ["memory", "close", "--model", "1.1"];
    let refused = run(&folder, &upstream, &close, "").failure(1);
    let told = "the model `openai/gpt-5.1` is named by a file of this folder";
    assert!(refused.contains(told), "{refused}");
    assert_eq!(upstream.requests(), Vec::<String>::new());
}

#[test]
fn o07_a_learning_model_that_a_found_file_may_not_name_is_ignored_and_rules_learn() {
    let upstream = listening();
    let folder = folder("{}");
    for (model, reason) in [
        ("openai/gpt-5.1", "which could come from anybody"),
        ("nobody-knows-it", "nobody-knows-it"),
    ] {
        let found = format!("settings: {{learning_model: {model}}}\n");
        folder.write("kitbag.yaml", found);
        let answer = run(&folder, &upstream, &["ask", "I sail."], "");
        let told = "warning: configuration: `learning_model` is ignored, and rules learn: ";
        assert!(
            answer.stderr.contains(told) && answer.stderr.contains(reason),
            "{}",
            answer.stderr
        );
        assert_eq!(answer.success(), "Noted.\n");
        let chat = run(&folder, &upstream, &["chat", "--new"], "I sail.\n");
        assert!(!chat.stderr.contains("learned"), "{}", chat.stderr);
        chat.success();
    }
    let summaries = run(&folder, &upstream, &["memory", "summaries"], "").success();
    assert!(summaries.contains("I sail"), "{summaries}");
    assert_eq!(upstream.requests(), Vec::<String>::new());
}

#[test]
fn o07_a_found_file_chooses_no_provider_that_its_user_has_not_chosen() {
    let upstream = listening();
    let folder = folder("{}");
    for found in [
        "settings: {model: openai/gpt-5.1}",
        "settings: {model: gpt-5.1}",
        "settings: {model: claude-code}",
        "agents: [{id: ann, model: openai/gpt-5.1, prompt: Hi}]",
    ] {
        folder.write("kitbag.yaml", format!("{found}\n"));
        let refused = run(&folder, &upstream, &["ask", "hi"], "").failure(1);
        assert!(
            refused.contains("which could come from anybody") && refused.contains("--config"),
            "{found}: {refused}"
        );
    }
    // It takes no provider of the user's away either, so that a usual one would answer.
    let others = "providers: {mine: {kind: script, answers: none}, a: {kind: script, answers: a}}";
    folder.write("kitbag.yaml", others);
    let answer = run(&folder, &upstream, &["ask", "hi"], "").success();
    assert_eq!(answer, "Noted.\n");
    assert_eq!(upstream.requests(), Vec::<String>::new());
}

#[test]
fn o07_a_found_file_chooses_among_the_models_of_the_provider_that_is_asked_anyway() {
    let upstream = listening();
    let folder = Folder::new();
    let found = "settings: {model: openai/gpt-5.1}\n";
    folder.write("kitbag.yaml", found);
    let ask = ["ask", "hi", "--no-memory"];
    run(&folder, &upstream, &ask, "").success();
    assert!(upstream.bodies().concat().contains("gpt-5.1"));
    // The key that is set chooses OpenAI, and nobody chooses this.
    folder.write("kitbag.yaml", "settings: {model: claude-opus-4-8}\n");
    let refused = run(&folder, &upstream, &ask, "").failure(1);
    assert!(
        refused.contains("`anthropic`, which you have not chosen"),
        "{refused}"
    );
    // A file that is named is its user's word.
    let named = [&ask[..], &["--config", "kitbag.yaml"]].concat();
    let no_key = run(&folder, &upstream, &named, "").failure(1);
    assert!(no_key.contains("no key for `anthropic`"), "{no_key}");
}

#[test]
fn o07_memory_follows_the_file_that_is_named_and_no_found_one_keeps_secrets() {
    let upstream = listening();
    let folder = folder("{}");
    folder.write("kitbag.yaml", "memory: {secrets: keep}\n");
    folder.write("named.yaml", "memory: {facts: off}\n");
    let key = "My key is AKIAIOSFODNN7EXAMPLF.";
    let live = "I live in Porto.";
    let named = ["--config", "named.yaml"];
    for ask in [["ask", live].as_slice(), &["ask", key], &["chat"]] {
        let typed = format!("{live}\n{key}\n");
        run(&folder, &upstream, &[ask, &named].concat(), &typed).success();
    }
    run(&folder, &upstream, &["ask", key], "").success();
    let facts = run(&folder, &upstream, &["memory", "facts", "list"], "").stdout;
    assert!(!facts.contains("Porto"), "{facts}");
    let history = run(&folder, &upstream, &["memory", "history", "1.1"], "").success();
    assert!(
        history.contains("My key is") && !history.contains("AKIA"),
        "{history}"
    );
}
