//! A turn in three durable steps: accepted, sent, learned. If a process dies between them, another
//! can continue the turn; a repeated step counts once.

mod incoming;
mod learned;
mod row;

use jiff::{SignedDuration, Timestamp};
use kitbag_core::recall::analyse;
use kitbag_core::record::TurnRecord;

use crate::append::{self, Analysed};
use crate::calibration;
use crate::conversation::{Conversation, ConversationChoice};
use crate::error::{Result, StoreError};
use crate::fact;
use crate::id::{ConversationId, MessageId, TurnId};
use crate::lease::Lease;
use crate::names;
use crate::scope::Scope;
use crate::store::Store;
use crate::transaction::Tx;

pub use incoming::Incoming;
pub use learned::Learned;
use row::COLUMNS;

/// The progress of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TurnStatus {
    /// The message is stored.
    Accepted,
    /// A prompt was sent, and the provider has begun to answer.
    Sent,
    /// The answer is stored.
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
pub struct StoredTurn {
    /// Its id.
    pub id: TurnId,
    /// Its progress.
    pub status: TurnStatus,
    /// The message that it answers.
    pub message: MessageId,
    /// The answer.
    pub reply: Option<MessageId>,
    /// The number of prompts that were sent for it.
    pub inferences: u32,
    /// The reason it ended without an answer.
    pub problem: Option<String>,
    /// Its stages and bills, as reported by the caller that ended it.
    pub record: TurnRecord,
}

/// A message that is about to be stored.
#[derive(Clone)]
struct Accepting {
    channel: String,
    sender: String,
    conversation: ConversationChoice,
    message: Analysed,
    idempotency_key: Option<String>,
}

impl Accepting {
    async fn accept(self, tx: &mut Tx<'_>, now: Timestamp) -> Result<StoredTurn> {
        let mut scope = Scope::lock_or_make(tx, &self.channel, &self.sender).await?;
        // Under the lock of the scope: two retries at once must not both find no turn.
        if let Some(key) = &self.idempotency_key
            && let Some(turn) = StoredTurn::with_key(tx, scope.id, key).await?
        {
            return Ok(turn);
        }
        let mut conversation =
            Conversation::choose(tx, &mut scope, &self.conversation, now).await?;
        conversation.active = conversation.active.max(now);
        conversation.turns = conversation.turns.saturating_add(1);
        let message = vec![self.message];
        let (first, drawn) = append::append(tx, &mut scope, &mut conversation, message).await?;
        conversation.save(tx).await?;
        scope.save(tx).await?;
        fact::draw(tx, &self.sender, drawn, now).await?;
        let turn = StoredTurn {
            id: conversation.id.turn(conversation.turns),
            status: TurnStatus::Accepted,
            message: conversation.id.message(first),
            reply: None,
            inferences: 0,
            problem: None,
            record: TurnRecord::default(),
        };
        turn.insert(tx, self.idempotency_key, now).await?;
        Ok(turn)
    }
}

impl Store {
    /// First step: stores the message before anything else is done with it. A message with the key
    /// of an earlier one returns that one's turn, whatever its progress.
    ///
    /// # Errors
    /// When a name is invalid, or the store fails.
    pub async fn accept(&self, incoming: &Incoming, now: Timestamp) -> Result<StoredTurn> {
        let accepting = self.accepting(incoming, now)?;
        self.write(async move |tx| accepting.accept(tx, now).await)
            .await
    }

    /// Does [`accept`](Self::accept) and [`begin`](Self::begin) in one transaction. The lease is
    /// missing while another turn of the conversation is under way; the message is stored
    /// nevertheless.
    ///
    /// # Errors
    /// When a name is invalid, or the store fails; [`StoreError::Turn`] when a message with its key was
    /// answered already.
    pub async fn accept_and_begin(
        &self,
        incoming: &Incoming,
        length: SignedDuration,
        now: Timestamp,
    ) -> Result<(StoredTurn, Option<Lease>)> {
        let accepting = self.accepting(incoming, now)?;
        let (request, shared) = self.lease_request(length, now);
        let request = request.unanswered();
        let begun = self.write(async move |tx| {
            let turn = accepting.accept(tx, now).await?;
            match request.take(tx, turn.id).await {
                Ok(lease) => Ok((turn, Some(lease))),
                Err(StoreError::Busy { .. }) => Ok((turn, None)),
                Err(error) => Err(error),
            }
        });
        let (turn, lease) = begun.await?;
        Ok((turn, lease.map(|lease| lease.shared_by(shared))))
    }

