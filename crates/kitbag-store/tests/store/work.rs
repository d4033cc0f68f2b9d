//! Random work on a store, as several nodes would do it at once, and what was acknowledged of it.
//!
//! Writers share a few conversations, so that they compete for leases and for durable entries. What
//! must hold afterwards is in `judge`.

use jiff::{SignedDuration, Timestamp};
use kitbag_core::assembly::{AssemblySettings, Draft, OutputForm, assemble};
use kitbag_core::inject::{ContextMessage, CooldownReading, EntryAction, plan};
use kitbag_core::record::TurnRecord;
use kitbag_core::role::Role;
use kitbag_core::tokens::{Characters, Tokens};
use kitbag_store::{
    ConversationId, Import, Incoming, Learned, Lease, NewFact, NewMessage, SentPrompt, Store,
    StoreError, StoredTurn, TurnId, TurnStatus,
};
use serde::{Deserialize, Serialize};

use crate::prompts::sent;
use crate::random::Random;

/// How many conversations the writers share.
pub(crate) const CONVERSATIONS: u64 = 8;

/// How long a lease lasts. The clock of the writers stands still, so that it never ends by itself.
const LEASE: SignedDuration = SignedDuration::from_secs(600);

/// Something that the store has answered for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Acknowledged {
    /// A message was accepted under a key.
    Accepted {
        talk: u64,
        key: String,
        turn: String,
    },
    /// A durable entry that is consumed once it was sent was added.
    Entry { conversation: String, key: String },
    /// A prompt was sent, with this text.
    Sent {
        turn: String,
        inference: u32,
        body: String,
    },
    /// A turn ended with an answer and a fact.
    Learned {
        turn: String,
        reply: String,
        fact: (String, String),
    },
    /// A turn ended without an answer.
    Failed { turn: String },
    /// A fact was set.
    Fact {
        sender: String,
        key: String,
        value: String,
    },
    /// Messages were imported under these references.
    Imported { references: Vec<String> },
    /// No more comes from this writer: the store has failed.
    Stopped { problem: String },
}

/// One of many who work on a store.
pub(crate) struct Writer {
    store: Store,
    random: Random,
    name: String,
    now: Timestamp,
    steps: u64,
    acknowledge: Box<dyn Fn(Acknowledged) + Send + Sync>,
}

pub(crate) fn channel() -> &'static str {
    "cli"
}

pub(crate) fn sender(talk: u64) -> String {
    format!("sender-{talk}")
}

/// What is said under a key.
pub(crate) fn question(key: &str) -> String {
    format!("question {key} about the harbour")
}

impl Writer {
    /// A writer whose name nobody else has, and whose clock shows `now`.
    pub(crate) fn new(
        store: Store,
        name: String,
        now: Timestamp,
        acknowledge: impl Fn(Acknowledged) + Send + Sync + 'static,
    ) -> Self {
        Self {
            store,
            random: Random::new(),
            name,
            now,
            steps: 0,
            acknowledge: Box::new(acknowledge),
        }
    }

    /// Does something. That another writer was faster is no failure.
    pub(crate) async fn step(&mut self) -> Result<(), StoreError> {
        self.steps += 1;
        let name = format!("{}-{}", self.name, self.steps);
        let talk = self.random.below(CONVERSATIONS);
        let done = match self.random.below(10) {
            0 => self.import(talk, &name).await,
            1 => self.set_fact(talk, &name).await,
            2 | 3 => self.add_entry(talk, &name).await,
            4 | 5 => self.resume(talk, &name).await,
            _ => self.ask(talk, &name).await,
        };
        match done {
            Err(
                StoreError::Busy { .. } | StoreError::LeaseLost { .. } | StoreError::Turn { .. },
            ) => Ok(()),
            other => other,
        }
    }

    async fn import(&mut self, talk: u64, name: &str) -> Result<(), StoreError> {
        let references: Vec<String> = (0..3).map(|part| format!("{name}-{part}")).collect();
        let messages = references.iter().map(|reference| {
            let message = NewMessage::new(Role::User, format!("imported {reference} by boat"))
                .with_reference(reference)
                .at(self.now);
            Import::new(channel(), sender(talk), Some(talk_name(talk)), message)
        });
        self.store.import(messages.collect(), self.now).await?;
        (self.acknowledge)(Acknowledged::Imported { references });
        Ok(())
    }

    async fn set_fact(&mut self, talk: u64, name: &str) -> Result<(), StoreError> {
        let (sender, key) = (sender(talk), format!("fact-{name}"));
        let value = format!("value of {name}");
        let fact = NewFact::new(&key, &value);
        self.store.set_facts(&sender, vec![fact], self.now).await?;
        (self.acknowledge)(Acknowledged::Fact { sender, key, value });
        Ok(())
    }

