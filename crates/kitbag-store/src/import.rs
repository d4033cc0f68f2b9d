//! Imports many messages at once, with titles, facts and summaries.
//!
//! A message whose reference the conversation has already is known, or replaces the older content
//! if its own is new. Forgotten messages stay away.

mod batch;
mod batches;
mod target;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::append::{Analysed, Batch};
use crate::conversation::IDLE;
use crate::edit;
use crate::error::Result;
use crate::fact::{self, Drawn, NewFact};
use crate::forget::{self, Mark, MarkKey};
use crate::id::{ConversationId, MessageId};
use crate::message::NewMessage;
use crate::names;
use crate::scope::Scope;
use crate::store::{FactsFromTalk, Store};
use crate::summary::{self, NewSummary, SummaryMaker};
use crate::transaction::Tx;
use batch::Line;
use target::{Relation, Target};

pub use batch::ImportBatch;
pub use batches::ImportBatches;

/// A message from elsewhere.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Import {
    /// The channel it was said on.
    pub channel: String,
    /// The sender whose conversation it belongs to.
    pub sender: String,
    /// The name of the conversation; messages with the same name belong together. Without one, the
    /// message belongs to the open conversation.
    pub conversation: Option<String>,
    /// The title of the conversation, which replaces an earlier one.
    pub title: Option<String>,
    /// The message.
    pub message: NewMessage,
    /// Facts that were learned from the message, as told at its time. A fact that was told already
    /// is not set again.
    pub facts: Vec<NewFact>,
    /// A model's summary of the conversation up to this message, which replaces an earlier one.
    pub summary: Option<String>,
}

impl Import {
    /// A message from elsewhere.
    #[must_use]
    pub fn new(
        channel: impl Into<String>,
        sender: impl Into<String>,
        conversation: Option<String>,
        message: NewMessage,
    ) -> Self {
        Self {
            channel: channel.into(),
            sender: sender.into(),
            conversation,
            title: None,
            message,
            facts: Vec::new(),
            summary: None,
        }
    }

    /// Checks the limits for which the store would refuse a whole batch.
    ///
    /// # Errors
    /// Names the limit that is exceeded.
    pub fn check(&self) -> Result<()> {
        names::name("the channel", &self.channel)?;
        names::name("the sender", &self.sender)?;
        if let Some(conversation) = &self.conversation {
            names::name("the conversation", conversation)?;
        }
        if let Some(title) = &self.title {
            names::name("the title", title)?;
        }
        for fact in &self.facts {
            fact.check()?;
        }
        self.message.check()
    }
}

/// The outcome of a batch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// New messages.
    pub messages: usize,
    /// Messages that exist already.
    pub known: usize,
    /// Messages that existed with another content, which is now an older version.
    pub changed: usize,
    /// Messages and facts that were forgotten here and stay away.
    pub forgotten: usize,
    /// Facts.
    pub facts: usize,
    /// Summaries.
    pub summaries: usize,
}

impl Store {
    /// Keeps messages in their order: all of them, or none.
    ///
    /// # Errors
    /// When one of them is invalid, or the store fails.
    pub async fn import(&self, messages: Vec<Import>, now: Timestamp) -> Result<Imported> {
        let batch = ImportBatch::with_secrets(messages, self.secrets())?;
        self.import_batch(batch, now).await
    }

    /// Keeps a batch of messages in their order: all of them, or none.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn import_batch(&self, batch: ImportBatch, now: Timestamp) -> Result<Imported> {
        let facts_from_talk = self.facts_from_talk();
        self.write(async move |tx| {
            if batch.scopes.len() > 1 {
                Scope::lock_many(tx).await?;
            }
            // All scopes before any fact: every operation locks in this order.
            let mut scopes = Vec::with_capacity(batch.scopes.len());
            for ((channel, sender), lines) in batch.scopes {
                let scope = Scope::lock_or_make(tx, &channel, &sender).await?;
                scopes.push((scope, channel, sender, lines));
            }
            // Read behind the locks: a transaction that forgot something before has left its marks
            // by now.
            let key = MarkKey::find(tx).await?;
            let mut imported = Imported::default();
            for (scope, channel, sender, lines) in scopes {
                let mut importer = Importer {
                    scope,
                    channel,
                    sender,
                    now,
                    key: key.as_ref(),
                    restores: batch.restores,
                    facts_from_talk,
                    imported: &mut imported,
                };
                importer.import(tx, lines).await?;
            }
            Ok(imported)
        })
        .await
    }
}

