//! A turn as three durable steps: accepted, sent, learned. A process that dies between them leaves a
//! turn that another can go on with; the same step twice counts once.

use jiff::Timestamp;
use kitbag_core::inject::EntryAction;
use kitbag_core::stored::ConversationContext;

use crate::append::{self, Analysed};
use crate::conversation::{Conversation, ConversationChoice};
use crate::error::StoreError;
use crate::fact::{self, NewFact};
use crate::id::{ConversationId, MessageId, TurnId};
use crate::lease::Lease;
use crate::message::NewMessage;
use crate::names;
use crate::scope::Scope;
use crate::state;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Row, Value};

/// A message that asks for an answer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Incoming {
    /// Where it came in.
    pub channel: String,
    /// Who sent it.
    pub sender: String,
    /// Which conversation it belongs to.
    pub conversation: ConversationChoice,
    /// What was said.
    pub message: NewMessage,
    /// Names the request: the same key from the same sender is the same turn.
    pub idempotency_key: Option<String>,
}

impl Incoming {
    /// A message by the user, in the open conversation.
    #[must_use]
    pub fn new(
        channel: impl Into<String>,
        sender: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            channel: channel.into(),
            sender: sender.into(),
            conversation: ConversationChoice::default(),
            message: NewMessage::new(kitbag_core::role::Role::User, text),
            idempotency_key: None,
        }
    }

    /// The same with a key that makes a retry the same turn.
    #[must_use]
    pub fn with_idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.idempotency_key = Some(key.into());
        self
    }

    /// The same in a conversation with a name.
    #[must_use]
    pub fn in_conversation(mut self, name: impl Into<String>) -> Self {
        self.conversation = ConversationChoice::Named(name.into());
        self
    }
}

/// How far a turn has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnStatus {
    /// The message is kept.
    Accepted,
    /// A prompt was sent, and the provider has begun to answer.
    Sent,
    /// The answer is kept.
    Learned,
    /// It ended without an answer.
    Failed,
}

impl TurnStatus {
    const ALL: [Self; 4] = [Self::Accepted, Self::Sent, Self::Learned, Self::Failed];

    /// The status as it is stored and printed.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Sent => "sent",
            Self::Learned => "learned",
            Self::Failed => "failed",
        }
    }
}

/// A turn as the store has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// Its name.
    pub id: TurnId,
    /// How far it has come.
    pub status: TurnStatus,
    /// The message that it answers.
    pub message: MessageId,
    /// The answer.
    pub reply: Option<MessageId>,
    /// How many prompts were sent for it.
    pub inferences: u32,
    /// Why it ended without an answer.
    pub problem: Option<String>,
}

/// What a turn leaves behind when it ends.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Learned {
    /// The answer.
    pub reply: Option<NewMessage>,
    /// Facts about the sender.
    pub facts: Vec<NewFact>,
    /// Keys of facts that no longer hold.
    pub unset_facts: Vec<String>,
    /// The three layers as the turn leaves them.
    pub layers: Option<ConversationContext>,
    /// Changes to the durable context messages.
    pub entries: Vec<EntryAction>,
}

impl Learned {
    /// An answer, and nothing else.
    #[must_use]
    pub fn reply(text: impl Into<String>, at: Timestamp) -> Self {
        let reply = NewMessage::new(kitbag_core::role::Role::Assistant, text).at(at);
        Self {
            reply: Some(reply),
            ..Self::default()
        }
    }
}

