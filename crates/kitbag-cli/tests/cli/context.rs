//! `kitbag context`: the prompt that would be sent, from memory, agent and workspace in one budget.

use jiff::{SignedDuration, Timestamp};
use kitbag::core::reasoning::StepSummary;
use kitbag::core::summarize::{FinishedTurn, SummarySettings, summarize};
use kitbag::core::tokens::Characters;
use kitbag::core::view::TurnState;
use kitbag::store::{Incoming, Learned, NewFact, Store};
use serde_json::{Value, json};

use crate::memory::Memory;
use crate::run::Output;

const CONFIG: &str = "agents:
  - id: baker
    prompt: You help to run a bakery.
    documents: [handbook]
documents:
  handbook: |
    # Handbook

    On Sunday we are closed.
nodes:
  critic:
    entity: { active: labels }
";

const CODE: &str = "def refused(order):
    \"\"\"Whether an order for Sunday is refused.\"\"\"
    return order.day.weekday() == 6
";

fn context(memory: &Memory, args: &[&str]) -> Output {
    let args = [&["--store", "sqlite:memory.db", "context"], args].concat();
    let cache = memory.0.path().join("cache").display().to_string();
    memory.0.run_with(&[("KITBAG_CACHE_DIR", &cache)], &args)
}

/// A bakery with code and an agent, and an owner who has said something, of whom a fact is known, and
/// whose conversation has an entity, a step and a reminder.
fn bakery() -> Memory {
    let memory = Memory::new();
    memory.0.write("kitbag.yaml", CONFIG);
    memory.0.write("orders.py", CODE);
    let now = Timestamp::now();
    memory.open("memory.db", async |store| {
        let earlier = now - SignedDuration::from_hours(2);
        turn(&store, "Refuse every order for Sunday.", earlier, |_| ()).await;
        let fact = NewFact::new("role", "owner of the bakery");
        store.set_facts("ann", vec![fact], now).await.unwrap();
        let look = |state: &mut TurnState| {
            let registry = &mut state.conversation.id_registry;
            registry.register_read("row-17", "orders", "Twelve rye for Sunday");
            let step = StepSummary::new(1, "read", "orders", "read the orders", None, 1);
            state.finish_step(step, json!([{"id": "row-17", "count": 12}]));
        };
        turn(&store, "Which orders are there?", now, look).await;
    });
    let remind = ["remind", "add", "Give weights in grams.", "--store"];
    let args = [&remind[..], &["sqlite:memory.db"]].concat();
    memory.0.run(&args).success();
    memory
}

async fn turn(store: &Store, said: &str, at: Timestamp, work: impl FnOnce(&mut TurnState)) {
    let incoming = Incoming::new("cli", "ann", said);
    let accepted = store.accept(&incoming, at).await.unwrap();
    let lease = store.begin(accepted.id, SignedDuration::from_mins(5), at);
    let lease = lease.await.unwrap();
    let layers = store.layers(accepted.id.conversation()).await.unwrap();
    let mut state = TurnState::new(layers, 1);
    work(&mut state);
    let finished = FinishedTurn::of(state.this_turn, said, "Yes.");
    let settings = SummarySettings::in_characters();
    let ended = summarize(state.conversation, finished, &settings, &Characters, |_| {
        None
    });
    let mut learned = Learned::reply("Yes.", at);
    learned.layers = Some(ended.context);
    store.learned(&lease, learned, at).await.unwrap();
}

