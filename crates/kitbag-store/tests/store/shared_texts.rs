//! Prompts of one conversation share most of their texts: each is kept once, and none outlives what was forgotten.

use jiff::SignedDuration;
use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::chunk::{ChunkType, ContextChunk};
use kitbag_core::message::Message;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    Forget, Incoming, Learned, Lease, Location, MessageId, Store, StoreError, StoredMessage, TurnId,
};

use crate::on_both;
use crate::place::{run, second};
use crate::prompts::{begin, sent};

on_both! {
    x03_forgetting_empties_every_prompt_that_told_of_a_message
    x03_what_old_prompts_shared_with_later_ones_stays_and_can_be_forgotten
    x03_prompts_of_any_conversation_hold_nothing_forgotten
    x03_a_turn_that_is_tried_again_after_a_later_one_is_found
}

/// A turn whose prompt shows the latest `shown` messages of the conversation, and perhaps a fact.
async fn turn(store: &Store, text: &str, at: i64, shown: usize, fact: Option<&str>) -> TurnId {
    told(store, text, at, shown, fact).await.0
}

/// The same with the ids of all messages that it told of.
async fn told(
    store: &Store,
    text: &str,
    at: i64,
    shown: usize,
    fact: Option<&str>,
) -> (TurnId, Vec<MessageId>) {
    let lease = begin(store, text, at).await;
    let ids = answer(store, &lease, at, shown, fact).await;
    (lease.turn, ids)
}

/// Sends the prompt of a turn and keeps an answer.
async fn answer(
    store: &Store,
    lease: &Lease,
    at: i64,
    shown: usize,
    fact: Option<&str>,
) -> Vec<MessageId> {
    let conversation = lease.turn.conversation();
    let mut said = store.messages(conversation, 1_000).await.unwrap();
    said.drain(..said.len().saturating_sub(shown + 1));
    let ids = said.iter().map(|stored| stored.id).collect();
    let mut history: Vec<Message> = said.into_iter().map(StoredMessage::into_history).collect();
    let current = history.pop().unwrap();
    let mut draft = Draft::new("");
    draft.history = history;
    draft.current = current;
    let chunk = |fact: &str| ContextChunk::new(ChunkType::Fact, "fact/home", fact).into();
    let settings = AssemblySettings::new(OutputForm::Anthropic, Tokens(100_000));
    let chunks = fact.map(chunk).into_iter().collect();
    let assembly = assemble(&draft, chunks, &settings, &Characters, None).unwrap();
    let prompt = sent(draft, settings, assembly);
    store.sent(lease, prompt, second(at)).await.unwrap();
    let learned = Learned::reply(format!("The answer of moment {at}."), second(at));
    store.learned(lease, learned, second(at)).await.unwrap();
    ids
}

fn question(number: usize) -> String {
    format!("Question {number} about the beehive by the river?")
}

async fn message(store: &Store, turn: TurnId) -> MessageId {
    store.turn(turn).await.unwrap().message
}

async fn can_replay(store: &Store, turn: TurnId) -> bool {
    match store.replay(turn, None).await {
        Ok(_) => true,
        Err(StoreError::Replay { .. }) => false,
        Err(error) => panic!("{error}"),
    }
}

