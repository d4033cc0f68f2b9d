//! Closes a conversation in two steps: its messages are read, a model may summarise them, then the
//! conversation is closed with a summary and facts in one transaction.
//!
//! Nothing is locked between the steps, so the model may take its time. If it fails nothing is
//! lost: a summary is then made of sentences from the conversation.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kitbag_core::role::Role;
use kitbag_core::statement::Statement;
use kitbag_core::summarize::{Speaker, Utterance, extract};
use kitbag_core::tokens::{TokenCounter, Tokens};

use crate::conversation::Conversation;
use crate::error::Result;
use crate::export::ExportFilter;
use crate::fact::{self, Drawn, NewFact};
use crate::history::{self, Readers};
use crate::id::ConversationId;
use crate::lease::{self, ExclusiveLock};
use crate::message::{MessageTime, StoredMessage};
use crate::scope::Scope;
use crate::store::Store;
use crate::summary::{self, NewSummary, Summary, SummaryMaker};
use crate::value::Value;

/// A conversation that is about to be closed. The caller fills the fields `summary` and `facts`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Closing {
    /// The conversation, as it was read.
    pub conversation: Conversation,
    /// The channel.
    pub channel: String,
    /// The sender.
    pub sender: String,
    /// The messages that people may see, oldest first.
    pub messages: Vec<StoredMessage>,
    /// A summary by a model. Without one, the most telling sentences are taken.
    pub summary: Option<String>,
    /// Facts about the sender that were learned from it.
    pub facts: Vec<NewFact>,
}

impl Closing {
    /// The words of user and model to each other. They contain no instructions, no results of tools
    /// and nothing internal, since people read summaries.
    #[must_use]
    pub fn utterances(&self) -> Vec<Utterance> {
        let said = self.messages.iter().filter_map(|stored| {
            let speaker = match stored.message.role {
                Role::User => Speaker::User,
                Role::Assistant => Speaker::Assistant,
                Role::System | Role::Tool => return None,
            };
            let text = stored.text();
            (!text.trim().is_empty()).then(|| Utterance::new(speaker, text.into_owned()))
        });
        said.collect()
    }

    fn new_summary(&self, limit: Tokens, counter: &dyn TokenCounter) -> Option<NewSummary> {
        let by_model = self.summary.clone().filter(|text| !text.trim().is_empty());
        let maker = match by_model {
            Some(_) => SummaryMaker::Model,
            None => SummaryMaker::Rules,
        };
        let text = by_model.unwrap_or_else(|| extract(&self.utterances(), &[], limit, counter));
        let span = self.span()?;
        let is_said = !text.trim().is_empty();
        is_said.then(|| NewSummary::new(span, text, maker))
    }

    /// The numbers of its first and last messages.
    fn span(&self) -> Option<(u32, u32)> {
        let (first, last) = self.messages.first().zip(self.messages.last())?;
        Some((first.id.seq, last.id.seq))
    }
}

/// The end of an attempt to close a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseOutcome {
    /// Closed, with a summary unless it has no text.
    Closed(Option<Summary>),
    /// It was closed before and has no new message, so nothing was added. Holds its latest summary,
    /// if it has one.
    AlreadyClosed(Option<Summary>),
    /// It has a new message since it was read, or a turn is under way. It stays open, and nothing
    /// was added.
    StillActive,
}

impl Store {
    /// Lists conversations that ended by silence and are not closed, longest silence first. Those
    /// with a name are left out: a client that knows the name may continue them at any time.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn silent_conversations(
        &self,
        filter: &ExportFilter,
        idle: SignedDuration,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<ConversationId>> {
        let since = now.checked_sub(idle).unwrap_or(Timestamp::MIN);
        let mut parameters: Vec<Value> = vec![limit.into(), since.into()];
        let conditions = filter.conditions(&mut parameters);
        let sql = format!(
            "SELECT scope.id, conversation.id FROM scope JOIN conversation \
             ON conversation.tenant = scope.tenant AND conversation.scope = scope.id \
             WHERE scope.tenant = $1 AND conversation.tenant = $1 AND closed IS NULL \
             AND name IS NULL AND active < $3{conditions} \
             ORDER BY active, scope.id, conversation.id LIMIT $2"
        );
        self.read(async move |tx| tx.query(&sql, parameters).await)
            .await
    }

