//! Forty turns with recall, a changing tool list, a reminder with a cooldown and compactions, within several
//! budgets: what is sent, and what it costs with all that learning asks for.

use std::collections::BTreeSet;

use kitbag::Engine;
use kitbag::answer::Answer;
use kitbag::core::context::DEFAULT_SYSTEM_PROMPT;
use kitbag::core::envelope::ToolDefinition;
use kitbag::core::inject::{ContextMessage, EntryAction};
use kitbag::core::role::Role;
use kitbag::core::tokens::Tokens;
use kitbag::engine::{Contribution, TurnRequest};
use kitbag::provider::{HttpProvider, HttpSettings};
use kitbag::store::{ConversationChoice, Import, Incoming, Location, NewMessage, Store};
use kitbag::wire::Dialect;
use serde_json::{Value, json};

use super::billing::{BillingUpstream, Cache};
use crate::run::Folder;

const TURNS: usize = 40;
/// The history of forty turns fits in none of these. Where it is compacted falls before, after and between the
/// changes of the tool list, which each time have all of the prompt written into the cache.
const BUDGETS: [u32; 7] = [9_000, 11_000, 12_000, 13_000, 14_000, 15_500, 18_000];
const MODEL: &str = "claude-opus-4-8";
const REMINDER: &str = "Answer in one paragraph, and name your sources.";
/// Prompts without the reminder after each one that shows it.
const COOLDOWN: u32 = 3;

/// Says of a conversation what is true of each.
const SUMMARY: &str = "They spoke about the sourdough starter, the beehive inspection, the bicycle gearbox, \
the tax return, the violin lessons, the roof repair, the marathon training and the greenhouse irrigation: \
what was said about each, and what to do next.";

const TOPICS: [&str; 8] = [
    "sourdough starter",
    "beehive inspection",
    "bicycle gearbox",
    "tax return",
    "violin lessons",
    "roof repair",
    "marathon training",
    "greenhouse irrigation",
];

#[tokio::test]
async fn o07_forty_turns_reuse_what_was_sent_and_cost_little_more_than_without_memory() {
    let bare = append_only_cost();
    let mut figures = Vec::new();
    for budget in BUDGETS.map(Tokens) {
        let talk = Talk::held_within(budget).await;
        everything_took_part(&talk.bodies);
        let reused = talk.bodies.windows(2);
        let reused: Vec<f64> = reused.map(|pair| reuse(&pair[0], &pair[1])).collect();
        let average = reused.iter().sum::<f64>() / reused.len() as f64;
        let ratio = talk.cost as f64 / bare as f64;
        let Talk { learned, shown, .. } = &talk;
        eprintln!(
            "{budget}: {:.1} % reused, {ratio:.3} times the cost, compacted after {learned:?}, in {shown:?}",
            average * 100.0
        );
        assert!(!learned.is_empty() || !shown.is_empty(), "{budget}");
        figures.push((budget, average, ratio));
    }
    for (budget, average, ratio) in figures {
        assert!(average >= 0.9, "{budget}: {average}");
        assert!(ratio <= 1.25, "{budget}: {ratio}");
    }
}

/// What was sent, and what it cost.
struct Talk {
    bodies: Vec<String>,
    cost: u64,
    /// The turns after which learning has compacted the conversation.
    learned: Vec<usize>,
    /// The turns whose own prompt was the first to show a compaction.
    shown: Vec<usize>,
}

