//! The examples do what they say.

use kitbag::Engine;
use kitbag::core::assembly::Reason;

use crate::run;

#[path = "../../examples/assistant.rs"]
#[expect(dead_code, reason = "an example prints; a test looks at what it made")]
mod assistant;
#[path = "../../examples/budget_only.rs"]
#[expect(dead_code, reason = "an example prints; a test looks at what it made")]
mod budget_only;
#[path = "../../examples/custom_provider.rs"]
#[expect(dead_code, reason = "an example prints; a test looks at what it made")]
mod custom_provider;
#[path = "../../examples/extension.rs"]
#[expect(dead_code, reason = "an example prints; a test looks at what it made")]
mod extension;
#[path = "../../examples/node_context.rs"]
#[expect(dead_code, reason = "an example prints; a test looks at what it made")]
mod node_context;

#[test]
fn o06_the_assistant_answers_from_what_it_was_told() {
    let folder = tempfile::tempdir().unwrap();
    let who = Engine::builder().provider(assistant::script(folder.path()).unwrap());
    let answers = run(assistant::talk(who, folder.path())).unwrap();
    let said: Vec<String> = answers.iter().map(kitbag::answer::Answer::text).collect();
    assert_eq!(said, ["Noted.", "Clara keeps bees."]);
    let asked = answers[1].request.body();
    assert!(asked.contains("My sister Clara keeps bees."), "{asked}");
    assert!(answers[1].turn.is_some());
}

#[test]
fn o07_a_provider_of_ones_own_answers() {
    let answer = run(custom_provider::ask("How long is this?")).unwrap();
    assert_eq!(answer.text(), "You said 4 words.");
    assert_eq!(answer.reply.usage.unwrap().input, 4);
    assert_eq!(answer.request.model().as_deref(), Some("word-counter-1"));
    assert!(answer.turn.is_none());
}

#[test]
fn t07_an_extension_counts_warns_and_takes_a_cheaper_model() {
    let folder = tempfile::tempdir().unwrap();
    let answers = run(extension::talk(folder.path())).unwrap();
    let models: Vec<Option<String>> = answers.iter().map(|one| one.request.model()).collect();
    let model = |name: &str| Some(name.to_owned());
    assert_eq!(models, [model("large"), model("large"), model("small")]);
    let warned = answers
        .iter()
        .map(|one| one.request.body().contains("be brief"));
    assert_eq!(warned.collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn a05_an_agent_with_a_loop_of_its_own_gets_the_context_of_each_node() {
    let mut prompts = Vec::new();
    let answer = node_context::run(|prompt| {
        prompts.push(prompt.to_owned());
        "Yes.".to_owned()
    });
    assert_eq!(answer.unwrap(), "Yes.");
    let [think, act, reply] = prompts.as_slice() else {
        panic!("{prompts:?}");
    };
    for prompt in &prompts {
        assert!(prompt.contains("Lemon Soup"), "{prompt}");
        assert!(prompt.contains("Is there garlic in the soup?"), "{prompt}");
    }
    assert!(think.contains("recipe_1"), "{think}");
    assert!(act.contains("recipe_1"), "{act}");
    assert!(reply.contains("read: 1 record"), "{reply}");
}

#[test]
fn p11_a_budget_is_kept_and_explained_without_anything_else() {
    let prompt = budget_only::fitted().unwrap();
    assert!(prompt.assembly.tokens <= prompt.settings.budget);
    let entries = &prompt.assembly.ledger.entries;
    let shown: Vec<(&str, bool)> = entries
        .iter()
        .map(|entry| (entry.source.as_str(), entry.level.is_some()))
        .collect();
    assert_eq!(shown, [("oven", true), ("flour", true), ("weather", false)]);
    assert!(matches!(entries[2].reason, Reason::NoRoom { .. }));
}