impl Store {
    /// First step: keeps the message, before anything else is done with it. A message with the key of
    /// an earlier one is that one's turn, as far as it has come.
    ///
    /// # Errors
    /// When a name is not one, or the store fails.
    pub async fn accept(&self, incoming: &Incoming, now: Timestamp) -> Result<Turn, StoreError> {
        if let Some(key) = &incoming.idempotency_key {
            names::name("the idempotency key", key)?;
        }
        let Incoming {
            channel,
            sender,
            conversation,
            mut message,
            idempotency_key,
        } = incoming.clone();
        message.at.get_or_insert(now.into());
        let message = Analysed::new(message)?;
        self.write(move |tx| {
            Box::pin(async move {
                let mut scope = Scope::lock_or_make(tx, &channel, &sender).await?;
                if let Some(key) = &idempotency_key
                    && let Some(turn) = Turn::with_key(tx, scope.id, key).await?
                {
                    return Ok(turn);
                }
                let mut conversation =
                    Conversation::choose(tx, &mut scope, &conversation, now).await?;
                conversation.active = conversation.active.max(now);
                conversation.turns = conversation.turns.saturating_add(1);
                let first =
                    append::append(tx, &mut scope, &mut conversation, vec![message]).await?;
                conversation.save(tx).await?;
                scope.save(tx).await?;
                let turn = Turn {
                    id: TurnId {
                        conversation: conversation.id,
                        number: conversation.turns,
                    },
                    status: TurnStatus::Accepted,
                    message: MessageId {
                        conversation: conversation.id,
                        seq: first,
                    },
                    reply: None,
                    inferences: 0,
                    problem: None,
                };
                turn.insert(tx, idempotency_key, now).await?;
                Ok(turn)
            })
        })
        .await
    }

    /// A turn.
    ///
    /// # Errors
    /// When there is no such turn, or the store fails.
    pub async fn turn(&self, id: TurnId) -> Result<Turn, StoreError> {
        self.read(move |tx| Box::pin(async move { Turn::get(tx, id).await }))
            .await
    }

    /// The turns of a conversation that were begun and have not ended: those of a process that died
    /// among them.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn unfinished_turns(&self, id: ConversationId) -> Result<Vec<Turn>, StoreError> {
        self.read(move |tx| {
            Box::pin(async move {
                let sql = format!(
                    "SELECT {COLUMNS} FROM turn WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
                     AND ended IS NULL ORDER BY id"
                );
                let rows = tx.query(&sql, [id.scope.into(), id.number.into()]).await?;
                rows.into_iter().map(|row| Turn::read(id.scope, row)).collect()
            })
        })
        .await
    }

    /// Last step: keeps the answer and what was learned, and gives the lease back. A second time it
    /// changes nothing.
    ///
    /// # Errors
    /// When the lease was lost, or the store fails; then nothing is kept.
    pub async fn learned(
        &self,
        lease: &Lease,
        learned: Learned,
        now: Timestamp,
    ) -> Result<Turn, StoreError> {
        let lease = lease.clone();
        let reply = learned.reply.clone().map(Analysed::new).transpose()?;
        self.write(move |tx| {
            Box::pin(async move {
                let id = lease.turn.conversation;
                let mut scope = Scope::lock(tx, id.scope)
                    .await?
                    .ok_or_else(|| StoreError::missing("conversation", id))?;
                let mut conversation = Conversation::lock(tx, id).await?;
                // Read now that nobody else can change it.
                let mut turn = Turn::get(tx, lease.turn).await?;
                if turn.status == TurnStatus::Learned {
                    lease.release_if_held(tx).await?;
                    return Ok(turn);
                }
                lease.check(tx).await?;
                if let Some(reply) = reply {
                    let seq =
                        append::append(tx, &mut scope, &mut conversation, vec![reply]).await?;
                    turn.reply = Some(MessageId {
                        conversation: id,
                        seq,
                    });
                }
                conversation.active = conversation.active.max(now);
                conversation.save(tx).await?;
                scope.save(tx).await?;
                learn(tx, id, &learned, now).await?;
                turn.status = TurnStatus::Learned;
                turn.end(tx, now).await?;
                lease.release(tx).await?;
                Ok(turn)
            })
        })
        .await
    }

    /// Ends a turn without an answer, and gives the lease back. The message stays.
    ///
    /// # Errors
    /// When the lease was lost, or the store fails.
    pub async fn failed(
        &self,
        lease: &Lease,
        problem: &str,
        now: Timestamp,
    ) -> Result<Turn, StoreError> {
        let (lease, problem) = (lease.clone(), problem.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                lease.check(tx).await?;
                let mut turn = Turn::get(tx, lease.turn).await?;
                if turn.status != TurnStatus::Learned {
                    turn.status = TurnStatus::Failed;
                    turn.problem = Some(problem);
                    turn.end(tx, now).await?;
                }
                lease.release(tx).await?;
                Ok(turn)
            })
        })
        .await
    }
}