impl Talk {
    async fn held_within(budget: Tokens) -> Self {
        let billing = BillingUpstream::start(|request| match asked(request) {
            Asked::Turn(turn) => answer(turn),
            Asked::Summary => SUMMARY.to_owned(),
            Asked::Facts => r#"{"facts": []}"#.to_owned(),
        });
        let folder = Folder::new();
        let engine = engine(&folder, &billing, budget).await;
        let (mut bodies, mut learned, mut shown) = (Vec::new(), Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let planned = engine.request(request(&engine, turn)).await.unwrap().0;
            let answer = run(&engine, turn).await;
            let body = answer.request.body();
            let composed = &answer.prompt.composed;
            let planned = planned.composed.compacted;
            assert_eq!(planned, composed.compacted, "a dry run of turn {turn}");
            let tokens = composed.assembly.tokens;
            assert!(tokens <= budget, "turn {turn} has {tokens:?}");
            shown.extend(composed.compacted.as_ref().map(|_| turn));
            let after = engine.after(&answer).await.unwrap();
            let lessons = engine.learn_after(after).await;
            assert_eq!(lessons.problems, [], "after turn {turn}");
            learned.extend(lessons.compacted.map(|_| turn));
            bodies.push(body);
        }
        let received = billing.upstream.bodies();
        for (turn, body) in bodies.iter().enumerate() {
            assert!(
                received.contains(body),
                "turn {turn} was sent as it is told"
            );
        }
        Self {
            bodies,
            cost: billing.bills().iter().map(|bill| bill.cost()).sum(),
            learned,
            shown,
        }
    }
}

async fn engine(folder: &Folder, billing: &BillingUpstream, budget: Tokens) -> Engine {
    let place = Location::Sqlite(folder.path().join("memory.db"));
    let store = Store::open(&place).await.unwrap();
    let earlier = TOPICS
        .iter()
        .enumerate()
        .flat_map(|(topic, _)| remembered(topic));
    let earlier = earlier.map(|(topic, text)| {
        let message = NewMessage::new(Role::User, text).at(at(0));
        Import::new("cli", "ada", Some(format!("earlier {topic}")), message)
    });
    store
        .import(earlier.collect::<Vec<_>>(), at(0))
        .await
        .unwrap();
    let choice = ConversationChoice::Named("long".to_owned());
    let conversation = store.get_or_create_conversation("cli", "ada", &choice, at(1));
    let reminder = ContextMessage::suffix_system("style", REMINDER).with_cooldown_turns(COOLDOWN);
    let reminder = EntryAction::Upsert { message: reminder };
    let id = conversation.await.unwrap().id;
    store.change_entries(id, vec![reminder]).await.unwrap();
    let address = billing.upstream.address();
    let settings = HttpSettings::new("billing", Dialect::Anthropic, address);
    Engine::builder()
        .store(store)
        .provider(HttpProvider::new(settings).unwrap())
        .model(MODEL)
        .budget(budget)
        .build()
        .unwrap()
}

fn at(second: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(1_790_000_000 + second).unwrap()
}

async fn run(engine: &Engine, turn: usize) -> Answer {
    let stop = std::pin::pin!(std::future::pending());
    let request = request(engine, turn);
    engine.answer(request, &mut |_| (), stop).await.unwrap()
}

fn request(engine: &Engine, turn: usize) -> TurnRequest {
    let incoming = Incoming::new("cli", "ada", question(turn)).in_conversation("long");
    let mut request = engine.turn(incoming).unwrap();
    let mut contribution = Contribution::default();
    contribution.draft.tools = tools(turn);
    request.contributions.push(contribution);
    request
}