/// Imports messages into one scope.
struct Importer<'a> {
    scope: Scope,
    channel: String,
    sender: String,
    now: Timestamp,
    /// The key of the marks, if there are any.
    key: Option<&'a MarkKey>,
    restores: bool,
    facts_from_talk: FactsFromTalk,
    imported: &'a mut Imported,
}

/// Parts of an import that refer to messages and so are written after them.
#[derive(Default)]
struct Deferred {
    changed: Vec<(MessageId, Analysed)>,
    facts: Vec<(MessageId, Timestamp, NewFact)>,
    summaries: BTreeMap<ConversationId, (u32, Timestamp, String)>,
}

impl Importer<'_> {
    async fn import(&mut self, tx: &mut Tx<'_>, lines: Vec<Line>) -> Result<()> {
        let lines = self.without_forgotten(tx, lines).await?;
        let mut batch = Batch::default();
        let mut deferred = Deferred::default();
        let mut targets: BTreeMap<Option<String>, Target> = BTreeMap::new();
        // Consecutive messages of one conversation are added together.
        let mut waiting = lines.into_iter().peekable();
        while let Some(first) = waiting.next() {
            let name = first.conversation.clone();
            let mut run = vec![first];
            while let Some(next) = waiting.next_if(|next| {
                next.conversation == name && (name.is_some() || follows(run.last(), next))
            }) {
                run.push(next);
            }
            if name.is_none() {
                // Silence ends a conversation without a name, so the next run may belong to another
                // one.
                if let Some(target) = targets.remove(&None) {
                    let kept = batch.take_kept(target.conversation.id);
                    target.save(tx, kept).await?;
                }
            }
            let target = match targets.entry(name.clone()) {
                Entry::Occupied(target) => target.into_mut(),
                Entry::Vacant(vacant) => {
                    let said = run.iter().find_map(|line| line.message.at());
                    let said = said.unwrap_or(self.now);
                    vacant.insert(Target::choose(tx, &mut self.scope, name, said).await?)
                }
            };
            if run.iter().any(|line| line.message.reference().is_some()) {
                target.read_references(tx).await?;
            }
            let new = self.classify(run, target, &mut deferred);
            let conversation = &mut target.conversation;
            batch.add(tx, &mut self.scope, conversation, new).await?;
        }
        for target in targets.values() {
            let kept = batch.take_kept(target.conversation.id);
            target.save(tx, kept).await?;
        }
        let mut drawn = batch.write(tx, &mut self.scope).await?;
        // A message that is in the batch twice, the second time changed, states only what it says
        // last.
        drawn.retain(|one| deferred.changed.iter().all(|(id, _)| *id != one.message));
        drawn.extend(edit::replace(tx, &mut self.scope, deferred.changed, self.now).await?);
        self.scope.save(tx).await?;
        if self.facts_from_talk == FactsFromTalk::Draw {
            self.keep_drawn(tx, drawn).await?;
        }
        self.keep_facts(tx, deferred.facts).await?;
        self.keep_summaries(tx, deferred.summaries).await
    }

    /// Removes forgotten messages from the lines; or their marks, if they may come back.
    async fn without_forgotten(&mut self, tx: &mut Tx<'_>, lines: Vec<Line>) -> Result<Vec<Line>> {
        let Some(key) = self.key else {
            return Ok(lines);
        };
        let mark = |line: &Line| {
            let message = line.message.marked();
            key.of_message(forget::MarkedMessage {
                channel: &self.channel,
                sender: &self.sender,
                conversation: line.conversation.as_deref(),
                ..message
            })
        };
        let marks: Vec<Mark> = lines.iter().map(mark).collect();
        let left = self.marks_that_hold(tx, &marks).await?;
        let before = lines.len();
        let kept = lines.into_iter().zip(marks);
        let kept = kept.filter(|(_, mark)| !left.contains(mark));
        let kept: Vec<Line> = kept.map(|(line, _)| line).collect();
        self.imported.forgotten += before - kept.len();
        Ok(kept)
    }

    /// Those of some marks that keep a message or fact away.
    async fn marks_that_hold(&self, tx: &mut Tx<'_>, marks: &[Mark]) -> Result<BTreeSet<Mark>> {
        let left = forget::left_marks(tx, marks).await?;
        if self.restores {
            forget::remove_marks(tx, left).await?;
            return Ok(BTreeSet::new());
        }
        Ok(left)
    }

    /// Returns the new messages of a run, and defers everything that refers to messages.
    fn classify(
        &mut self,
        run: Vec<Line>,
        target: &mut Target,
        deferred: &mut Deferred,
    ) -> Vec<Analysed> {
        let mut new = Vec::with_capacity(run.len());
        let id = target.conversation.id;
        for line in run {
            let next = target.conversation.messages as usize + new.len() + 1;
            let next = u32::try_from(next).unwrap_or(u32::MAX);
            let relation = target.relation(&line.message, next);
            let conversation = &mut target.conversation;
            let at = line.message.at();
            if let Some(at) = at {
                conversation.began = conversation.began.min(at);
                conversation.active = conversation.active.max(at);
            }
            // A later line without a title keeps the title of an earlier one.
            conversation.title = line.title.or(conversation.title.take());
            let at = at.unwrap_or(self.now);
            let seq = match relation {
                Relation::New => {
                    self.imported.messages += 1;
                    new.push(line.message);
                    next
                }
                Relation::Known(seq) => {
                    self.imported.known += 1;
                    seq
                }
                Relation::Changed(seq) => {
                    self.imported.changed += 1;
                    deferred.changed.push((id.message(seq), line.message));
                    seq
                }
            };
            let facts = line.facts.into_iter();
            deferred
                .facts
                .extend(facts.map(|fact| (id.message(seq), at, fact)));
            if let Some(summary) = line.summary {
                deferred.summaries.insert(id, (seq, at, summary));
            }
        }
        new
    }

    /// Keeps statements as facts, except forgotten ones.
    async fn keep_drawn(&self, tx: &mut Tx<'_>, drawn: Vec<Drawn>) -> Result<()> {
        let mut facts = fact::new_facts(&self.sender, drawn, self.now);
        if let Some(key) = self.key {
            let mark = |fact: &NewFact| key.of_fact(&self.sender, &fact.key, &fact.value);
            let marks: Vec<Mark> = facts.iter().map(|(fact, _)| mark(fact)).collect();
            let left = self.marks_that_hold(tx, &marks).await?;
            facts.retain(|(fact, _)| !left.contains(&mark(fact)));
        }
        fact::keep_drawn(tx, &self.sender, facts).await
    }

    async fn keep_facts(
        &mut self,
        tx: &mut Tx<'_>,
        facts: Vec<(MessageId, Timestamp, NewFact)>,
    ) -> Result<()> {
        if facts.is_empty() {
            return Ok(());
        }
        fact::lock(tx, &self.sender).await?;
        for (source, since, fact) in facts {
            if let Some(key) = self.key {
                let mark = key.of_fact(&self.sender, &fact.key, &fact.value);
                if !self.marks_that_hold(tx, &[mark]).await?.is_empty() {
                    self.imported.forgotten += 1;
                    continue;
                }
            }
            let fact = fact.from_message(source);
            let is_new = fact::set_at(tx, &self.sender, &fact, since).await?;
            self.imported.facts += usize::from(is_new);
        }
        Ok(())
    }

    async fn keep_summaries(
        &mut self,
        tx: &mut Tx<'_>,
        summaries: BTreeMap<ConversationId, (u32, Timestamp, String)>,
    ) -> Result<()> {
        for (id, (last, made, text)) in summaries {
            let summary = NewSummary::new((1, last), text, SummaryMaker::Model);
            self.imported.summaries += usize::from(summary::renew(tx, id, &summary, made).await?);
        }
        Ok(())
    }
}

/// Returns true if a message was said so soon after another that both belong to one conversation.
fn follows(before: Option<&Line>, next: &Line) -> bool {
    match (
        before.and_then(|before| before.message.at()),
        next.message.at(),
    ) {
        (Some(before), Some(next)) => next.duration_since(before).abs() <= IDLE,
        // Without times nothing tells them apart, so they stay together.
        _ => true,
    }
}
