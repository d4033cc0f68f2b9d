//! Internal messages: for the model, and never for a person.

use jiff::{SignedDuration, Timestamp};
use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::inject::{ContextMessage, EntryAction};
use kitbag::core::message::Message;
use kitbag::core::role::Visibility;
use kitbag::core::tokens::{Characters, Tokens};
use kitbag::core::view::View;
use kitbag::engine::{PromptRequest, Sources, TurnRequest, turn};
use kitbag::store::{Incoming, MemoryRequest, StoredMessage};
use kitbag::tokens::{Counter, Vocabulary};
use serde_json::json;

use super::Memory;
use crate::run::Output;

const HIDDEN: &str = "Biscuit has a secret: the puppy fears thunder";

/// A talk in which something is internal: a line that was imported, and a message that was accepted.
fn talk_with_a_secret() -> Memory {
    let memory = Memory::talk();
    let line = |reference: &str, at: &str| {
        json!({"channel": "slack", "sender": "ann", "conversation": "dog", "ref": reference,
            "at": at, "role": "system", "text": HIDDEN, "visibility": "internal"})
    };
    memory
        .import(&[line("s1", "2024-05-08T13:59:00")])
        .success();
    memory.open("memory.db", async |store| {
        let hidden = Message::user(HIDDEN).with_visibility(Visibility::Internal);
        let incoming = Incoming::new("slack", "ann", hidden).in_conversation("dog");
        store.accept(&incoming, Timestamp::now()).await.unwrap();
    });
    memory
}

/// What the model is given of the conversation.
fn told_to_the_model(memory: &Memory, name: &str) -> Vec<StoredMessage> {
    memory.open(name, async |store| {
        store.messages("1.1".parse().unwrap(), 50).await.unwrap()
    })
}

#[test]
fn t05_internal_messages_reach_the_model_and_no_person() {
    let memory = talk_with_a_secret();
    let queries = r#"{"query": "secret of the puppy Biscuit", "sender": "ann"}"#;
    memory.0.write("queries.jsonl", queries);
    let shown = [
        &["history"][..],
        &["history", "1.1"],
        &["history", "1.1", "--json"],
        &["recall", "secret of the puppy Biscuit"],
        &["recall", "secret of the puppy Biscuit", "--json"],
        &["recall", "secret of the puppy Biscuit", "--explain"],
        &["recall", "--batch", "queries.jsonl"],
        &["export"],
        &["facts", "list"],
        &["stats"],
        &["check"],
        &["close", "1.1"],
        &["summaries"],
        &["summaries", "--json"],
        &["entities", "1.1", "--json"],
    ];
    for args in shown {
        let output = memory.run(args);
        let printed = format!("{}{}", output.stdout, output.stderr);
        assert!(!printed.contains("thunder"), "{args:?}: {printed}");
        output.success();
    }
    // What is not internal is there, and the limit counts what is shown.
    let last = memory.json(&["history", "1.1", "--limit", "1"]);
    assert_eq!(last["messages"][0]["text"], "A beagle, from the shelter");
    assert!(
        memory
            .references("puppy Biscuit")
            .contains(&"m1".to_owned())
    );
    let list = memory.json(&["history", "--limit", "1"]);
    assert_eq!(list["conversations"][0]["messages"], 3);

    let told = told_to_the_model(&memory, "memory.db");
    let texts: Vec<_> = told.iter().map(StoredMessage::text).collect();
    assert_eq!(texts[3..], [HIDDEN, HIDDEN]);
}

#[test]
fn t09_internal_messages_are_neither_recalled_nor_shown_to_a_node() {
    let memory = talk_with_a_secret();
    // As it would be sent: what a command prints may hide something.
    let prompt = |node: Option<&str>| {
        memory.open("memory.db", async |store| {
            let said = "Which secret does the puppy Biscuit have?";
            let incoming = Incoming::new("slack", "ann", said);
            let memory = MemoryRequest::new(incoming, Timestamp::now());
            let settings = AssemblySettings::new(OutputForm::Flat, Tokens(8_000));
            let mut request = TurnRequest::new(memory, PromptRequest::new("", settings));
            request.node = node.and_then(View::builtin).cloned();
            let mut sources = Sources::default();
            sources.store = Some(&store);
            let prompt = turn(sources, request, &Characters).await.unwrap();
            prompt.composed.body().into_owned()
        })
    };
    // In another conversation, some of the first is recalled.
    let other = prompt(None);
    assert!(other.contains("Biscuit"), "{other}");
    assert!(!other.contains("thunder"), "{other}");
    memory.open("memory.db", async |store| {
        for message in [
            Message::user("Is Biscuit awake?"),
            Message::user(HIDDEN).with_visibility(Visibility::Internal),
        ] {
            let incoming = Incoming::new("slack", "ann", message);
            let accepted = store.accept(&incoming, Timestamp::now());
            accepted.await.unwrap();
        }
    });
    for node in ["understand", "think", "act", "reply"] {
        let seen = prompt(Some(node));
        assert!(seen.contains("Is Biscuit awake?"), "{node}: {seen}");
        assert!(!seen.contains("thunder"), "{node}: {seen}");
    }
    let history = prompt(None);
    assert!(history.contains("thunder"), "{history}");
}