/// Every part of the conversation is in what was sent.
fn everything_took_part(bodies: &[String]) {
    let requests: Vec<Value> = bodies
        .iter()
        .map(|body| serde_json::from_str(body).unwrap())
        .collect();
    let all_remembered = (0..TOPICS.len()).flat_map(remembered);
    let recalled: BTreeSet<String> = all_remembered
        .map(|(_, text)| text)
        .filter(|text| bodies.iter().any(|body| body.contains(text.as_str())))
        .collect();
    assert!(recalled.len() >= 10, "recall took no part: {recalled:?}");
    let names = |request: &Value| -> Vec<String> {
        let tools = request["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let changes = requests
        .windows(2)
        .filter(|pair| names(&pair[0]) != names(&pair[1]));
    assert_eq!(changes.count(), 2, "the tool list changed");
    let reminded = |body: &&String| body.contains(REMINDER);
    let due = TURNS.div_ceil(COOLDOWN as usize + 1);
    assert_eq!(
        bodies.iter().filter(reminded).count(),
        due,
        "the reminder has a cooldown"
    );
    let last = &bodies[TURNS - 1];
    let first = question(0);
    assert!(bodies[1].contains(&first) && !last.contains(&first));
    assert!(
        last.contains("messages of this conversation are not shown word for word"),
        "a summary stands there: {last}"
    );
}

/// The share of a request that the next one begins with.
fn reuse(before: &str, after: &str) -> f64 {
    let plain = |body: &str| body.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    let (before, after) = (plain(before), plain(after));
    let same = before
        .bytes()
        .zip(after.bytes())
        .take_while(|(a, b)| a == b);
    same.count() as f64 / before.len() as f64
}

/// The bill of a client that remembers nothing and keeps all that was said.
fn append_only_cost() -> u64 {
    let mut cache = Cache::default();
    let mut messages: Vec<Value> = Vec::new();
    let marker = json!({ "type": "ephemeral" });
    let mut cost = 0;
    for turn in 0..TURNS {
        messages.push(json!({ "role": "user", "content": question(turn) }));
        let mut sent = messages.clone();
        let text = json!({ "type": "text", "text": question(turn), "cache_control": marker });
        *sent.last_mut().unwrap() = json!({ "role": "user", "content": [text] });
        let system =
            json!({ "type": "text", "text": DEFAULT_SYSTEM_PROMPT, "cache_control": marker });
        let request =
            json!({ "model": MODEL, "tools": tools(turn), "system": [system], "messages": sent });
        cost += cache.charge(&request).cost();
        messages.push(json!({ "role": "assistant", "content": answer(turn) }));
    }
    cost
}

enum Asked {
    Turn(usize),
    Summary,
    Facts,
}

/// What a request asks for: an answer, or something that is learned from.
fn asked(request: &Value) -> Asked {
    let messages = request["messages"].as_array().unwrap().iter();
    let last = messages.rev().find(|one| one["role"] == "user").unwrap();
    let text = last["content"].to_string();
    if text.contains("Summarise the conversation") {
        return Asked::Summary;
    }
    let turn = (0..TURNS)
        .rev()
        .find(|turn| text.contains(&format!("Question {turn}:")));
    turn.map_or(Asked::Facts, Asked::Turn)
}

fn question(turn: usize) -> String {
    let topic = TOPICS[turn / 2 % TOPICS.len()];
    format!(
        "Question {turn}: what did we say about the {topic}, and what should I do next? {}",
        prose(turn as u64, 60)
    )
}

fn answer(turn: usize) -> String {
    let topic = TOPICS[turn / 2 % TOPICS.len()];
    format!(
        "Answer {turn} about the {topic}. {}",
        prose(1_000 + turn as u64, 160)
    )
}

/// Messages of earlier conversations about a topic.
fn remembered(topic: usize) -> Vec<(usize, String)> {
    let name = TOPICS[topic];
    let text = |number: usize| {
        let seed = 5_000 + (topic * 10 + number) as u64;
        format!("Note {number} on the {name}: {}", prose(seed, 25))
    };
    (0..5).map(|number| (topic, text(number))).collect()
}

/// Two tools, later three, later other ones.
fn tools(turn: usize) -> Vec<ToolDefinition> {
    let names: &[&str] = match turn {
        0..15 => &["calendar", "search"],
        15..30 => &["calendar", "search", "weather"],
        _ => &["calendar", "weather"],
    };
    let tool = |name: &&str| {
        let schema = json!({ "type": "object", "properties": { "query": { "type": "string" } } });
        ToolDefinition::new(
            *name,
            format!("Looks into the {name}. {}", prose(77, 40)),
            schema,
        )
    };
    names.iter().map(tool).collect()
}

/// So many words, the same for the same seed.
fn prose(seed: u64, words: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "do", "fe", "gi", "ku", "la", "mo", "ne", "pi", "ru", "sa", "to", "ve", "wi", "xu",
        "za",
    ];
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    let mut word = || {
        let syllables = 1 + below(3);
        (0..syllables)
            .map(|_| SYLLABLES[below(SYLLABLES.len())])
            .collect::<String>()
    };
    let words: Vec<String> = (0..words).map(|_| word()).collect();
    words.join(" ")
}
