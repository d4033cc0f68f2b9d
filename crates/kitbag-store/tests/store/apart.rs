//! Tenants on one store: whatever each does, the answers of one are those of a tenant who is alone
//! on a store of its own, scores and errors included.

use std::fmt::Debug;

use jiff::SignedDuration;
use kitbag_core::inject::{ContextMessage, EntryAction};
use kitbag_core::role::Role;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    ConversationId, ExportFilter, Forget, Import, Incoming, Learned, Lease, Location, MessageId,
    NewFact, NewMessage, NewSummary, RecallRequest, Store, SummaryMaker, TurnId,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::crash;
use crate::place::{self, second};
use crate::remembered;
use crate::work::prompt_for;

#[test]
fn x07_a_tenant_on_a_shared_file_is_as_if_alone() {
    let folder = tempfile::tempdir().unwrap();
    as_if_alone(24, &Location::Sqlite(folder.path().join("memory.db")));
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_tenant_on_a_shared_server_is_as_if_alone() {
    as_if_alone(10, &place::postgres());
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask test"]
fn x07_a_tenant_behind_a_pooler_is_as_if_alone() {
    let url = place::address("KITBAG_TEST_PGBOUNCER");
    as_if_alone(10, &url.parse().unwrap());
}

/// One who is alone on a new file is compared with one of two on the shared store. On PostgreSQL that
/// compares both databases as well.
fn as_if_alone(cases: u32, shared: &Location) {
    let operations = prop::collection::vec((any::<bool>(), operation()), 5..60);
    let config = Config {
        cases: cases * crash::rounds() / 20,
        max_shrink_iters: 100,
        failure_persistence: None,
        ..Config::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let shared = runtime.block_on(Store::open(shared)).unwrap();
    let tested = TestRunner::new(config).run(&operations, |operations| {
        runtime.block_on(compare(&shared, operations))
    });
    if let Err(error) = tested {
        panic!("{error}");
    }
}

async fn compare(shared: &Store, operations: Vec<(bool, Operation)>) -> Result<(), TestCaseError> {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(folder.path().join("alone.db"));
    let mut alone = User::new(Store::open(&location).await.unwrap());
    let mut one = User::new(shared.for_tenant(place::new_tenant()));
    let mut other = User::new(shared.for_tenant(place::new_tenant()));
    for (step, (is_other, operation)) in operations.into_iter().enumerate() {
        let now = i64::try_from(step).unwrap() * 300;
        if is_other {
            other.answer(&operation, now, "theirs").await;
        } else {
            let expected = alone.answer(&operation, now, "ours").await;
            let found = one.answer(&operation, now, "ours").await;
            prop_assert!(!found.contains("theirs"), "{operation:?}: {found}");
            prop_assert_eq!(found, expected, "{:?}", operation);
        }
    }
    for operation in Operation::LOOKS {
        let expected = alone.answer(&operation, 0, "ours").await;
        let found = one.answer(&operation, 0, "ours").await;
        prop_assert_eq!(found, expected, "{:?}", operation);
    }
    Ok(())
}

/// What a tenant does. Numbers choose among a few names, so that both tenants use the same ones.
#[derive(Debug, Clone)]
enum Operation {
    Import { sender: u8, words: Vec<u8> },
    Accept { sender: u8, words: Vec<u8>, key: u8 },
    Begin { turn: TurnNumber },
    Send,
    Learn { words: Vec<u8>, fact: u8 },
    SetFact { sender: u8, key: u8, value: u8 },
    UnsetFact { sender: u8, key: u8 },
    AddEntry { turn: TurnNumber, words: Vec<u8> },
    Recall { sender: u8, words: Vec<u8> },
    ForgetMessage { turn: TurnNumber },
    ForgetConversation { turn: TurnNumber },
    ForgetSender { sender: u8 },
    Summarise { turn: TurnNumber, words: Vec<u8> },
    Close { turn: TurnNumber },
    Prune { before: u8 },
    Context { sender: u8, words: Vec<u8> },
    LookAt { turn: TurnNumber },
    List,
    Export,
    Count,
    Check,
}

/// The name of a turn, of whichever tenant: each sees its own under it, or none.
type TurnNumber = (u8, u8, u8);

impl Operation {
    const LOOKS: [Self; 4] = [Self::List, Self::Export, Self::Count, Self::Check];
}

fn operation() -> impl Strategy<Value = Operation> {
    let sender = || 0..2_u8;
    let words = || prop::collection::vec(0..12_u8, 1..6);
    let turn = || (1..4_u8, 1..3_u8, 1..4_u8);
    prop_oneof![
        2 => (sender(), words()).prop_map(|(sender, words)| Operation::Import { sender, words }),
        6 => (sender(), words(), 0..20_u8)
            .prop_map(|(sender, words, key)| Operation::Accept { sender, words, key }),
        4 => turn().prop_map(|turn| Operation::Begin { turn }),
        4 => Just(Operation::Send),
        3 => (words(), 0..3_u8).prop_map(|(words, fact)| Operation::Learn { words, fact }),
        2 => (sender(), 0..3_u8, 0..3_u8)
            .prop_map(|(sender, key, value)| Operation::SetFact { sender, key, value }),
        1 => (sender(), 0..3_u8).prop_map(|(sender, key)| Operation::UnsetFact { sender, key }),
        2 => (turn(), words()).prop_map(|(turn, words)| Operation::AddEntry { turn, words }),
        4 => (sender(), words()).prop_map(|(sender, words)| Operation::Recall { sender, words }),
        1 => turn().prop_map(|turn| Operation::ForgetMessage { turn }),
        1 => turn().prop_map(|turn| Operation::ForgetConversation { turn }),
        1 => sender().prop_map(|sender| Operation::ForgetSender { sender }),
        1 => (turn(), words())
            .prop_map(|(turn, words)| Operation::Summarise { turn, words }),
        1 => turn().prop_map(|turn| Operation::Close { turn }),
        1 => (0..40_u8).prop_map(|before| Operation::Prune { before }),
        3 => (sender(), words()).prop_map(|(sender, words)| Operation::Context { sender, words }),
        4 => turn().prop_map(|turn| Operation::LookAt { turn }),
        1 => Just(Operation::List),
        1 => Just(Operation::Export),
        1 => Just(Operation::Count),
        1 => Just(Operation::Check),
    ]
}

/// A tenant, with the lease that it took last.
struct User {
    store: Store,
    lease: Option<Lease>,
}

impl User {
    fn new(store: Store) -> Self {
        Self { store, lease: None }
    }

    /// Does it, and tells all that the store answered. `mark` stands in every text.
    async fn answer(&mut self, operation: &Operation, now: i64, mark: &str) -> String {
        let (store, now) = (&self.store, second(now));
        let text = |words: &[u8]| text(mark, words);
        match operation {
            Operation::Import { sender, words } => {
                let message = NewMessage::new(Role::User, text(words)).at(now);
                let import = Import::new("cli", name(*sender), None, message);
                told(store.import(vec![import], now).await)
            }
            Operation::Accept { sender, words, key } => {
                let incoming = Incoming::new("cli", name(*sender), text(words))
                    .with_idempotency_key(format!("key {key}"));
                told(store.accept(&incoming, now).await)
            }
            Operation::Begin { turn } => {
                let begun = store
                    .begin(turn_id(*turn), SignedDuration::from_secs(600), now)
                    .await;
                self.lease = begun.as_ref().ok().cloned().or(self.lease.take());
                told(begun)
            }
            Operation::Send => self.send(now).await,
            Operation::Learn { words, fact } => {
                let Some(lease) = &self.lease else {
                    return String::new();
                };
                let mut learned = Learned::reply(text(words), now);
                let fact = NewFact::new(format!("key {fact}"), text(words));
                learned.facts.push(fact);
                told(store.learned(lease, learned, now).await)
            }
            Operation::SetFact { sender, key, value } => {
                let fact = NewFact::new(format!("key {key}"), text(&[*value]));
                told(store.set_facts(&name(*sender), vec![fact], now).await)
            }
            Operation::UnsetFact { sender, key } => {
                let key = format!("key {key}");
                told(store.unset_fact(&name(*sender), &key, now).await)
            }
            Operation::AddEntry { turn, words } => {
                let key = format!("entry {}", words.len());
                let message =
                    ContextMessage::system(key, text(words)).with_consume_after_emit(true);
                let actions = vec![EntryAction::Upsert { message }];
                let conversation = turn_id(*turn).conversation();
                told(store.change_entries(conversation, actions).await)
            }
            Operation::Recall { sender, words } => {
                let request = RecallRequest::new(name(*sender), text(words)).at(now);
                told(store.recall(&request).await)
            }
            Operation::ForgetMessage { turn } => {
                let (scope, conversation, seq) = turn;
                let id: MessageId = format!("{scope}.{conversation}#{seq}").parse().unwrap();
                forgotten(store, Forget::Message(id)).await
            }
            Operation::ForgetConversation { turn } => {
                let id = turn_id(*turn).conversation();
                forgotten(store, Forget::Conversation(id)).await
            }
            Operation::ForgetSender { sender } => {
                forgotten(store, Forget::Sender(name(*sender))).await
            }
            Operation::Summarise { turn, words } => {
                let conversation = turn_id(*turn).conversation();
                let text = text(words);
                let summary = NewSummary::new((1, 2), text, SummaryMaker::Rules);
                let summary = store.add_summary(conversation, summary, now);
                told(summary.await)
            }
            Operation::Close { turn } => {
                let conversation = turn_id(*turn).conversation();
                match store.closing(conversation).await {
                    Ok(closing) => {
                        let closed = store.close(closing, Tokens(200), &Characters, now);
                        told(closed.await)
                    }
                    Err(error) => error.to_string(),
                }
            }
            Operation::Prune { before } => {
                let before = second(i64::from(*before) * 300);
                told(store.prune_prompts(Some(before), None).await)
            }
            Operation::Context { sender, words } => {
                let incoming = Incoming::new("cli", name(*sender), text(words));
                format!(
                    "{:?}",
                    remembered::prompt(store, &incoming, None, now).await
                )
            }
            Operation::LookAt { turn } => look_at(store, turn_id(*turn)).await,
            Operation::List => list(store).await,
            Operation::Export => told(store.export(&ExportFilter::default(), None, 500).await),
            Operation::Count => {
                let mut stats = store.stats().await.unwrap();
                // The size of the file is everybody's.
                stats.file_bytes = None;
                format!("{stats:?}")
            }
            Operation::Check => told(store.check().await),
        }
    }

    async fn send(&mut self, now: jiff::Timestamp) -> String {
        let Some(lease) = &self.lease else {
            return String::new();
        };
        let turn = match self.store.turn(lease.turn).await {
            Ok(turn) => turn,
            Err(error) => return error.to_string(),
        };
        match prompt_for(&self.store, &turn).await {
            Ok(prompt) => told(self.store.sent(lease, prompt, now).await),
            Err(error) => error.to_string(),
        }
    }
}

async fn look_at(store: &Store, turn: TurnId) -> String {
    let conversation: ConversationId = turn.conversation();
    [
        told(store.turn(turn).await),
        told(store.replay(turn, None).await),
        told(store.messages(conversation, 50).await),
        told(store.state(conversation).await),
        told(store.layers(conversation).await),
        told(store.epoch_key(conversation).await),
        told(store.unfinished_turns(conversation).await),
    ]
    .join("\n")
}

async fn list(store: &Store) -> String {
    let all = ExportFilter::default();
    let mut told_of = vec![
        told(store.senders(50).await),
        told(store.latest_conversations(&all, 50).await),
    ];
    for sender in [0, 1].map(name) {
        told_of.extend([
            told(store.conversations("cli", &sender, 50).await),
            told(store.facts(&sender, 50).await),
            told(store.fact_history(&sender, None, 50).await),
            told(store.summaries("cli", &sender, 50).await),
        ]);
    }
    told_of.join("\n")
}

/// Pages are PostgreSQL's alone.
async fn forgotten(store: &Store, what: Forget) -> String {
    let mut gone = store.forget(what).await;
    if let Ok(gone) = &mut gone {
        gone.in_pages = false;
    }
    told(gone)
}

fn told<T: Debug>(answer: Result<T, kitbag_store::StoreError>) -> String {
    match answer {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => format!("{error} ({error:?})"),
    }
}

fn turn_id((scope, conversation, turn): TurnNumber) -> TurnId {
    format!("{scope}.{conversation}.{turn}").parse().unwrap()
}

fn name(sender: u8) -> String {
    format!("sender {sender}")
}

/// A sentence of a few words; the mark tells whose it is.
fn text(mark: &str, words: &[u8]) -> String {
    const WORDS: [&str; 12] = [
        "harbour",
        "Lisbon",
        "tram",
        "window",
        "yesterday",
        "guitar",
        "lemon",
        "bridge",
        "letter",
        "winter",
        "Ann",
        "boat",
    ];
    let words = words.iter().map(|word| WORDS[usize::from(*word) % 12]);
    let words: Vec<&str> = words.collect();
    format!("{mark} {}", words.join(" "))
}