async fn learn(
    tx: &mut Tx<'_>,
    id: ConversationId,
    learned: &Learned,
    now: Timestamp,
) -> Result<(), StoreError> {
    if !learned.facts.is_empty() || !learned.unset_facts.is_empty() {
        let sender = Scope::sender(tx, id.scope)
            .await?
            .ok_or_else(|| StoreError::missing("conversation", id))?;
        fact::lock(tx, &sender).await?;
        for fact in &learned.facts {
            fact::set(tx, &sender, fact, now).await?;
        }
        for key in &learned.unset_facts {
            fact::end(tx, &sender, key, now).await?;
        }
    }
    if let Some(layers) = &learned.layers {
        state::save(tx, id, layers).await?;
    }
    state::apply(tx, id, learned.entries.clone()).await
}

const COLUMNS: &str = "conversation, id, status, message, reply, inferences, problem";

impl Turn {
    fn read(scope: u32, mut row: Row) -> Result<Self, StoreError> {
        let conversation = ConversationId {
            scope,
            number: row.u32()?,
        };
        let id = TurnId {
            conversation,
            number: row.u32()?,
        };
        let status = row.text()?;
        let known = TurnStatus::ALL
            .into_iter()
            .find(|known| known.as_str() == status);
        let message = |seq| MessageId { conversation, seq };
        Ok(Self {
            id,
            status: known.ok_or_else(|| StoreError::Damaged {
                table: "turn",
                reason: format!("turn {id} has the status `{status}`"),
            })?,
            message: message(row.u32()?),
            reply: row
                .int_or_null()?
                .and_then(|seq| u32::try_from(seq).ok())
                .map(message),
            inferences: row.u32()?,
            problem: row.text_or_null()?,
        })
    }

    pub(crate) async fn get(tx: &mut Tx<'_>, id: TurnId) -> Result<Self, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM turn WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND id = $4"
        );
        let at = id.conversation;
        let row = tx
            .query_one(&sql, [at.scope.into(), at.number.into(), id.number.into()])
            .await?
            .ok_or_else(|| StoreError::missing("turn", id))?;
        Self::read(at.scope, row)
    }

    async fn with_key(tx: &mut Tx<'_>, scope: u32, key: &str) -> Result<Option<Self>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM turn WHERE tenant = $1 AND scope = $2 AND idempotency_key = $3"
        );
        let row = tx.query_one(&sql, [scope.into(), key.into()]).await?;
        row.map(|row| Self::read(scope, row)).transpose()
    }

    async fn insert(
        &self,
        tx: &mut Tx<'_>,
        key: Option<String>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        tx.insert(
            "turn (tenant, scope, conversation, id, idempotency_key, status, message, inferences, accepted)",
            vec![[
                self.id.conversation.scope.into(),
                self.id.conversation.number.into(),
                self.id.number.into(),
                key.into(),
                self.status.as_str().into(),
                self.message.seq.into(),
                self.inferences.into(),
                now.as_microsecond().into(),
            ]],
        )
        .await
    }

    /// Writes that a prompt was sent.
    pub(crate) async fn sent(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        self.update(tx, None).await
    }

    async fn end(&self, tx: &mut Tx<'_>, now: Timestamp) -> Result<(), StoreError> {
        self.update(tx, Some(now)).await
    }

    async fn update(&self, tx: &mut Tx<'_>, ended: Option<Timestamp>) -> Result<(), StoreError> {
        tx.execute(
            "UPDATE turn SET status = $2, reply = $3, inferences = $4, ended = $5, problem = $6 \
             WHERE tenant = $1 AND scope = $7 AND conversation = $8 AND id = $9",
            [
                self.status.as_str().into(),
                self.reply.map(|reply| reply.seq).into(),
                self.inferences.into(),
                ended.map(Timestamp::as_microsecond).into(),
                self.problem.clone().map_or(Value::Null, Value::Body),
                self.id.conversation.scope.into(),
                self.id.conversation.number.into(),
                self.id.number.into(),
            ],
        )
        .await?;
        Ok(())
    }
}
