//! Adds messages to a conversation.

use std::collections::BTreeMap;

use kitbag_core::content::Content;
use kitbag_core::recall::{Analysis, Fingerprint, MessageTraits};
use kitbag_core::role::Role;
use kitbag_core::statement::Statement;

use crate::conversation::Conversation;
use crate::error::{Result, StoreError};
use crate::fact::{self, Drawn};
use crate::forget::MarkedMessage;
use crate::id::{ConversationId, MessageId};
use crate::index::{self, Entry};
use crate::message::{self, MessageTime, NewMessage};
use crate::scope::{Scope, Share};
use crate::secrets::Secrets;
use crate::transaction::Tx;
use crate::value::{Parameters, Value};

/// A message that was checked and analysed before any transaction. Its terms are encoded already:
/// as vectors those of a large batch would fill the memory, each with its own small allocation.
#[derive(Clone)]
pub(crate) struct Analysed {
    message: NewMessage,
    json: Option<String>,
    share: Share,
    traits: MessageTraits,
    words: u32,
    fingerprint: Fingerprint,
    terms: Option<Vec<u8>>,
    cuts: Option<Vec<u8>>,
    statements: Vec<Statement>,
}

impl Analysed {
    /// Checks and analyses a message. It is masked first, so no word of a secret reaches the index.
    pub(crate) fn new(
        mut message: NewMessage,
        secrets: Secrets,
        analyse: impl FnOnce(&str) -> Analysis,
    ) -> Result<Self> {
        message.check()?;
        if let Some(mut mask) = secrets.mask() {
            mask.message(&mut message.message);
        }
        message.reference = message.reference.map(|name| secrets.masked_name(name));
        let analysis = &analyse(&message.text());
        // The traits are kept either way; only the words of a message that may be recalled are
        // indexed.
        let recallable = message.recallable.then_some(analysis);
        Ok(Self {
            json: message::fields(&message.message)?,
            share: recallable.map(Share::of).unwrap_or_default(),
            traits: analysis.traits,
            words: analysis.words(),
            fingerprint: analysis.fingerprint,
            terms: recallable.map(|one| index::encode_terms(&one.passages)),
            cuts: index::cuts(analysis),
            statements: Vec::new(),
            message,
        })
    }

    /// Adds the statements of the speaker to the message.
    pub(crate) fn with_statements(mut self) -> Self {
        self.statements = fact::statements(&self.message);
        self
    }

    /// Takes the statements out, as those of the message with this id.
    pub(crate) fn take_drawn(&mut self, message: MessageId) -> Vec<Drawn> {
        let statements = std::mem::take(&mut self.statements).into_iter();
        let drawn = statements.map(|statement| Drawn {
            statement,
            message,
            speaker: self.message.message.name.clone(),
            at: self.at(),
        });
        drawn.collect()
    }

    /// The time when it was said.
    pub(crate) fn at(&self) -> Option<jiff::Timestamp> {
        self.message.at.map(MessageTime::timestamp)
    }

    pub(crate) fn reference(&self) -> Option<&str> {
        self.message.reference.as_deref()
    }

    /// The parts of its mark that a message knows itself; the caller adds its place.
    pub(crate) fn marked(&self) -> MarkedMessage<'_> {
        MarkedMessage {
            channel: "",
            sender: "",
            conversation: None,
            reference: self.reference(),
            role: self.message.message.role.as_str(),
            at: self.at().map(jiff::Timestamp::as_microsecond),
            text: self.message.text(),
        }
    }

    pub(crate) fn is_for_user(&self) -> bool {
        self.message.message.is_for_user()
    }

    pub(crate) fn content_hash(&self) -> ContentHash {
        let role = self.message.message.role.as_str();
        ContentHash::of(role, &self.message.text(), self.json.as_deref())
    }

    /// Overwrites an older message, whose time and reference stay. The caller rebuilds the index of
    /// its arrival and saves the scope.
    pub(crate) async fn write_over(
        self,
        tx: &mut Tx<'_>,
        scope: &mut Scope,
        id: MessageId,
    ) -> Result<()> {
        scope.add(self.share);
        let traits = self.traits.bits();
        let said = self.message.message;
        let internal = !said.is_for_user();
        let content = (
            (said.role.as_str(), said.name),
            Value::Body(into_body(said.content)),
            (self.json.map(Value::Body), internal),
        );
        let known = (traits, self.words, self.fingerprint.bits().cast_signed());
        tx.execute(
            "UPDATE message SET role = $2, speaker = $3, body = $4, json = $5, internal = $6, \
             sent_as = NULL, recallable = $7, traits = $8, words = $9, fingerprint = $10, \
             cuts = $11 \
             WHERE tenant = $1 AND scope = $12 AND conversation = $13 AND seq = $14",
            (content, self.message.recallable, known, self.cuts, id),
        )
        .await?;
        // Each row repeats the traits of the message before it, so that ranking need not read that
        // one.
        let sql = "UPDATE message SET previous_traits = $2 \
                   WHERE tenant = $1 AND scope = $3 AND conversation = $4 AND seq = $5";
        let next = id.conversation.message(id.seq.saturating_add(1));
        tx.execute(sql, (traits, next)).await.map(drop)
    }
}

/// A hash by which two messages with the same content and role compare equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ContentHash(blake3::Hash);

impl ContentHash {
    pub(crate) fn of(role: &str, body: &str, json: Option<&str>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for field in [Some(role), Some(body), json].into_iter().flatten() {
            // The length separates the fields: without it `ab` + `c` would equal `a` + `bc`.
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field.as_bytes());
        }
        Self(hasher.finalize())
    }
}