    /// The latest conversation before this one that ended by silence, if it is not closed yet and
    /// had a turn here. Imported conversations are closed only on request, so they do not count.
    /// This reads one entry of the index of open conversations, so it can run after every turn.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn silent_before(
        &self,
        id: ConversationId,
        idle: SignedDuration,
        now: Timestamp,
    ) -> Result<Option<ConversationId>> {
        let since = now.checked_sub(idle).unwrap_or(Timestamp::MIN);
        let sql = "SELECT scope, id, turns FROM conversation WHERE tenant = $1 AND scope = $2 \
                   AND id <> $3 AND closed IS NULL AND name IS NULL AND active < $4 \
                   ORDER BY active DESC, id DESC LIMIT 1";
        let last = self.read(async move |tx| tx.query_one(sql, (id, since)).await);
        let last: Option<(ConversationId, u32)> = last.await?;
        Ok(last.filter(|(_, turns)| *turns > 0).map(|(id, _)| id))
    }

    /// First step: reads a conversation that is to be closed.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails.
    pub async fn closing(&self, id: ConversationId) -> Result<Closing> {
        self.read(async move |tx| {
            let (channel, sender) = Scope::place(tx, id).await?;
            Ok(Closing {
                conversation: Conversation::get(tx, id).await?,
                channel,
                sender,
                messages: history::newest(tx, id.end(), Readers::People, u32::MAX).await?,
                summary: None,
                facts: Vec::new(),
            })
        })
        .await
    }

    /// Second step: closes the conversation with its summary and facts. The sender's next message
    /// begins another one. If no summary is given, one is made of the most telling sentences,
    /// within `limit`.
    ///
    /// # Errors
    /// When there is no such conversation, or the store fails; then it stays open.
    pub async fn close(
        &self,
        mut closing: Closing,
        limit: Tokens,
        counter: &(dyn TokenCounter + Sync),
        now: Timestamp,
    ) -> Result<CloseOutcome> {
        // Before the transaction, which may run again: counting tokens and masking take longer than
        // writing.
        let mut summary = closing.new_summary(limit, counter);
        if let Some(summary) = &mut summary {
            summary.text = self.secrets().masked(std::mem::take(&mut summary.text));
        }
        closing.facts = self.secrets().masked_facts(closing.facts);
        // Shared, since the transaction may be tried twice.
        let (closing, summary) = (Arc::new(closing), summary.map(Arc::new));
        let first = self.close_unless_active(Arc::clone(&closing), summary.clone(), now, None);
        let outcome = first.await?;
        if outcome != CloseOutcome::StillActive {
            return Ok(outcome);
        }
        // A process that was killed while it answered must not keep the conversation open.
        let Some(alone) = self.without_living_holders() else {
            return Ok(outcome);
        };
        self.close_unless_active(closing, summary, now, Some(alone))
            .await
    }

    async fn close_unless_active(
        &self,
        closing: Arc<Closing>,
        summary: Option<Arc<NewSummary>>,
        now: Timestamp,
        alone: Option<ExclusiveLock>,
    ) -> Result<CloseOutcome> {
        self.write(async move |tx| {
            let id = closing.conversation.id;
            Scope::lock(tx, id).await?;
            let mut conversation = Conversation::lock(tx, id).await?;
            // The count includes forgotten messages, so it changes with every new message and never
            // goes back.
            if conversation.messages != closing.conversation.messages
                || lease::is_busy(tx, id, now, alone.as_ref()).await?
            {
                return Ok(CloseOutcome::StillActive);
            }
            // A conversation with a name continues after its end, and may end again.
            if conversation
                .closed
                .is_some_and(|closed| closed >= conversation.active)
            {
                let latest = summary::latest_of(tx, id).await?;
                return Ok(CloseOutcome::AlreadyClosed(latest));
            }
            // With an imported message or a clock that was ahead, the latest message may lie in the
            // future.
            conversation.closed = Some(now.max(conversation.active));
            conversation.save(tx).await?;
            if !closing.facts.is_empty() {
                fact::lock(tx, &closing.sender).await?;
            }
            for fact in &closing.facts {
                fact::set(tx, &closing.sender, fact, now).await?;
            }
            let summary = match summary {
                Some(summary) => Some(summary::add(tx, id, &summary, now).await?),
                None => None,
            };
            Ok(CloseOutcome::Closed(summary))
        })
        .await
    }

    /// Keeps a model's summary and facts of a conversation that is closed already. The summary
    /// replaces the one by rules; each fact is drawn from the message it names. Returns false, and
    /// keeps nothing, if the conversation went on or its messages were changed since it was read.
    ///
    /// # Errors
    /// When there is no such conversation, a fact is invalid, or the store fails; then nothing is
    /// kept.
    pub async fn learn_closed(&self, mut closing: Closing, now: Timestamp) -> Result<bool> {
        let summary = closing.summary.take().zip(closing.span());
        let summary = summary.map(|(text, messages)| {
            let text = self.secrets().masked(text);
            NewSummary::new(messages, text, SummaryMaker::Model)
        });
        let facts = self
            .secrets()
            .masked_facts(std::mem::take(&mut closing.facts));
        self.write(async move |tx| {
            let id = closing.conversation.id;
            Scope::lock(tx, id).await?;
            let conversation = Conversation::lock(tx, id).await?;
            let is_over = conversation
                .closed
                .is_some_and(|closed| closed >= conversation.active);
            // Whole messages are compared and not only their number: an edited one may no longer
            // say the fact.
            let messages = history::newest(tx, id.end(), Readers::People, u32::MAX).await?;
            if !is_over || messages != closing.messages {
                return Ok(false);
            }
            if let Some(summary) = summary {
                summary::improve(tx, id, &summary, now).await?;
            }
            fact::draw(tx, &closing.sender, drawn(facts, &messages), now).await?;
            Ok(true)
        })
        .await
    }
}

/// The facts as statements of the messages they name. Facts that name none of these messages are
/// left out.
fn drawn(facts: Vec<NewFact>, messages: &[StoredMessage]) -> Vec<Drawn> {
    let facts = facts.into_iter().filter_map(|fact| {
        let source = messages.iter().find(|one| Some(one.id) == fact.source)?;
        Some(Drawn {
            statement: Statement::new(fact.key, fact.value),
            message: source.id,
            speaker: source.message.name.clone(),
            at: source.at.map(MessageTime::timestamp),
        })
    });
    facts.collect()
}
