//! One prompt of everything: a file, a fact, a recalled message, an entity, a step, a reminder and a
//! document compete for one budget.

use std::fs;
use std::path::Path;

use jiff::SignedDuration;
use kitbag::core::assembly::{AssemblySettings, Ledger, LedgerEntry, OutputForm};
use kitbag::core::inject::{ContextMessage, EntryAction};
use kitbag::core::reasoning::StepSummary;
use kitbag::core::summarize::{FinishedTurn, SummarySettings, summarize};
use kitbag::core::tokens::{TokenCounter as _, Tokens};
use kitbag::core::view::TurnState;
use kitbag::engine::{
    AgentRequest, Contribution, PromptRequest, Sources, TurnPrompt, TurnRequest, turn,
};
use kitbag::layout::{ChannelTurn, SecurityKey};
use kitbag::pack::{PackRequest, contribute, prepare};
use kitbag::project::{Project, ProjectPlaces};
use kitbag::store::{Incoming, Learned, MemoryRequest, NewFact, Store};
use serde_json::json;

use crate::{COUNTER, on_store, second};

/// The kinds that must meet, by the beginning of their sources.
const KINDS: [&str; 7] = [
    "src/",
    "fact/",
    "message/",
    "entity/",
    "step/",
    "reminder/",
    "document/",
];

const QUESTION: &str = "Why is the order for Sunday refused, and what does the plan bake first?";

#[test]
fn x09_everything_competes_in_one_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let bakery = folder.path().join("bakery");
    bake(&bakery);
    on_store(async |store| {
        remember(&store).await;
        for (name, budget) in [("2k", 2_000), ("8k", 8_000), ("32k", 32_000)] {
            let prompt = prompt(&store, &bakery, Tokens(budget)).await;
            let assembly = &prompt.composed.assembly;
            assert!(COUNTER.count(&assembly.body) <= Tokens(budget));
            for kind in KINDS {
                let shown = shown(&assembly.ledger, kind);
                assert!(shown > 0, "{name}: no {kind} is shown");
            }
            // The handbook is a document of the agent and a file of the workspace.
            assert_eq!(assembly.body.matches("# Handbook").count(), 1);
            insta::assert_snapshot!(
                name,
                format!("{}\n\n{}", assembly.body, table(&assembly.ledger))
            );
        }
    });
}

fn shown(ledger: &Ledger, kind: &str) -> usize {
    let is_shown = |entry: &&LedgerEntry| entry.level.is_some() && entry.source.starts_with(kind);
    ledger.entries.iter().filter(is_shown).count()
}

/// A line of the ledger for each thing that was considered.
fn table(ledger: &Ledger) -> String {
    let line = |entry: &LedgerEntry| {
        let level = entry.level.map_or("-", |level| level.as_str());
        let (tokens, score) = (entry.tokens.0, entry.score.total());
        let (source, reason) = (&entry.source, &entry.reason);
        format!("{level:8} {tokens:>5} {score:>5}  {source}: {reason}\n")
    };
    ledger.entries.iter().map(line).collect()
}

async fn prompt(store: &Store, bakery: &Path, budget: Tokens) -> TurnPrompt {
    let now = second(7_200);
    let project = Project::open(&ProjectPlaces::new(bakery));
    assert_eq!(project.problems, []);
    let key = SecurityKey::from_bytes([0xab; 16]);
    let agent = AgentRequest::new(ChannelTurn::default()).with_key(key);
    let memory = MemoryRequest::new(Incoming::new("cli", "ann", QUESTION), now);
    let settings = AssemblySettings::new(OutputForm::Flat, budget);
    let mut request = TurnRequest::new(memory, PromptRequest::new(QUESTION, settings));
    let mut sources = Sources::default();
    sources.store = Some(store);
    sources.project = Some(&project);
    request.agent = Some(agent);
    request.contributions = vec![workspace(bakery, budget).await];
    turn(sources, request, &*COUNTER).await.unwrap()
}

async fn workspace(bakery: &Path, budget: Tokens) -> Contribution {
    let mut request = PackRequest::new(bakery, QUESTION).with_budget(budget);
    request.survey.use_git = false;
    request.survey.cache_folder = Some(bakery.with_extension("cache"));
    let prepared = prepare(&request.survey).await.unwrap();
    contribute(&prepared, &request.options, &*COUNTER)
}

