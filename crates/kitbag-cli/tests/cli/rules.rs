//! Rules in kitbag.yaml: a text that the model is told after certain results of tools.

use serde_json::Value;

use crate::run::{Folder, Output};

const RULES: &str = "providers: {demo: {kind: script, answers: answers.jsonl}}\nrules:\n  - name: unknown\n    \
    after: {tool: 'fact*', output: '\"facts\":\\[\\]', status: success}\n    inject: Say that nothing is known.\n    \
    cooldown: 2\n  - name: failed\n    after: {tool: '*', status: error}\n    inject: Do not try it again.\n    \
    target: conversation\n";

const SCRIPT: &str = r#"{"when": "drink", "tool_calls": [{"id": "a", "name": "facts", "arguments": {}}], "then": [{"text": "No idea."}]}
{"when": "brew", "tool_calls": [{"id": "a", "name": "brew", "arguments": {}}], "then": [{"text": "I cannot."}]}
{"text": "Hello."}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("kitbag.yaml", RULES);
    folder.write("answers.jsonl", SCRIPT);
    folder
}

fn run(folder: &Folder, args: &[&str]) -> Output {
    folder.run(&[&["--store", "sqlite:memory.db"], args].concat())
}

/// The latest prompt of a turn, as it was sent.
fn sent(folder: &Folder, turn: &str) -> String {
    run(folder, &["replay", turn, "--internal"]).success()
}

#[test]
fn t08_a_rule_tells_the_model_something_after_a_result() {
    let folder = folder();
    let first = run(&folder, &["ask", "What do I drink?", "--tools"]);
    assert_eq!(first.success(), "No idea.\n");
    let prompt = sent(&folder, "1.1.1");
    assert!(
        prompt.contains("<system-reminder>Say that nothing is known.</system-reminder>"),
        "{prompt}"
    );
    // It cools down for two inferences, and lives in prompts of its turn alone.
    let second = run(&folder, &["ask", "What do I drink?", "--tools"]);
    assert_eq!(second.success(), "No idea.\n");
    let prompt = sent(&folder, "1.1.2");
    assert!(!prompt.contains("Say that nothing is known."), "{prompt}");
    let third = run(&folder, &["ask", "What do I drink?", "--tools"]);
    assert_eq!(third.success(), "No idea.\n");
    let prompt = sent(&folder, "1.1.3");
    assert!(prompt.contains("Say that nothing is known."), "{prompt}");
    let turn = run(&folder, &["memory", "history", "1.1.1"]).success();
    assert!(
        turn.contains("rules, after tool: injects `unknown`"),
        "{turn}"
    );
    let status = run(&folder, &["ask", "/status"]).success();
    assert!(
        status.contains("extensions: rules\nrules: unknown, failed"),
        "{status}"
    );
}

#[test]
fn t08_what_belongs_to_the_conversation_stays_in_its_history_unseen_by_people() {
    let folder = folder();
    let brewed = run(&folder, &["ask", "Please brew.", "--tools"]);
    assert_eq!(brewed.success(), "I cannot.\n");
    run(&folder, &["ask", "Hello.", "--tools"]).success();
    let prompt = sent(&folder, "1.1.2");
    assert_eq!(
        prompt.matches("Do not try it again.").count(),
        1,
        "{prompt}"
    );
    let history = run(&folder, &["memory", "history", "1.1"]).success();
    assert!(!history.contains("Do not try it again."), "{history}");
}

#[test]
fn t08_rules_with_mistakes_are_told_with_their_lines() {
    let folder = folder();
    folder.write(
        "kitbag.yaml",
        "rules:\n  - {name: a, after: {tool: x, output: '['}, inject: y}\n  - {name: b, after: {}, inject: y}\n  \
         - {name: c, after: {tool: x}, inject: ' '}\n  - {name: d, after: {tool: x}, inject: y, target: top}\n  \
         - {name: e, after: {tool: x}, inject: y, cooldown: soon}\n  - {name: f, after: {tool: x}, inject: y}\n  \
         - {name: f, after: {tool: x}, inject: z}\n",
    );
    let checked = run(&folder, &["doctor", "--json"]);
    let doctor: Value = serde_json::from_str(&checked.stdout).unwrap();
    let told = doctor.to_string();
    for problem in [
        "kitbag.yaml:2:40: rules[0].after.output: `[` is no regular expression",
        "kitbag.yaml:3:22: rules[1].after: `after` needs a `tool`",
        "rules[2].inject: a rule needs a text to tell",
        "rules[3].target: expected `system` or `session` or `conversation` or `suffix_system`, got top",
        "rules[4].cooldown: expected a whole number from 0 on, got a text",
        "rules[6]: there are two rules `f`",
    ] {
        assert!(told.contains(problem), "{problem}: {told}");
    }
}
