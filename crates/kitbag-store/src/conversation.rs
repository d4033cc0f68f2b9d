//! Conversations: a message begins one, silence ends it.

mod latest;

use jiff::{SignedDuration, Timestamp};

use crate::error::{Result, StoreError};
use crate::id::ConversationId;
use crate::names;
use crate::scope::Scope;
use crate::state;
use crate::store::Store;
use crate::transaction::Tx;
use crate::value::{Value, from_row};

pub use latest::LatestConversation;

/// The silence after which the next message begins another conversation.
pub const IDLE: SignedDuration = SignedDuration::from_mins(30);

/// The choice of the conversation that a message belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConversationChoice {
    /// The open one, unless it has been silent for longer than this.
    Idle(SignedDuration),
    /// The one with this name.
    Named(String),
    /// The one with this id.
    Id(ConversationId),
}

impl Default for ConversationChoice {
    fn default() -> Self {
        Self::Idle(IDLE)
    }
}

/// A conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conversation {
    /// The store's number for it.
    pub id: ConversationId,
    /// The name that a client gave it.
    pub name: Option<String>,
    /// The title that a chat service shows for it.
    pub title: Option<String>,
    /// The time of its first message.
    pub began: Timestamp,
    /// The time of its latest message.
    pub active: Timestamp,
    /// The time when it was closed.
    pub closed: Option<Timestamp>,
    /// The messages it has ever had, counting forgotten ones.
    pub messages: u32,
    /// The turns it has ever had.
    pub turns: u32,
}

impl Store {
    /// Returns the open conversation of a channel and a sender, or begins one if there is none or
    /// it has been silent for too long.
    ///
    /// # Errors
    /// When a name is invalid, or the store fails.
    pub async fn get_or_create_conversation(
        &self,
        channel: &str,
        sender: &str,
        choice: &ConversationChoice,
        now: Timestamp,
    ) -> Result<Conversation> {
        let (channel, sender, choice) = (channel.to_owned(), sender.to_owned(), choice.clone());
        self.write(async move |tx| {
            let mut scope = Scope::lock_or_make(tx, &channel, &sender).await?;
            let mut conversation = Conversation::choose(tx, &mut scope, &choice, now).await?;
            // A clock that was set back must not make a conversation less recent.
            conversation.active = conversation.active.max(now);
            conversation.save(tx).await?;
            scope.save(tx).await?;
            Ok(conversation)
        })
        .await
    }

    /// The conversations of a channel and a sender, newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn conversations(
        &self,
        channel: &str,
        sender: &str,
        limit: u32,
    ) -> Result<Vec<Conversation>> {
        let (channel, sender) = (channel.to_owned(), sender.to_owned());
        self.read(async move |tx| {
            let Some(scope) = Scope::find(tx, &channel, &sender).await? else {
                return Ok(Vec::new());
            };
            let sql = select(" ORDER BY active DESC, id DESC LIMIT $3");
            tx.query(&sql, (scope.id, limit)).await
        })
        .await
    }
}

/// The conversation that a message belongs to.
pub(crate) enum Chosen {
    Stored(Conversation),
    /// One that is in no row yet.
    New(Conversation),
}

pub(crate) const COLUMNS: &str = "scope, id, name, title, began, active, closed, messages, turns";

from_row!(Conversation: id, name, title, began, active, closed, messages, turns);

/// The query for the conversations of a scope that meet a condition.
fn select(condition: &str) -> String {
    format!("SELECT {COLUMNS} FROM conversation WHERE tenant = $1 AND scope = $2{condition}")
}

impl Conversation {
    /// Locks a conversation to change it. The caller has locked its scope: everybody locks in that
    /// order.
    pub(crate) async fn lock(tx: &mut Tx<'_>, id: ConversationId) -> Result<Self> {
        let found = tx.lock_one(&select(" AND id = $3"), id).await?;
        found.ok_or_else(|| StoreError::missing("conversation", id))
    }

    /// The conversation by its number.
    pub(crate) async fn get(tx: &mut Tx<'_>, id: ConversationId) -> Result<Self> {
        let found = tx.query_one(&select(" AND id = $3"), id).await?;
        found.ok_or_else(|| StoreError::missing("conversation", id))
    }

    /// The conversation that a message at `now` would continue, if there is one.
    pub(crate) async fn find(
        tx: &mut Tx<'_>,
        scope: u32,
        choice: &ConversationChoice,
        now: Timestamp,
    ) -> Result<Option<Self>> {
        let (condition, values): (_, Vec<Value>) = match choice {
            ConversationChoice::Named(name) => ("name = $3", vec![name.into()]),
            // A message never continues another sender's conversation.
            ConversationChoice::Id(id) if id.scope != scope => return Ok(None),
            ConversationChoice::Id(id) => ("id = $3", vec![id.number.into()]),
            ConversationChoice::Idle(idle) => {
                let since = now.checked_sub(*idle).unwrap_or(Timestamp::MIN);
                // A message of an import may lie long before a conversation began: then it is not
                // part of it either.
                let until = now.checked_add(*idle).unwrap_or(Timestamp::MAX);
                (
                    "closed IS NULL AND name IS NULL AND active >= $3 AND began <= $4",
                    vec![since.into(), until.into()],
                )
            }
        };
        let sql = select(&format!(" AND {condition} ORDER BY id DESC LIMIT 1"));
        tx.query_one(&sql, (scope, values)).await
    }

