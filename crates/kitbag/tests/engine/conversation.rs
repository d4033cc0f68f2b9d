//! A conversation of 60 turns, from the message that comes in to the answer that is learned: its
//! topics drift, it recalls, it is reminded, its tools change, and it is closed once.

use std::fs;

use jiff::{SignedDuration, Timestamp};
use kitbag::core::assembly::{AssemblySettings, LedgerEntry, OutputForm};
use kitbag::core::chunk::{ChunkType, ContextChunk, Detail, Level, Relevance};
use kitbag::core::envelope::ToolDefinition;
use kitbag::core::inject::{ContextMessage, ContextMessageTarget, EntryAction};
use kitbag::core::tokens::{Characters, Tokens};
use kitbag::engine::{
    AgentRequest, Contribution, PromptRequest, Sources, TurnPrompt, TurnRequest, replay, turn,
};
use kitbag::layout::ChannelTurn;
use kitbag::project::{Project, ProjectPlaces};
use kitbag::store::{CloseOutcome, ConversationId, Incoming, Learned, MemoryRequest, Store};

use crate::{COUNTER, on_store, second};

const AGENT: &str = "agents: [{ id: guide, prompt: You show people around. }]\n";
const TURNS: usize = 60;
const BUDGET: Tokens = Tokens(48_000);
/// The turn after which the conversation is closed.
const CLOSED: usize = 40;
/// The turns at which the conversation turns to something else.
const SHIFTS: [usize; 2] = [20, 50];
/// The turn at which a tool is added.
const NEW_TOOL: usize = 30;

#[test]
fn x02_sixty_turns_keep_their_beginning_their_budget_and_their_worth() {
    on_store(async |store| {
        let world = World::new();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("kitbag.yaml"), AGENT).unwrap();
        let project = Project::open(&ProjectPlaces::new(folder.path()));
        let mut run = Run::default();
        for number in 0..TURNS {
            let said = world.message(number);
            let incoming = Incoming::new("cli", "ann", said.as_str());
            let now = second(60 * number as i64);
            let accepted = store.accept(&incoming, now).await.unwrap();
            if number == 0 || number == CLOSED + 1 {
                remind(&store, accepted.id.conversation()).await;
            }
            let lease = store
                .begin(accepted.id, SignedDuration::from_mins(5), now)
                .await
                .unwrap();
            let memory = MemoryRequest::new(incoming, now).answering(accepted.message);
            let mut settings = AssemblySettings::new(OutputForm::Anthropic, BUDGET);
            settings.chunk_limit = Some(Tokens(16_000));
            let mut request = TurnRequest::new(memory, PromptRequest::new("", settings));
            let mut sources = Sources::default();
            sources.store = Some(&store);
            let agent = AgentRequest::new(ChannelTurn::default());
            sources.project = Some(&project);
            request.agent = Some(agent);
            request.contributions = vec![world.contribution(number)];
            let prompt = turn(sources, request, &*COUNTER).await.unwrap();
            run.add(number, &prompt);

            store.sent(&lease, prompt.sent(), now).await.unwrap();
            let replayed = replay(&store, accepted.id, None).await.unwrap();
            assert_eq!(replayed.body, prompt.composed.body(), "{number}");
            let answer = Learned::reply(world.answer(number), now);
            store.learned(&lease, answer, now).await.unwrap();
            if number == CLOSED {
                close(&store, accepted.id.conversation(), now).await;
            }
        }
        run.judge();
    });
}

async fn close(store: &Store, conversation: ConversationId, now: Timestamp) {
    let closing = store.closing(conversation).await.unwrap();
    let limit = Tokens(200);
    let closed = store.close(closing, limit, &Characters, now).await.unwrap();
    assert!(
        matches!(closed, CloseOutcome::Closed(Some(_))),
        "{closed:?}"
    );
}

async fn remind(store: &Store, conversation: ConversationId) {
    let reminder = ContextMessage::new("units", "Give lengths in metres.")
        .with_target(ContextMessageTarget::SuffixSystem)
        .with_cooldown_turns(4);
    let actions = vec![EntryAction::Upsert { message: reminder }];
    store.change_entries(conversation, actions).await.unwrap();
}

/// The measures of all prompts.
#[derive(Debug, Default)]
struct Run {
    /// Of each prompt but the first of a conversation, in thousandths.
    reuse: Vec<u32>,
    worth: u64,
    best_worth: u64,
    renewals: usize,
    /// The security keys, each once.
    keys: Vec<String>,
    reminded: Vec<usize>,
    recalled: usize,
    summarised: usize,
}

impl Run {
    fn add(&mut self, number: usize, prompt: &TurnPrompt) {
        let assembly = &prompt.composed.assembly;
        let tokens = assembly.tokens;
        assert!(tokens <= BUDGET, "turn {number} has {tokens} tokens");
        let reuse = assembly.reuse.map(|reuse| reuse.permille());
        self.reuse.extend(reuse);
        let ledger = &assembly.ledger;
        self.worth += ledger.fit.worth;
        self.best_worth += ledger.epoch.best_worth;
        self.renewals += usize::from(ledger.epoch.renewed.is_some());
        self.keys
            .extend(prompt.agent.iter().map(|agent| agent.key.to_string()));
        self.keys.dedup();
        let shown = |kind: &str| {
            let is_shown =
                |entry: &&LedgerEntry| entry.level.is_some() && entry.source.starts_with(kind);
            ledger.entries.iter().filter(is_shown).count()
        };
        if shown("reminder/units") > 0 {
            self.reminded.push(number);
        }
        self.recalled += shown("message/");
        self.summarised += shown("summary/");
    }