    fn accepting(&self, incoming: &Incoming, now: Timestamp) -> Result<Accepting> {
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
        // Analysis happens before the transaction, which may run again.
        let message = Analysed::new(message, self.secrets(), analyse)?;
        Ok(Accepting {
            message: self.with_statements(message),
            conversation: self.secrets().masked_choice(conversation),
            channel,
            sender,
            idempotency_key,
        })
    }

    /// A turn.
    ///
    /// # Errors
    /// When there is no such turn, or the store fails.
    pub async fn turn(&self, id: TurnId) -> Result<StoredTurn> {
        self.read(async move |tx| StoredTurn::get(tx, id).await)
            .await
    }

    /// The latest turn of a conversation; none if it has had none.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn last_turn(&self, id: ConversationId) -> Result<Option<StoredTurn>> {
        self.read(async move |tx| {
            let sql = format!(
                "SELECT {COLUMNS} FROM turn WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
                     ORDER BY id DESC LIMIT 1"
            );
            tx.query_one(&sql, id).await
        })
        .await
    }

    /// The turns of a conversation that have begun and not ended, including those of a process that
    /// died.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn unfinished_turns(&self, id: ConversationId) -> Result<Vec<StoredTurn>> {
        self.read(async move |tx| {
            let sql = format!(
                "SELECT {COLUMNS} FROM turn WHERE tenant = $1 AND scope = $2 AND conversation = $3 \
                     AND ended IS NULL ORDER BY id"
            );
            tx.query(&sql, id).await
        })
        .await
    }

    /// Last step: stores the answer, the steps before it and everything learned, and releases the
    /// lease. Repeating it changes nothing.
    ///
    /// # Errors
    /// When the lease was lost, or the store fails; then nothing is kept.
    pub async fn learned(
        &self,
        lease: &Lease,
        learned: Learned,
        now: Timestamp,
    ) -> Result<StoredTurn> {
        let lease = lease.clone();
        let learned = learned.masked(self.secrets());
        let messages = learned.messages(now, self.secrets())?;
        self.write(async move |tx| {
            let id = lease.turn.conversation;
            let mut scope = Scope::lock(tx, id).await?;
            let mut conversation = Conversation::lock(tx, id).await?;
            // Read behind the locks, so nobody else can change it.
            let mut turn = StoredTurn::get(tx, lease.turn).await?;
            if turn.status == TurnStatus::Learned {
                // A repeated call, perhaps after a commit whose answer was lost.
                lease.release_if_held(tx).await?;
                return Ok(turn);
            }
            lease.check(tx).await?;
            if !messages.is_empty() {
                append::append(tx, &mut scope, &mut conversation, messages).await?;
            }
            let last = id.message(conversation.messages);
            turn.reply = learned.reply.is_some().then_some(last);
            conversation.active = conversation.active.max(now);
            conversation.save(tx).await?;
            scope.save(tx).await?;
            learned::learn(tx, id, &learned, now).await?;
            turn.status = TurnStatus::Learned;
            calibration::learn(tx, &learned.record).await?;
            turn.record.extend(learned.record);
            turn.update(tx, Some(now)).await?;
            lease.release(tx).await?;
            Ok(turn)
        })
        .await
    }

    /// Adds work besides the answer to the record of a turn, even after its end.
    ///
    /// # Errors
    /// When there is no such turn, or the store fails.
    pub async fn add_to_record(&self, id: TurnId, more: TurnRecord) -> Result<()> {
        let more = self.secrets().masked_value(more);
        self.write(async move |tx| {
            // The lock keeps others from changing the turn meanwhile.
            Conversation::lock(tx, id.conversation).await?;
            let mut turn = StoredTurn::get(tx, id).await?;
            turn.record.extend(more);
            turn.update_record(tx).await
        })
        .await
    }

    /// Ends a turn without an answer, and releases the lease. The message stays.
    ///
    /// # Errors
    /// When the lease was lost, or the store fails.
    pub async fn failed(
        &self,
        lease: &Lease,
        problem: &str,
        record: TurnRecord,
        now: Timestamp,
    ) -> Result<StoredTurn> {
        let lease = lease.clone();
        let record = self.secrets().masked_value(record);
        let problem = self.secrets().masked(problem.to_owned());
        self.write(async move |tx| {
            Conversation::lock(tx, lease.turn.conversation).await?;
            lease.check(tx).await?;
            let mut turn = StoredTurn::get(tx, lease.turn).await?;
            // An answer that was stored by another process is not turned into a failure.
            if turn.status != TurnStatus::Learned {
                turn.status = TurnStatus::Failed;
                turn.problem = Some(problem);
                turn.record.extend(record);
                turn.update(tx, Some(now)).await?;
            }
            lease.release(tx).await?;
            Ok(turn)
        })
        .await
    }
}