/// Adds messages to a conversation, and returns the number of the first one and the facts they
/// state. The caller has locked the scope, and saves scope and conversation.
pub(crate) async fn append(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    conversation: &mut Conversation,
    messages: Vec<Analysed>,
) -> Result<(u32, Vec<Drawn>)> {
    let first = conversation.messages.saturating_add(1);
    let mut batch = Batch::default();
    batch.add(tx, scope, conversation, messages).await?;
    let drawn = batch.write(tx, scope).await?;
    Ok((first, drawn))
}

/// Messages of one scope that are written with one insert.
#[derive(Default)]
pub(crate) struct Batch {
    /// The traits of the latest message of each conversation that was added to.
    latest: BTreeMap<u32, MessageTraits>,
    /// Each message with the words that the index gets of it.
    messages: Vec<(Pending, Entry)>,
    drawn: Vec<Drawn>,
    /// The messages that people may see, by conversation.
    kept: BTreeMap<ConversationId, i64>,
}

struct Pending {
    message: Analysed,
    previous: Option<MessageTraits>,
}

impl Batch {
    /// Adds messages of one conversation.
    pub(crate) async fn add(
        &mut self,
        tx: &mut Tx<'_>,
        scope: &mut Scope,
        conversation: &mut Conversation,
        messages: Vec<Analysed>,
    ) -> Result<()> {
        let mut previous = match self.latest.get(&conversation.id.number) {
            Some(traits) => Some(*traits),
            None => last_traits(tx, conversation).await?,
        };
        for mut message in messages {
            scope.arrivals = scope.arrivals.checked_add(1).ok_or_else(full)?;
            conversation.messages = conversation.messages.checked_add(1).ok_or_else(full)?;
            scope.add(message.share);
            // Filters on time skip conversations by these two, so they must enclose every message.
            if let Some(at) = message.at() {
                conversation.began = conversation.began.min(at);
                conversation.active = conversation.active.max(at);
            }
            let entry = Entry {
                arrival: scope.arrivals,
                conversation: conversation.id.number,
                seq: conversation.messages,
                by_person: message.message.message.role == Role::User,
                terms: message.terms.take(),
            };
            if message.is_for_user() {
                *self.kept.entry(conversation.id).or_default() += 1;
            }
            let id = conversation.id.message(conversation.messages);
            self.drawn.extend(message.take_drawn(id));
            let traits = message.traits;
            self.messages.push((Pending { message, previous }, entry));
            previous = Some(traits);
            self.latest.insert(conversation.id.number, traits);
        }
        Ok(())
    }

    /// Takes the count of a conversation's messages that people may see. The caller adds it to the
    /// conversation's row.
    pub(crate) fn take_kept(&mut self, id: ConversationId) -> i64 {
        self.kept.remove(&id).unwrap_or(0)
    }

    /// Writes the messages, and their words into the index. Returns the facts they state, which the
    /// caller keeps.
    pub(crate) async fn write(self, tx: &mut Tx<'_>, scope: &mut Scope) -> Result<Vec<Drawn>> {
        // The index cuts its blocks from a slice of entries.
        let (messages, entries): (Vec<Pending>, Vec<Entry>) = self.messages.into_iter().unzip();
        index::add(tx, scope, &entries).await?;
        let rows = messages.into_iter().zip(entries);
        let rows = rows.map(|(pending, entry)| pending.row(scope.id, entry));
        tx.insert(
            "message (tenant, scope, arrival, conversation, seq, role, speaker, ref, at, at_offset, \
             recallable, traits, previous_traits, words, fingerprint, cuts, body, json, internal)",
            rows,
        )
        .await?;
        for (conversation, kept) in self.kept {
            Conversation::add_kept(tx, conversation, kept).await?;
        }
        // A later analysis cuts words differently: both in one index would make some words
        // unfindable.
        if scope.analysis != index::ANALYSIS {
            index::reindex(tx, scope).await?;
        }
        Ok(self.drawn)
    }
}

impl Pending {
    fn row(self, scope: u32, entry: Entry) -> impl Parameters {
        let message = self.message;
        let said = message.message;
        let (at, offset) = said.at.map(MessageTime::to_columns).unzip();
        let internal = !said.message.is_for_user();
        let body = into_body(said.message.content);
        let previous = self.previous.map(MessageTraits::bits);
        (
            (scope, entry.arrival, entry.conversation, entry.seq),
            (
                said.message.role.as_str(),
                said.message.name,
                said.reference,
            ),
            (at, offset.flatten(), said.recallable),
            (message.traits.bits(), previous, message.words),
            message.fingerprint.bits().cast_signed(),
            (message.cuts, Value::Body(body)),
            (message.json.map(Value::Body), internal),
        )
    }
}

/// The text of a message, which is indexed.
fn into_body(content: Content) -> String {
    match content {
        Content::Text(text) => text,
        other => other.text().into_owned(),
    }
}

/// The traits of the latest message of a conversation.
async fn last_traits(
    tx: &mut Tx<'_>,
    conversation: &Conversation,
) -> Result<Option<MessageTraits>> {
    if conversation.messages == 0 {
        return Ok(None);
    }
    let sql = "SELECT traits FROM message \
               WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND seq = $4";
    let last = conversation.id.message(conversation.messages);
    let bits: Option<u32> = tx.query_one(sql, last).await?;
    Ok(bits.map(MessageTraits::from_bits))
}

fn full() -> StoreError {
    StoreError::invalid("the conversation", "has as many messages as can be counted")
}
