//! Adding messages to a conversation.

use std::collections::BTreeMap;

use kitbag_core::content::Content;
use kitbag_core::recall::{Analyser, Analysis, Fingerprint, MessageTraits, analyse};

use crate::conversation::Conversation;
use crate::error::StoreError;
use crate::index::{self, Entry};
use crate::message::{self, MessageTime, NewMessage};
use crate::scope::{Scope, Share};
use crate::transaction::Tx;
use crate::value::Value;

/// A message that was checked and analysed, outside of any transaction. Its terms are kept as they will
/// be written: those of a large batch would fill the memory, each with its own small allocation.
pub(crate) struct Analysed {
    message: NewMessage,
    json: Option<String>,
    share: Share,
    traits: MessageTraits,
    words: u32,
    fingerprint: Fingerprint,
    terms: Option<Vec<u8>>,
    cuts: Option<Vec<u8>>,
}

impl Analysed {
    pub(crate) fn new(message: NewMessage) -> Result<Self, StoreError> {
        message.check()?;
        let analysis = analyse(&message.text());
        Self::with(message, &analysis)
    }

    /// The same for one of many.
    pub(crate) fn one_of_many(
        message: NewMessage,
        analyser: &mut Analyser,
    ) -> Result<Self, StoreError> {
        message.check()?;
        let analysis = analyser.analyse(&message.text());
        Self::with(message, &analysis)
    }

    fn with(message: NewMessage, analysis: &Analysis) -> Result<Self, StoreError> {
        let recallable = message.recallable.then_some(analysis);
        Ok(Self {
            json: message::fields(&message.message)?,
            share: recallable.map(Share::of).unwrap_or_default(),
            traits: analysis.traits,
            words: analysis.words(),
            fingerprint: analysis.fingerprint,
            terms: recallable.map(|one| index::encode_terms(&one.passages)),
            cuts: index::cuts(analysis),
            message,
        })
    }

    /// When it was said.
    pub(crate) fn at(&self) -> Option<jiff::Timestamp> {
        self.message.at.map(MessageTime::timestamp)
    }

    pub(crate) fn reference(&self) -> Option<&str> {
        self.message.reference.as_deref()
    }
}

/// Adds messages to a conversation, and tells the number of the first. The caller has locked the
/// scope, and saves both.
pub(crate) async fn append(
    tx: &mut Tx<'_>,
    scope: &mut Scope,
    conversation: &mut Conversation,
    messages: Vec<Analysed>,
) -> Result<u32, StoreError> {
    let first = conversation.messages.saturating_add(1);
    let mut batch = Batch::default();
    batch.add(tx, scope, conversation, messages).await?;
    batch.write(tx, scope).await?;
    Ok(first)
}

/// Messages of one scope that are written together.
#[derive(Default)]
pub(crate) struct Batch {
    /// The latest message of each conversation that was added to.
    latest: BTreeMap<u32, MessageTraits>,
    messages: Vec<Pending>,
    entries: Vec<Entry>,
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
    ) -> Result<(), StoreError> {
        let mut previous = match self.latest.get(&conversation.id.number) {
            Some(traits) => Some(*traits),
            None => last_traits(tx, conversation).await?,
        };
        for mut message in messages {
            scope.arrivals = scope.arrivals.checked_add(1).ok_or_else(full)?;
            conversation.messages = conversation.messages.checked_add(1).ok_or_else(full)?;
            scope.add(message.share);
            self.entries.push(Entry {
                arrival: scope.arrivals,
                conversation: conversation.id.number,
                seq: conversation.messages,
                terms: message.terms.take(),
            });
            let traits = message.traits;
            self.messages.push(Pending { message, previous });
            previous = Some(traits);
            self.latest.insert(conversation.id.number, traits);
        }
        Ok(())
    }

    /// Writes them. Where they fill a block, their terms go there and not into their rows.
    pub(crate) async fn write(
        mut self,
        tx: &mut Tx<'_>,
        scope: &mut Scope,
    ) -> Result<(), StoreError> {
        index::make_blocks(tx, scope, &mut self.entries).await?;
        let rows = self.messages.into_iter().zip(self.entries);
        let rows = rows.map(|(pending, entry)| pending.row(scope.id, entry));
        tx.insert(
            "message (tenant, scope, arrival, conversation, seq, role, speaker, ref, at, at_offset, \
             recallable, traits, previous_traits, words, fingerprint, terms, cuts, body, json, internal)",
            rows.collect(),
        )
        .await?;
        if scope.analysis != index::ANALYSIS {
            index::reindex(tx, scope).await?;
        }
        Ok(())
    }
}

impl Pending {
    fn row(self, scope: u32, entry: Entry) -> [Value; 19] {
        let Analysed {
            message,
            json,
            traits,
            words,
            fingerprint,
            cuts,
            ..
        } = self.message;
        let NewMessage {
            message,
            reference,
            at,
            recallable,
        } = message;
        let (at, offset) = at.map(MessageTime::to_columns).unzip();
        let internal = !message.is_for_user();
        let body = match message.content {
            Content::Text(text) => text,
            other => other.text().into_owned(),
        };
        [
            scope.into(),
            entry.arrival.into(),
            entry.conversation.into(),
            entry.seq.into(),
            message.role.as_str().into(),
            message.name.into(),
            reference.into(),
            at.into(),
            offset.flatten().into(),
            recallable.into(),
            traits.bits().into(),
            self.previous.map(MessageTraits::bits).into(),
            words.into(),
            fingerprint.bits().cast_signed().into(),
            entry.terms.into(),
            cuts.into(),
            Value::Body(body),
            json.map_or(Value::Null, Value::Body),
            internal.into(),
        ]
    }
}

/// What is known of the latest message of a conversation.
async fn last_traits(
    tx: &mut Tx<'_>,
    conversation: &Conversation,
) -> Result<Option<MessageTraits>, StoreError> {
    if conversation.messages == 0 {
        return Ok(None);
    }
    let id = conversation.id;
    let row = tx
        .query_one(
            "SELECT traits FROM message \
             WHERE tenant = $1 AND scope = $2 AND conversation = $3 AND seq = $4",
            [
                id.scope.into(),
                id.number.into(),
                conversation.messages.into(),
            ],
        )
        .await?;
    row.map(|mut row| Ok(MessageTraits::from_bits(row.u32()?)))
        .transpose()
}

fn full() -> StoreError {
    StoreError::invalid("the conversation", "has as many messages as can be counted")
}