/// Copies the project. A module of many recipes makes it larger than 8,000 tokens.
fn bake(bakery: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/bakery");
    for file in [
        "kitbag.yaml",
        "docs/handbook.md",
        "src/orders.py",
        "src/oven.py",
        "src/prices.py",
    ] {
        let to = bakery.join(file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from.join(file), to).unwrap();
    }
    let breads = [
        "rye", "wheat", "spelt", "brioche", "bagel", "oat", "barley", "corn", "potato", "olive",
        "walnut", "onion", "pumpkin", "raisin", "sesame", "poppy", "honey", "beer", "garlic",
        "fig",
    ];
    let mut recipes =
        String::from("\"\"\"Recipes: what goes into a bread, and when it is ordered.\"\"\"\n");
    let styles = ["", "dark_"];
    let breads = styles
        .iter()
        .flat_map(|style| breads.map(|bread| format!("{style}{bread}")));
    for (index, bread) in breads.enumerate() {
        let (flour, water, salt) = (500 + 10 * index, 320 + 7 * index, 9 + index % 4);
        recipes += &format!(
            "\n\ndef dough_of_{bread}(loaves):\n    \"\"\"The dough for an order of {bread} loaves, in grams.\"\"\"\n    \
             if loaves < 1:\n        raise ValueError(f\"{{loaves}} loaves of {bread} need no dough\")\n    \
             flour = {flour} * loaves\n    water = {water} * loaves\n    salt = {salt} * loaves\n    \
             leaven = flour // {leaven}\n    \
             return {{\n        \"bread\": \"{bread}\",\n        \"flour\": flour,\n        \"water\": water,\n        \
             \"salt\": salt,\n        \"leaven\": leaven,\n        \"total\": flour + water + salt + leaven,\n    }}\n\n\n\
             def hours_of_{bread}():\n    \"\"\"The hours from the first mixing of {bread} until it is plain to bake.\"\"\"\n    \
             mixing, rest, shaping = {mixing}, {rest}, 1\n    return mixing + rest + shaping\n",
            leaven = 5 + index % 3,
            mixing = 1 + index % 2,
            rest = 3 + index % 5,
        );
    }
    fs::write(bakery.join("src/recipes.py"), recipes).unwrap();
}

/// What is remembered of Ann: an earlier conversation, a fact, a turn with an entity and a step, and a
/// reminder.
async fn remember(store: &Store) {
    let earlier = Incoming::new(
        "cli",
        "ann",
        "On Sunday we are closed, so refuse such an order.",
    );
    say(
        store,
        &earlier,
        "Understood: an order for Sunday is refused.",
        0,
        |_| (),
    )
    .await;
    let fact = NewFact::new("role", "owner of the bakery");
    store
        .set_facts("ann", vec![fact], second(10))
        .await
        .unwrap();

    let looked = Incoming::new("cli", "ann", "Which orders are there for the weekend?");
    let work = |state: &mut TurnState| {
        let registry = &mut state.conversation.id_registry;
        registry.register_read("row-17", "orders", "Twelve rye for Sunday");
        let rows = json!([{"id": "row-17", "product": "rye", "count": 12, "day": "2026-11-22"}]);
        let step = StepSummary::new(1, "read", "orders", "read the weekend's orders", None, 1);
        state.finish_step(step, rows);
    };
    let answer = "There is one: twelve rye for Sunday, which was refused.";
    let conversation = say(store, &looked, answer, 7_000, work).await;
    let reminder = ContextMessage::suffix_system("units", "Give weights in grams.");
    let actions = vec![EntryAction::Upsert { message: reminder }];
    store.change_entries(conversation, actions).await.unwrap();
}

async fn say(
    store: &Store,
    incoming: &Incoming,
    answer: &str,
    at: i64,
    work: impl FnOnce(&mut TurnState),
) -> kitbag::store::ConversationId {
    let now = second(at);
    let accepted = store.accept(incoming, now).await.unwrap();
    let id = accepted.id.conversation();
    let lease = store.begin(accepted.id, SignedDuration::from_mins(5), now);
    let lease = lease.await.unwrap();
    let mut state = TurnState::new(store.layers(id).await.unwrap(), 1);
    work(&mut state);
    let finished = FinishedTurn::of(state.this_turn, incoming.message.text(), answer);
    let settings = SummarySettings::default();
    let ended = summarize(state.conversation, finished, &settings, &*COUNTER, |_| None);
    let mut learned = Learned::reply(answer, now);
    learned.layers = Some(ended.context);
    store.learned(&lease, learned, now).await.unwrap();
    id
}
