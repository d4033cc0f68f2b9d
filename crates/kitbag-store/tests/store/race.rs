//! Nodes that race for the same thing: one gets it, the others are told so, and nobody waits forever.

use std::sync::Arc;

use jiff::SignedDuration;
use kitbag_core::inject::{ContextMessage, EntryAction};
use kitbag_core::role::Role;
use kitbag_store::{
    Forget, Import, Incoming, Learned, Lease, NewFact, NewMessage, RecallRequest, SentPrompt,
    Store, StoreError, StoredTurn,
};
use tokio::sync::Barrier;

use crate::crash::rounds_or;
use crate::on_two;
use crate::place::{self, run, second};
use crate::work::{Acknowledged, prompt_for};

on_two! {
    one_key_is_one_turn
    one_node_gets_the_lease
    one_of_two_messages_gets_the_lease_at_once
    t04_two_nodes_consume_an_entry_once
    t04_a_send_that_is_repeated_elsewhere_counts_once
    t03_each_prompt_of_a_turn_is_one_step
    work_on_the_same_rows_never_locks_up
    whoever_reads_sees_one_moment
}

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// How often each race is run.
fn times() -> i64 {
    rounds_or(12).into()
}

/// Runs both at the same moment, as nearly as can be.
async fn together<A: Send + 'static, B: Send + 'static>(
    one: impl Future<Output = A> + Send + 'static,
    other: impl Future<Output = B> + Send + 'static,
) -> (A, B) {
    let barrier = Arc::new(Barrier::new(2));
    let wait = Arc::clone(&barrier);
    let one = tokio::spawn(async move {
        wait.wait().await;
        one.await
    });
    barrier.wait().await;
    let other = other.await;
    (one.await.unwrap(), other)
}

async fn one_key_is_one_turn(first: Store, other: Store) {
    for number in 0..times() {
        let incoming = Incoming::new("cli", format!("ann {number}"), "hello")
            .with_idempotency_key(format!("k{number}"));
        let accept = |store: &Store| {
            let (store, incoming) = (store.clone(), incoming.clone());
            async move { store.accept(&incoming, second(0)).await.unwrap() }
        };
        let (one, two) = together(accept(&first), accept(&other)).await;
        assert_eq!(one, two);
    }
    let stats = first.stats().await.unwrap();
    assert_eq!(stats.turns, times() as u64);
    assert_eq!(stats.messages, times() as u64);
}

async fn one_node_gets_the_lease(first: Store, other: Store) {
    for number in 0..times() {
        let turn = accept(&first, &format!("ann {number}")).await;
        let begin = |store: &Store| {
            let store = store.clone();
            async move { store.begin(turn.id, MINUTE, second(0)).await }
        };
        let turn_id = turn.id;
        let (one, two) = together(begin(&first), begin(&other)).await;
        match (one, two) {
            (Ok(lease), Err(StoreError::Busy { .. }))
            | (Err(StoreError::Busy { .. }), Ok(lease)) => {
                assert_eq!(lease.turn, turn_id);
            }
            both => panic!("{both:?}"),
        }
    }
}

async fn one_of_two_messages_gets_the_lease_at_once(first: Store, other: Store) {
    for number in 0..times() {
        let incoming = Incoming::new("race", format!("ann {number}"), "hello");
        let begin = |store: &Store| {
            let (store, incoming) = (store.clone(), incoming.clone());
            async move { store.accept_and_begin(&incoming, MINUTE, second(0)).await }
        };
        let (one, two) = together(begin(&first), begin(&other)).await;
        let ((one, first_lease), (two, second_lease)) = (one.unwrap(), two.unwrap());
        assert_eq!(one.id.conversation(), two.id.conversation());
        assert_ne!(one.id, two.id, "both messages are kept");
        let leases = [(one.id, first_lease), (two.id, second_lease)];
        let held: Vec<bool> = leases
            .iter()
            .filter_map(|(turn, lease)| Some(lease.as_ref()?.turn == *turn))
            .collect();
        assert_eq!(held, [true], "one has the lease, for its own turn");
    }
}