async fn x03_forgetting_empties_every_prompt_that_told_of_a_message(store: Store) {
    let mut turns = Vec::new();
    for number in 0..8 {
        // The history is shortened once, so that the first messages leave it.
        let shown = if number < 6 { 100 } else { 4 };
        turns.push(turn(&store, &question(number), number as i64, shown, None).await);
    }
    let id = message(&store, turns[1]).await;
    let gone = store.forget(Forget::Message(id)).await.unwrap();
    assert_eq!(gone.prompts, 5, "those of turns 1 to 5");
    for (number, turn) in turns.iter().enumerate() {
        let is_left = number == 0 || number > 5;
        assert_eq!(can_replay(&store, *turn).await, is_left, "turn {number}");
    }
    // What only the emptied prompts had in common with a later one is still known to stand in that.
    let id = message(&store, turns[5]).await;
    store.forget(Forget::Message(id)).await.unwrap();
    assert!(can_replay(&store, turns[0]).await);
    assert!(!can_replay(&store, turns[6]).await && !can_replay(&store, turns[7]).await);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn x03_what_old_prompts_shared_with_later_ones_stays_and_can_be_forgotten(store: Store) {
    let mut turns = Vec::new();
    for number in 0..6 {
        turns.push(
            turn(
                &store,
                &question(number),
                number as i64,
                100,
                Some("home: Porto"),
            )
            .await,
        );
    }
    let pruned = store.prune_prompts(Some(second(3)), None).await.unwrap();
    assert_eq!(pruned.prompts, 3);
    for (number, turn) in turns.iter().enumerate() {
        assert_eq!(
            can_replay(&store, *turn).await,
            number >= 3,
            "turn {number}"
        );
    }
    let id = message(&store, turns[0]).await;
    let gone = store.forget(Forget::Message(id)).await.unwrap();
    assert_eq!(
        gone.prompts, 3,
        "the first message stands in all that are left"
    );
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

/// Turns, forgetting and pruning in any order: a prompt can be made again exactly if it still is there and told
/// of nothing forgotten.
async fn x03_prompts_of_any_conversation_hold_nothing_forgotten(store: Store) {
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut below = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit as u64) as usize
    };
    let mut turns: Vec<(TurnId, Vec<MessageId>)> = Vec::new();
    let mut forgotten: Vec<MessageId> = Vec::new();
    let mut pruned = 0;
    for step in 0..60 {
        match below(6) {
            0 if turns.len() > 3 => {
                let id = message(&store, turns[below(turns.len())].0).await;
                if !forgotten.contains(&id) {
                    store.forget(Forget::Message(id)).await.unwrap();
                    forgotten.push(id);
                }
            }
            1 if pruned + 6 < turns.len() => {
                pruned += 1;
                let before = second(pruned as i64);
                store.prune_prompts(Some(before), None).await.unwrap();
            }
            _ => {
                let number = turns.len();
                let (text, shown) = (question(number), below(8));
                turns.push(told(&store, &text, number as i64, shown, None).await);
            }
        }
        for (number, (turn, told)) in turns.iter().enumerate() {
            let is_there = number >= pruned && !told.iter().any(|id| forgotten.contains(id));
            let can = can_replay(&store, *turn).await;
            assert_eq!(can, is_there, "step {step}, turn {number}");
        }
    }
    assert!(forgotten.len() > 2 && pruned > 2);
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

async fn x03_a_turn_that_is_tried_again_after_a_later_one_is_found(store: Store) {
    let first = turn(&store, &question(0), 0, 100, None).await;
    // Its provider fails, so that nothing of it is archived before the next turn is answered.
    let retried = Incoming::new("cli", "ann", question(1)).with_idempotency_key("again");
    let failed = store.accept(&retried, second(1)).await.unwrap().id;
    let later = turn(&store, &question(2), 2, 100, None).await;
    let lease = store
        .begin(failed, SignedDuration::from_secs(600), second(3))
        .await
        .unwrap();
    answer(&store, &lease, 3, 100, None).await;
    assert!(can_replay(&store, failed).await);

    let id = message(&store, first).await;
    let gone = store.forget(Forget::Message(id)).await.unwrap();
    assert_eq!(gone.prompts, 3);
    for turn in [first, failed, later] {
        assert!(!can_replay(&store, turn).await);
    }
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
}

#[test]
fn x03_a_turn_writes_only_the_texts_that_are_new() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.db");
    run(async {
        let store = Store::open(&Location::Sqlite(file.clone())).await.unwrap();
        for number in 0..12 {
            turn(&store, &question(number), number as i64, 100, None).await;
        }
        assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    });
    let connection = rusqlite::Connection::open(&file).unwrap();
    let count = |sql: &str| {
        connection
            .query_row(sql, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    let rows = count("SELECT count(*) FROM prompt_text");
    let texts = count("SELECT count(*) FROM text");
    assert!(rows <= texts + 12, "{rows} rows of {texts} texts");
}