    async fn add_entry(&mut self, talk: u64, name: &str) -> Result<(), StoreError> {
        let conversation = self.conversation(talk).await?;
        let key = format!("once-{name}");
        let once = ContextMessage::system(&key, &key).with_consume_after_emit(true);
        let steady = ContextMessage::session("steady", "steady").with_cooldown_turns(2);
        let actions = [once, steady].map(|message| EntryAction::Upsert { message });
        self.store
            .change_entries(conversation, actions.into())
            .await?;
        let conversation = conversation.to_string();
        (self.acknowledge)(Acknowledged::Entry { conversation, key });
        Ok(())
    }

    async fn ask(&mut self, talk: u64, name: &str) -> Result<(), StoreError> {
        let incoming = Incoming::new(channel(), sender(talk), question(name))
            .in_conversation(talk_name(talk))
            .with_idempotency_key(name);
        let turn = self.store.accept(&incoming, self.now).await?;
        (self.acknowledge)(Acknowledged::Accepted {
            talk,
            key: name.to_owned(),
            turn: turn.id.to_string(),
        });
        self.work_on(turn.id, name).await
    }

    /// Goes on with a turn that somebody left: one that is dead, or is just slower.
    async fn resume(&mut self, talk: u64, name: &str) -> Result<(), StoreError> {
        let conversation = self.conversation(talk).await?;
        let unfinished = self.store.unfinished_turns(conversation).await?;
        if unfinished.is_empty() {
            return Ok(());
        }
        let one = self.random.below(unfinished.len() as u64) as usize;
        self.work_on(unfinished[one].id, name).await
    }

    async fn work_on(&mut self, turn: TurnId, name: &str) -> Result<(), StoreError> {
        // Now and then a lease is taken over from somebody who still works.
        let (length, late) = match self.random.one_in(8) {
            true => (SignedDuration::ZERO, LEASE),
            false => (LEASE, SignedDuration::ZERO),
        };
        let now = self.now.checked_add(late).unwrap();
        let lease = self.store.begin(turn, length, now).await?;
        let mut turn = self.store.turn(turn).await?;
        if matches!(turn.status, TurnStatus::Learned | TurnStatus::Failed) {
            return self
                .store
                .failed(&lease, "too late", TurnRecord::default(), now)
                .await
                .map(drop);
        }
        for _ in 0..=self.random.below(2) {
            turn = self.send(&lease, &turn).await?;
        }
        match self.random.below(40) {
            0 => Ok(()),
            1..4 => {
                self.store
                    .failed(&lease, "no answer", TurnRecord::default(), self.now)
                    .await?;
                (self.acknowledge)(Acknowledged::Failed {
                    turn: turn.id.to_string(),
                });
                Ok(())
            }
            _ => self.learn(&lease, name).await,
        }
    }

    async fn send(&mut self, lease: &Lease, turn: &StoredTurn) -> Result<StoredTurn, StoreError> {
        let prompt = prompt_for(&self.store, turn).await?;
        let body = prompt.assembly.body.clone();
        let sent = self.store.sent(lease, prompt, self.now).await?;
        (self.acknowledge)(Acknowledged::Sent {
            turn: turn.id.to_string(),
            inference: turn.inferences,
            body,
        });
        Ok(sent)
    }

    async fn learn(&mut self, lease: &Lease, name: &str) -> Result<(), StoreError> {
        let reply = format!("answer {name} from the quay");
        let fact = (format!("learned-{name}"), format!("lesson of {name}"));
        let mut learned = Learned::reply(reply.as_str(), self.now);
        learned.facts.push(NewFact::new(&fact.0, &fact.1));
        let turn = self.store.learned(lease, learned, self.now).await?;
        // Another writer may have ended the turn with its own answer meanwhile.
        let kept = match turn.reply {
            Some(id) => self.store.message(id).await?.text() == reply,
            None => false,
        };
        if kept {
            (self.acknowledge)(Acknowledged::Learned {
                turn: turn.id.to_string(),
                reply,
                fact,
            });
        }
        Ok(())
    }

    async fn conversation(&self, talk: u64) -> Result<ConversationId, StoreError> {
        let choice = kitbag_store::ConversationChoice::Named(talk_name(talk));
        let conversation = self
            .store
            .get_or_create_conversation(channel(), &sender(talk), &choice, self.now)
            .await?;
        Ok(conversation.id)
    }
}

/// The next prompt of a turn, with what is to be injected into it.
pub(crate) async fn prompt_for(store: &Store, turn: &StoredTurn) -> Result<SentPrompt, StoreError> {
    let message = store.message(turn.message).await?;
    let state = store.state(turn.id.conversation()).await?;
    let planned = plan(
        state.entries.as_slice(),
        &state.throttle,
        CooldownReading::default(),
    );
    let mut draft = Draft::new(message.text());
    draft.identity = "You know the harbour.".to_owned();
    draft.injected = planned.emitted;
    let settings = AssemblySettings::new(OutputForm::Flat, Tokens(10_000_000));
    let assembly = assemble(&draft, Vec::new(), &settings, &Characters, None).unwrap();
    Ok(sent(draft, settings, assembly).inference(turn.inferences))
}

fn talk_name(talk: u64) -> String {
    format!("talk {talk}")
}