/// The lease of the first node has run out, and the other one has taken it over: both have the
/// prompt ready.
async fn t04_two_nodes_consume_an_entry_once(first: Store, other: Store) {
    for number in 0..times() {
        let turn = accept(&first, &format!("ann {number}")).await;
        let conversation = turn.id.conversation();
        let once = ContextMessage::system("k", "only once").with_consume_after_emit(true);
        first
            .change_entries(conversation, vec![EntryAction::Upsert { message: once }])
            .await
            .unwrap();
        let old = first.begin(turn.id, MINUTE, second(0)).await.unwrap();
        let new = other.begin(turn.id, MINUTE, second(99)).await.unwrap();
        let prompt = prompt_for(&first, &turn).await.unwrap();
        let (lost, won) = together(
            send(&first, &old, prompt.clone()),
            send(&other, &new, prompt.clone()),
        )
        .await;
        assert!(
            matches!(lost, Err(StoreError::LeaseLost { .. })),
            "{lost:?}"
        );
        assert_eq!(won.unwrap().inferences, 1);
        let state = first.state(conversation).await.unwrap();
        assert_eq!(
            (state.entries.as_slice().len(), state.throttle.step),
            (0, 1)
        );
        let replayed = first.replay(turn.id, None).await.unwrap();
        assert_eq!(replayed.body, prompt.assembly.body);
    }
}

async fn t04_a_send_that_is_repeated_elsewhere_counts_once(first: Store, other: Store) {
    for number in 0..times() {
        let turn = accept(&first, &format!("ann {number}")).await;
        let lease = first.begin(turn.id, MINUTE, second(0)).await.unwrap();
        let prompt = prompt_for(&first, &turn).await.unwrap();
        let (one, two) = together(
            send(&first, &lease, prompt.clone()),
            send(&other, &lease, prompt),
        )
        .await;
        assert_eq!(one.unwrap(), two.unwrap());
        let state = first.state(turn.id.conversation()).await.unwrap();
        assert_eq!(state.throttle.step, 1);
        let reply = |store: &Store, text: &str| {
            let (store, lease) = (store.clone(), lease.clone());
            let learned = Learned::reply(text, second(1));
            async move { store.learned(&lease, learned, second(1)).await }
        };
        let (one, two) = together(reply(&first, "yes"), reply(&other, "no")).await;
        assert_eq!(one.unwrap(), two.unwrap());
        let said = first.messages(turn.id.conversation(), 9).await.unwrap();
        assert_eq!(said.len(), 2);
    }
}

/// Two prompts of one turn, made before either was sent: the later one is refused or counts after the
/// earlier one, and whatever both held is consumed once.
async fn t03_each_prompt_of_a_turn_is_one_step(first: Store, other: Store) {
    for number in 0..times() {
        let turn = accept(&first, &format!("ann {number}")).await;
        let once = ContextMessage::system("k", "only once").with_consume_after_emit(true);
        let added = vec![EntryAction::Upsert { message: once }];
        let id = turn.id.conversation();
        first.change_entries(id, added).await.unwrap();
        let lease = first.begin(turn.id, MINUTE, second(0)).await.unwrap();
        let prompt = prompt_for(&first, &turn).await.unwrap();
        let stale = prompt.clone().inference(1);
        let (one, two) = together(send(&first, &lease, prompt), send(&other, &lease, stale)).await;
        assert!(one.is_ok(), "{one:?}");
        let sent = match two {
            Ok(turn) => turn.inferences,
            Err(StoreError::Turn { .. }) => 1,
            Err(other) => panic!("{other}"),
        };
        let state = first.state(id).await.unwrap();
        assert_eq!(state.throttle.step, u64::from(sent));
        assert_eq!(state.entries.as_slice(), []);
        assert_eq!(first.turn(turn.id).await.unwrap().inferences, sent);
    }
}