#[test]
fn x09_everything_that_is_known_has_a_line_in_one_ledger() {
    let memory = bakery();
    let question = "why is the order for Sunday refused?";
    let table = context(&memory, &[question, "--pack", "--explain"]).success();
    for source in [
        "orders.py",
        "fact/role",
        "message/1.1#1",
        "entity/order_1",
        "step/1.1",
        "reminder/give-weights-in-grams",
        "document/handbook",
    ] {
        let line = table.lines().find(|line| line.contains(source));
        assert!(
            line.is_some_and(|line| line.starts_with("full")),
            "{source}:\n{table}"
        );
    }
    let report = context(&memory, &[question, "--pack", "--json", "--budget", "900"]).success();
    let report: Value = serde_json::from_str(&report).unwrap();
    let prompt = report["prompt"].as_str().unwrap();
    for text in [
        "You help to run a bakery.",
        "return order.day.weekday() == 6",
        "role: owner of the bakery",
        "Refuse every order for Sunday.",
        "Twelve rye for Sunday",
        "read: 1 record",
        "Give weights in grams.",
        "On Sunday we are closed.",
    ] {
        assert!(prompt.contains(text), "{text}:\n{prompt}");
    }
    assert!(report["tokens"].as_u64().unwrap() <= 900);
    assert_eq!(report["budget"], 900);
}

#[test]
fn x09_looking_changes_nothing() {
    let memory = bakery();
    let export = || {
        let args = ["--store", "sqlite:memory.db", "memory", "export", "-"];
        memory.0.run(&args).success()
    };
    let before = export();
    context(&memory, &["and now?"]).success();
    context(&memory, &["and now?", "--sender", "bob"]).success();
    assert_eq!(export(), before);
}

#[test]
fn a11_the_prompt_of_a_node_built_in_or_of_the_project() {
    let memory = bakery();
    let act = context(&memory, &["carry on", "--node", "act"]).success();
    assert!(
        act.contains("## Entity Context") && act.contains("\"count\":12"),
        "{act}"
    );
    let critic = context(&memory, &["carry on", "--node", "critic"]).success();
    assert!(critic.contains("Twelve rye for Sunday"), "{critic}");
    assert!(!critic.contains("\"count\":12"), "{critic}");
    let error = context(&memory, &["carry on", "--node", "critics"]).failure(2);
    assert!(error.contains("there is no node `critics`"), "{error}");
    assert!(
        error.contains("understand, think, act, reply, critic"),
        "{error}"
    );
}

#[test]
fn x09_a_context_without_a_store_or_a_project() {
    let folder = Memory::new();
    let home = folder.0.path().display().to_string();
    let variables = [("HOME", home.as_str()), ("XDG_DATA_HOME", home.as_str())];
    let prompt = folder
        .0
        .run_with(&variables, &["context", "who am I?"])
        .success();
    assert!(prompt.starts_with("[System]\nYou are Kitbag"), "{prompt}");
    assert!(prompt.trim_end().ends_with("[User]\nwho am I?"), "{prompt}");
    let error = folder.0.run_with(&variables, &["context", " "]).failure(2);
    assert!(error.contains("there is no message"), "{error}");
    let named = ["context", "x", "--store", "sqlite:none.db"];
    let error = folder.0.run_with(&variables, &named).failure(1);
    assert!(error.contains("none.db"), "{error}");
}

#[test]
fn x06_each_form_of_a_request_is_valid_json() {
    let memory = bakery();
    for (form, messages) in [
        ("anthropic", "messages"),
        ("openai", "messages"),
        ("responses", "input"),
    ] {
        let printed = context(&memory, &["and now?", "--format", form]).success();
        let request: Value = serde_json::from_str(&printed).unwrap();
        let messages = request[messages].as_array().unwrap();
        assert!(messages.len() >= 3, "{form}: {printed}");
        assert!(printed.contains("and now?"), "{form}: {printed}");
    }
}

#[test]
fn x09_a_channel_must_be_a_plain_word_where_a_layout_sees_it() {
    let memory = bakery();
    let odd = ["and now?", "--channel", "#bread & rolls", "--sender", "ann"];
    let error = context(&memory, &odd).failure(2);
    assert!(
        error.contains("`#bread & rolls` is not a channel name"),
        "{error}"
    );
    std::fs::remove_file(memory.0.path().join("kitbag.yaml")).unwrap();
    context(&memory, &odd).success();
}