    fn judge(&self) {
        let mean = self.reuse.iter().sum::<u32>() / self.reuse.len() as u32;
        assert!(mean >= 900, "{mean} thousandths are reused: {self:?}");
        // Each request is reused in the next, unless it was chosen anew or its history was cut.
        let low = self.reuse.iter().filter(|&&reuse| reuse < 900).count();
        assert!(self.renewals <= 7 && low <= self.renewals + 3, "{self:?}");
        assert_eq!(self.keys.len(), 2, "one for each conversation");
        assert!(self.worth * 100 >= self.best_worth * 99, "{self:?}");
        // A cooldown of 4 skips four prompts. It is a conversation's own: the second one begins anew.
        let expected: Vec<usize> = (0..=CLOSED)
            .step_by(5)
            .chain((CLOSED + 1..TURNS).step_by(5))
            .collect();
        assert_eq!(self.reminded, expected);
        // The second conversation knows of the first.
        assert!(self.recalled > 0 && self.summarised > 0, "{self:?}");
    }
}

/// Documents about topics, and what is said about them.
struct World {
    documents: Vec<(usize, String)>,
}

const TOPICS: [[&str; 6]; 8] = [
    ["bridge", "girder", "span", "rivet", "truss", "abutment"],
    ["garden", "tulip", "compost", "hedge", "trellis", "seedling"],
    ["harbour", "crane", "pier", "tugboat", "dredger", "mooring"],
    ["bakery", "sourdough", "oven", "rye", "proofing", "crust"],
    [
        "observatory",
        "telescope",
        "mirror",
        "comet",
        "eyepiece",
        "dome",
    ],
    ["vineyard", "barrel", "harvest", "cork", "cellar", "grape"],
    [
        "railway",
        "signal",
        "sleeper",
        "locomotive",
        "siding",
        "buffer",
    ],
    [
        "library",
        "catalogue",
        "shelf",
        "binding",
        "archive",
        "folio",
    ],
];

impl World {
    fn new() -> Self {
        let documents = (0..64).map(|number| {
            let topic = number % TOPICS.len();
            let words = 150 + number * 97 % 500;
            (topic, sentences(topic, number, words))
        });
        Self {
            documents: documents.collect(),
        }
    }

    /// The topic of a turn. It changes for good at each shift, and drifts to the next in between.
    fn topic(number: usize) -> usize {
        let shifts = SHIFTS.iter().filter(|&&at| at <= number).count();
        (3 * shifts + number / 15) % TOPICS.len()
    }

    fn message(&self, number: usize) -> String {
        let words = TOPICS[Self::topic(number)];
        format!(
            "Turn {number}: what did we say about the {} and the {}, and how long is the {} now?",
            words[number % 6],
            words[(number + 1) % 6],
            words[(number + 3) % 6],
        )
    }

    fn answer(&self, number: usize) -> String {
        sentences(Self::topic(number), 1_000 + number, 180)
    }

    /// The documents, as likely needed as the topic of the turn says.
    fn contribution(&self, number: usize) -> Contribution {
        let mut contribution = Contribution::default();
        let names: &[&str] = match number < NEW_TOOL {
            true => &["measure"],
            false => &["measure", "draw"],
        };
        contribution.draft.tools = names
            .iter()
            .map(|name| {
                ToolDefinition::new(
                    *name,
                    format!("Lets you {name}."),
                    serde_json::json!({"type": "object"}),
                )
            })
            .collect();
        for (index, (topic, text)) in self.documents.iter().enumerate() {
            let away = topic.abs_diff(Self::topic(number)).min(TOPICS.len());
            let ppm = [700_000, 90_000, 30_000, 8_000][away.min(3)]
                + (index as u32 * 7_919 + number as u32 * 104_729) % 5_000;
            let chunk = ContextChunk::new(
                ChunkType::Document,
                format!("document/{index:02}"),
                text.as_str(),
            )
            .with_level(Level::new(
                Detail::Outline,
                text.chars().take(text.len() / 4).collect::<String>(),
            ))
            .with_relevance(Relevance::from_ppm(ppm));
            contribution.add(chunk);
        }
        contribution
    }
}

/// Plain sentences about a topic, the same for the same seed.
fn sentences(topic: usize, seed: usize, words: usize) -> String {
    const FILLERS: [&str; 10] = [
        "stands", "near", "the", "old", "wall", "where", "rain", "falls", "and", "people",
    ];
    let mut state = seed as u64 * 2_654_435_761 + topic as u64;
    let mut next = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let mut text = String::new();
    for index in 0..words {
        let word = match next(4) {
            0 => TOPICS[topic][next(6)],
            _ => FILLERS[next(FILLERS.len())],
        };
        text.push_str(word);
        text.push_str(if index % 12 == 11 { ". " } else { " " });
    }
    text
}