    /// Returns the conversation that a message at `now` continues, or begins it. The caller saves
    /// scope and conversation.
    pub(crate) async fn choose(
        tx: &mut Tx<'_>,
        scope: &mut Scope,
        choice: &ConversationChoice,
        now: Timestamp,
    ) -> Result<Self> {
        match Self::choose_or_begin(tx, scope, choice, now).await? {
            Chosen::Stored(conversation) => Ok(conversation),
            Chosen::New(conversation) => {
                conversation.insert(tx, 0).await?;
                Ok(conversation)
            }
        }
    }

    /// Returns the conversation that a message at `now` continues, or one that the caller inserts.
    pub(crate) async fn choose_or_begin(
        tx: &mut Tx<'_>,
        scope: &mut Scope,
        choice: &ConversationChoice,
        now: Timestamp,
    ) -> Result<Chosen> {
        if let ConversationChoice::Named(name) = choice {
            names::name("the conversation", name)?;
        }
        if let Some(found) = Self::find(tx, scope.id, choice, now).await? {
            return Ok(Chosen::Stored(found));
        }
        let name = match choice {
            ConversationChoice::Named(name) => Some(name.clone()),
            ConversationChoice::Id(id) => return Err(StoreError::missing("conversation", id)),
            ConversationChoice::Idle(_) => None,
        };
        let before = Self::before(tx, scope.id, choice, now).await?;
        scope.conversations = scope.conversations.saturating_add(1);
        let conversation = Self {
            id: ConversationId {
                scope: scope.id,
                number: scope.conversations,
            },
            name,
            title: None,
            began: now,
            active: now,
            closed: None,
            messages: 0,
            turns: 0,
        };
        // Context messages that were waiting move to the new conversation, unless it has a name.
        if let Some(before) = before {
            Self::lock(tx, before).await?;
            state::hand_over_entries(tx, before, conversation.id).await?;
        }
        Ok(Chosen::New(conversation))
    }

    /// Inserts a conversation that was begun, of which people may see `kept` messages.
    pub(crate) async fn insert(&self, tx: &mut Tx<'_>, kept: i64) -> Result<()> {
        let into = format!("conversation (tenant, {COLUMNS}, kept)");
        let title = self.title.clone().map(Value::Body);
        let row = (
            (self.id, self.name.as_deref(), title),
            (self.began, self.active, self.closed),
            (self.messages, self.turns, kept),
        );
        tx.insert(&into, [row]).await
    }

    /// The conversation whose entries move to the one that a message at `now` begins: the latest
    /// unnamed one, if it was active before `now`. Named conversations take nothing over, nor does
    /// a conversation in the past that an import begins.
    pub(crate) async fn before(
        tx: &mut Tx<'_>,
        scope: u32,
        choice: &ConversationChoice,
        now: Timestamp,
    ) -> Result<Option<ConversationId>> {
        if let ConversationChoice::Named(_) = choice {
            return Ok(None);
        }
        let sql = select(" AND name IS NULL ORDER BY active DESC, id DESC LIMIT 1");
        let last: Option<Self> = tx.query_one(&sql, scope).await?;
        let last = last.filter(|last| last.active <= now);
        Ok(last.map(|last| last.id))
    }

    /// Changes the count of messages that people may see. The caller has locked the scope. An
    /// unknown count (NULL) stays unknown.
    pub(crate) async fn add_kept(tx: &mut Tx<'_>, id: ConversationId, more: i64) -> Result<()> {
        if more == 0 {
            return Ok(());
        }
        let sql = "UPDATE conversation SET kept = kept + $2 \
                   WHERE tenant = $1 AND scope = $3 AND id = $4";
        tx.execute(sql, (more, id)).await.map(drop)
    }

    /// Counts the messages that people may see again, for every conversation of a scope.
    pub(crate) async fn count_kept(tx: &mut Tx<'_>, scope: u32) -> Result<()> {
        let sql = "UPDATE conversation SET kept = (SELECT count(*) FROM message \
                   WHERE message.tenant = $1 AND message.scope = $2 \
                   AND message.conversation = conversation.id AND internal = 0) \
                   WHERE tenant = $1 AND scope = $2";
        tx.execute(sql, scope).await.map(drop)
    }

    /// Writes the changeable columns back.
    pub(crate) async fn save(&self, tx: &mut Tx<'_>) -> Result<()> {
        let times = (self.began, self.active, self.closed);
        let title = self.title.clone().map(Value::Body);
        tx.execute(
            "UPDATE conversation SET began = $2, active = $3, closed = $4, messages = $5, turns = $6, \
             title = $7 WHERE tenant = $1 AND scope = $8 AND id = $9",
            (times, self.messages, self.turns, title, self.id),
        )
        .await?;
        Ok(())
    }
}