#[test]
fn t09_an_export_leaves_internal_messages_out_and_a_copy_keeps_them() {
    let memory = talk_with_a_secret();
    let output = memory.run(&["export"]);
    assert!(
        output
            .stderr
            .contains("exported 5 messages\nleft out 2 messages"),
        "{output:?}"
    );
    let told = told_to_the_model(&memory, "memory.db");
    let copy = ["memory", "migrate", "sqlite:memory.db", "sqlite:copy.db"];
    memory.0.run(&copy).success();
    assert_eq!(told_to_the_model(&memory, "copy.db"), told);
}

/// Adds an internal reminder to the conversation.
fn remind_internally(memory: &Memory) {
    memory.open("memory.db", async |store| {
        let message = ContextMessage::suffix_system("storm", "Ann fears thunder too.");
        let actions = vec![EntryAction::Upsert { message }];
        let id = "1.1".parse().unwrap();
        store.change_entries(id, actions).await.unwrap();
    });
}

/// Checks that a command shows the internal messages only to an operator.
#[track_caller]
fn check_hidden(run: impl Fn(&[&str]) -> Output, hidden: usize, form: &str) {
    for args in [&[][..], &["--json"]] {
        let output = run(args);
        let count = match hidden {
            1 => "1 internal message is".to_owned(),
            _ => format!("{hidden} internal messages are"),
        };
        let note = format!("note: {count} hidden; --internal shows them");
        assert!(output.stderr.contains(&note), "{form}: {output:?}");
        let printed = output.success();
        assert!(!printed.contains("thunder"), "{form}: {printed}");
        let lines = printed.matches("(an internal message: not shown)").count();
        assert_eq!(lines, hidden, "{form}: {printed}");
        assert!(printed.contains("A beagle"), "{form}: {printed}");
        let operator = run(&[args, &["--internal"]].concat());
        assert!(!operator.stderr.contains("not shown"), "{operator:?}");
        let printed = operator.success();
        assert_eq!(printed.matches("thunder").count(), hidden, "{printed}");
    }
}

const FORMS: [&str; 8] = [
    "flat",
    "pack",
    "markdown",
    "xml",
    "anthropic",
    "openai",
    "responses",
    "json",
];

#[test]
fn t09_a_prompt_to_look_at_hides_internal_messages() {
    let memory = talk_with_a_secret();
    remind_internally(&memory);
    let context = |conversation: &str, form: &str, args: &[&str]| {
        let args = [
            &["context", "Is the puppy Biscuit a beagle with a secret?"],
            &["--channel", "slack", "--conversation", conversation][..],
            &["--store", "sqlite:memory.db", "--format", form],
            args,
        ];
        memory.0.run(&args.concat())
    };
    for form in FORMS {
        check_hidden(|args| context("dog", form, args), 3, form);
    }
    let table = context("dog", "flat", &["--explain"]);
    assert!(!table.stderr.contains("not shown"), "{table:?}");
    assert!(!table.success().contains("thunder"));
}

#[test]
fn t09_a_prompt_that_is_made_again_hides_internal_messages() {
    for form in FORMS {
        let memory = talk_with_a_secret();
        remind_internally(&memory);
        let form: OutputForm = form.parse().unwrap();
        let id = memory.open("memory.db", async |store| {
            let now = Timestamp::now();
            let said = Incoming::new("slack", "ann", "and now?").in_conversation("dog");
            let accepted = store.accept(&said, now).await.unwrap();
            let lease = store.begin(accepted.id, SignedDuration::from_mins(5), now);
            let lease = lease.await.unwrap();
            let settings = AssemblySettings::new(form, Tokens(4_000));
            let prompt = PromptRequest::new("and now?", settings);
            let mut remembered = MemoryRequest::new(said, now);
            remembered.answering = Some(accepted.message);
            let request = TurnRequest::new(remembered, prompt);
            let mut sources = Sources::default();
            sources.store = Some(&store);
            let counter = Counter::for_vocabulary(Vocabulary::O200kBase).unwrap();
            let made = turn(sources, request, &counter).await.unwrap();
            store.sent(&lease, made.sent(), now).await.unwrap();
            accepted.id.to_string()
        });
        let replay = |args: &[&str]| {
            let args = [&["replay", &id, "--store", "sqlite:memory.db"], args];
            memory.0.run(&args.concat())
        };
        check_hidden(replay, 3, form.as_str());
    }
}