/// Each of these takes several rows, and each in another order.
async fn work_on_the_same_rows_never_locks_up(first: Store, other: Store) {
    let mut tasks = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let store = if worker % 2 == 0 { &first } else { &other }.clone();
        tasks.spawn(async move {
            for step in 0..times() {
                if let Err(error) = jostle(&store, worker, step).await {
                    panic!("worker {worker}, step {step}: {error}");
                }
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    assert_eq!(first.check().await.unwrap(), Vec::<String>::new());
}

async fn jostle(store: &Store, worker: i64, step: i64) -> Result<(), StoreError> {
    let value = format!("value {worker} {step}");
    let mut facts = vec![NewFact::new("a", &value), NewFact::new("b", &value)];
    if worker % 4 < 2 {
        facts.reverse();
    }
    let done = match (worker + step) % 4 {
        0 => store.set_facts("ann", facts, second(step)).await,
        1 => {
            let senders = [
                "ann".to_owned(),
                format!("new {worker} {step}"),
                "zoe".to_owned(),
            ];
            let import = senders.map(|sender| {
                Import::new(
                    "cli",
                    sender,
                    None,
                    NewMessage::new(Role::User, "a long enough text"),
                )
            });
            store.import(import.into(), second(step)).await.map(drop)
        }
        2 => {
            let what = if step % 8 < 4 { "ann" } else { "zoe" };
            store
                .forget(Forget::Sender(what.to_owned()))
                .await
                .map(drop)
        }
        _ => whole_turn(store, facts, second(step * 1000 + worker * 100)).await,
    };
    match done {
        // Others forget and take over meanwhile: that is told, and no failure.
        Err(
            StoreError::Missing { .. }
            | StoreError::Busy { .. }
            | StoreError::LeaseLost { .. }
            | StoreError::Turn { .. },
        ) => Ok(()),
        other => other,
    }
}

async fn whole_turn(
    store: &Store,
    facts: Vec<NewFact>,
    now: jiff::Timestamp,
) -> Result<(), StoreError> {
    let turn = accept_at(store, "ann", now).await?;
    let lease = store.begin(turn.id, MINUTE, now).await?;
    let prompt = prompt_for(store, &turn).await?;
    store.sent(&lease, prompt, now).await?;
    let mut learned = Learned::reply("an answer that is long enough", now);
    learned.facts = facts;
    store.learned(&lease, learned, now).await.map(drop)
}

async fn accept(store: &Store, sender: &str) -> StoredTurn {
    accept_at(store, sender, second(0)).await.unwrap()
}

async fn accept_at(
    store: &Store,
    sender: &str,
    now: jiff::Timestamp,
) -> Result<StoredTurn, StoreError> {
    let incoming = Incoming::new("cli", sender, "what was that again?");
    store.accept(&incoming, now).await
}

fn send(
    store: &Store,
    lease: &Lease,
    prompt: SentPrompt,
) -> impl Future<Output = Result<StoredTurn, StoreError>> + Send + use<> {
    let (store, lease) = (store.clone(), lease.clone());
    async move { store.sent(&lease, prompt, second(100)).await }
}

/// Blocks are merged while others look for their words.
async fn whoever_reads_sees_one_moment(first: Store, other: Store) {
    let import = move |number: i64| {
        let message = |part| {
            let text = format!("note {number}.{part} on boats");
            Import::new(
                "cli",
                "ann",
                None,
                NewMessage::new(Role::User, text).at(second(0)),
            )
        };
        let messages = (0..60).map(message).collect();
        let store = first.clone();
        async move { store.import(messages, second(0)).await.unwrap() }
    };
    import(0).await;
    let writer = tokio::spawn(async move {
        for number in 1..20 {
            import(number).await;
        }
    });
    while !writer.is_finished() {
        let request = RecallRequest::new("ann", "boats").limit(5);
        assert_eq!(other.recall(&request).await.unwrap().len(), 5);
        assert_eq!(other.check().await.unwrap(), Vec::<String>::new());
    }
    writer.await.unwrap();
}

/// Many conversations of one process, which share one thread that writes.
#[test]
fn sixty_four_conversations_at_once() {
    place::on_sqlite(|store| async move {
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..64 {
            let store = store.clone();
            tasks.spawn(async move {
                for step in 0..4 {
                    let sender = format!("sender {number}");
                    let turn = accept_at(&store, &sender, second(step)).await.unwrap();
                    let lease = store.begin(turn.id, MINUTE, second(step)).await.unwrap();
                    let prompt = prompt_for(&store, &turn).await.unwrap();
                    store.sent(&lease, prompt, second(step)).await.unwrap();
                    let reply = Learned::reply("so it was", second(step));
                    store.learned(&lease, reply, second(step)).await.unwrap();
                }
            });
        }
        tasks.join_all().await;
        let stats = store.stats().await.unwrap();
        assert_eq!(
            (stats.turns, stats.messages, stats.prompts),
            (256, 512, 256)
        );
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    });
}

/// No writer of any process is told that the file is locked.
#[test]
fn four_processes_on_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    let seen = crate::crash::work_in_processes(&file, 4, 12);
    let stopped = |one: &&Acknowledged| matches!(one, Acknowledged::Stopped { .. });
    assert_eq!(
        seen.iter().find(stopped).map(|one| format!("{one:?}")),
        None
    );
    run(async {
        let location = kitbag_store::Location::Sqlite(file);
        let store = Store::open(&location).await.unwrap();
        crate::judge::judge(&store, &seen, second(9_000)).await;
    });
}
