//! What must hold in a store after random work, however that ended: what was acknowledged is there,
//! and nothing is there by half.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use kitbag_store::{Conversation, ExportFilter, Incoming, Store, StoredTurn, TurnId, TurnStatus};

use crate::work::{Acknowledged, CONVERSATIONS, channel, question, sender};

/// Fails the test unless everything that was acknowledged is there, each once, and all is whole.
pub(crate) async fn judge(store: &Store, acknowledged: &[Acknowledged], now: Timestamp) {
    assert_eq!(store.check().await.unwrap(), Vec::<String>::new());
    let found = Found::read(store).await;
    for one in acknowledged {
        found.answers_for(one);
    }
    accepted_again_is_the_same_turn(store, acknowledged, now).await;
}

/// All that the store has.
#[derive(Default)]
struct Found {
    turns: BTreeMap<String, StoredTurn>,
    /// By turn and inference.
    prompts: BTreeMap<(String, u32), String>,
    /// By their names in the store.
    messages: BTreeMap<String, String>,
    references: BTreeMap<String, usize>,
    facts: BTreeSet<(String, String, String)>,
    /// Entries that wait to be sent, by conversation and key.
    waiting: BTreeSet<(String, String)>,
    /// How often an entry that is consumed once it was sent stands in prompts.
    emitted: BTreeMap<(String, String), usize>,
}

impl Found {
    async fn read(store: &Store) -> Self {
        let mut found = Self::default();
        found.read_messages(store).await;
        for talk in 0..CONVERSATIONS {
            let sender = sender(talk);
            for fact in store.facts(&sender, 1_000_000).await.unwrap() {
                let fact = (sender.clone(), fact.key, fact.value);
                found.facts.insert(fact);
            }
            for conversation in store.conversations(channel(), &sender, 100).await.unwrap() {
                found.read_conversation(store, &conversation).await;
            }
        }
        found
    }

    async fn read_messages(&mut self, store: &Store) {
        let mut cursor = None;
        loop {
            let page = store.export(&ExportFilter::default(), cursor, 1_000).await;
            let (page, next) = page.unwrap();
            for exported in page {
                let stored = exported.unwrap().message;
                let text = stored.text().into_owned();
                self.messages.insert(stored.id.to_string(), text);
                if let Some(reference) = stored.reference {
                    *self.references.entry(reference).or_default() += 1;
                }
            }
            cursor = next;
            if cursor.is_none() {
                return;
            }
        }
    }

    async fn read_conversation(&mut self, store: &Store, conversation: &Conversation) {
        let name = conversation.id.to_string();
        let mut sent = 0;
        for number in 1..=conversation.turns {
            let id: TurnId = format!("{name}.{number}").parse().unwrap();
            let turn = store.turn(id).await.unwrap();
            assert!(self.messages.contains_key(&turn.message.to_string()));
            assert_eq!(turn.reply.is_some(), turn.status == TurnStatus::Learned);
            for inference in 0..turn.inferences {
                let replayed = store.replay(id, Some(inference)).await.unwrap();
                for word in replayed.body.split_whitespace() {
                    if word.starts_with("once-") {
                        let entry = (name.clone(), word.to_owned());
                        *self.emitted.entry(entry).or_default() += 1;
                    }
                }
                self.prompts
                    .insert((id.to_string(), inference), replayed.body);
                sent += 1;
            }
            self.turns.insert(id.to_string(), turn);
        }
        let state = store.state(conversation.id).await.unwrap();
        // Counted with the prompt or not at all.
        assert_eq!(state.throttle.step, sent, "conversation {name}");
        let entries = state.entries.as_slice().iter();
        for entry in entries.filter(|one| one.consume_after_emit) {
            let entry = (name.clone(), entry.key.clone());
            assert!(
                !self.emitted.contains_key(&entry),
                "{entry:?} was sent and is still there"
            );
            self.waiting.insert(entry);
        }
        for (entry, times) in &self.emitted {
            assert_eq!(*times, 1, "{entry:?} was consumed more than once");
        }
    }

    fn answers_for(&self, acknowledged: &Acknowledged) {
        match acknowledged {
            Acknowledged::Accepted { key, turn, .. } => {
                let turn = self.turn(turn);
                assert_eq!(self.text_of(turn.message), question(key));
            }
            Acknowledged::Entry { conversation, key } => {
                let entry = (conversation.clone(), key.clone());
                assert!(
                    self.waiting.contains(&entry) || self.emitted.contains_key(&entry),
                    "{entry:?} was lost before it was sent"
                );
            }
            Acknowledged::Sent {
                turn,
                inference,
                body,
            } => {
                let found = self.prompts.get(&(turn.clone(), *inference));
                assert_eq!(found, Some(body), "the prompt of turn {turn}");
            }
            Acknowledged::Learned { turn, reply, fact } => {
                let turn = self.turn(turn);
                assert_eq!(turn.status, TurnStatus::Learned, "{turn:?}");
                assert_eq!(self.text_of(turn.reply.unwrap()), reply);
                let is_known =
                    |(_, key, value): &(String, String, String)| (key, value) == (&fact.0, &fact.1);
                assert!(self.facts.iter().any(is_known), "{fact:?} was lost");
            }
            Acknowledged::Failed { turn } => {
                assert_eq!(self.turn(turn).status, TurnStatus::Failed);
            }
            Acknowledged::Fact { sender, key, value } => {
                let fact = (sender.clone(), key.clone(), value.clone());
                assert!(self.facts.contains(&fact), "{fact:?} was lost");
            }
            Acknowledged::Stopped { .. } => {}
            Acknowledged::Imported { references } => {
                for reference in references {
                    let times = self.references.get(reference);
                    assert_eq!(times, Some(&1), "imported message {reference}");
                }
            }
        }
    }

    fn turn(&self, id: &str) -> &StoredTurn {
        let turn = self.turns.get(id);
        turn.unwrap_or_else(|| panic!("turn {id} was lost"))
    }

    fn text_of(&self, id: kitbag_store::MessageId) -> &str {
        let text = self.messages.get(&id.to_string());
        text.unwrap_or_else(|| panic!("message {id} was lost"))
    }
}

async fn accepted_again_is_the_same_turn(
    store: &Store,
    acknowledged: &[Acknowledged],
    now: Timestamp,
) {
    let before = store.stats().await.unwrap();
    for one in acknowledged.iter().rev().take(20) {
        if let Acknowledged::Accepted { talk, key, turn } = one {
            let incoming =
                Incoming::new(channel(), sender(*talk), question(key)).with_idempotency_key(key);
            let again = store.accept(&incoming, now).await.unwrap();
            assert_eq!(again.id.to_string(), *turn);
        }
    }
    let after = store.stats().await.unwrap();
    assert_eq!(
        (before.messages, before.turns),
        (after.messages, after.turns)
    );
}
