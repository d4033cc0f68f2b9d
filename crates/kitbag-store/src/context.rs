//! The context of an incoming message: what was said in the conversation, what is known about the
//! sender, what earlier conversations were about, and what in them has to do with the message.
//!
//! Reading is done here; what of it fits into the budget, and at which level, is decided by the
//! core's assembly. A source that fails is told in the ledger, and the rest goes on.

mod chunks;

use jiff::Timestamp;
use kitbag_core::assembly::{
    AssembleError, Assembly, AssemblySettings, Draft, Epoch, Kept, OutputForm, assemble,
};
use kitbag_core::context::{Context, ContextEntry, DEFAULT_SYSTEM_PROMPT};
use kitbag_core::message::Message;
use kitbag_core::role::Role;
use kitbag_core::tokens::{TokenCounter, Tokens};

use crate::conversation::Conversation;
use crate::error::StoreError;
use crate::fact;
use crate::history;
use crate::id::{ConversationId, MessageId};
use crate::message::StoredMessage;
use crate::recall::{self, Found, RecallRequest};
use crate::scope::Scope;
use crate::state;
use crate::store::Store;
use crate::summary;
use crate::turn::Incoming;

/// What a context is made of, at most.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ContextSettings {
    /// The base prompt.
    pub system_prompt: String,
    /// The most tokens of the whole prompt.
    pub budget: Tokens,
    /// The form that it is laid out and counted in.
    pub form: OutputForm,
    /// How many messages of the conversation.
    pub messages: u32,
    /// How many facts about the sender, those learned last.
    pub facts: u32,
    /// How many summaries of earlier conversations on the channel.
    pub summaries: u32,
    /// How many messages of earlier conversations.
    pub recalled: usize,
    /// Whether messages of the sender's other channels may be recalled. What was said in private does
    /// not belong into a group.
    pub across_channels: bool,
    /// The message to answer, where it was accepted already: it and what came later are no history.
    pub answering: Option<MessageId>,
}

impl ContextSettings {
    /// The usual amounts, within a budget.
    #[must_use]
    pub fn new(budget: Tokens) -> Self {
        Self {
            system_prompt: DEFAULT_SYSTEM_PROMPT.to_owned(),
            budget,
            form: OutputForm::Flat,
            messages: 50,
            facts: 200,
            summaries: 3,
            recalled: 12,
            across_channels: false,
            answering: None,
        }
    }

    /// The same for a message that was accepted already.
    #[must_use]
    pub fn answering(mut self, message: MessageId) -> Self {
        self.answering = Some(message);
        self
    }
}

/// A context, and how it came about.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BuiltContext {
    /// The conversation.
    pub conversation: ConversationId,
    /// The context, for a provider that takes a system prompt, a history and a message.
    pub context: Context,
    /// What it was assembled from.
    pub draft: Draft,
    /// How it was assembled.
    pub settings: AssemblySettings,
    /// The prompt with its ledger, which also tells which sources failed.
    pub assembly: Assembly,
}

/// Why there is no context.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What must be in the prompt does not fit.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
}

impl Store {
    /// Builds the context for an incoming message: the conversation of channel and sender, made where
    /// there is none, its newest messages in the order in which they were said, the sender's facts
    /// from any channel, the latest summaries of this channel, and related past messages.
    ///
    /// # Errors
    /// When the conversation cannot be read, or when the message and the base prompt alone exceed the
    /// budget.
    pub async fn build_context(
        &self,
        incoming: &Incoming,
        settings: &ContextSettings,
        counter: &(dyn TokenCounter + Sync),
        now: Timestamp,
    ) -> Result<BuiltContext, ContextError> {
        let (conversation, mut said) = self.open_history(incoming, settings, now).await?;
        if let Some(answering) = settings.answering {
            said.retain(|message| {
                message.id.conversation != answering.conversation || message.id < answering
            });
        }
        let mut known = chunks::Known::default();
        self.gather(incoming, settings, conversation, &said, now, &mut known)
            .await;

        let mut draft = Draft::new(incoming.message.text.as_str());
        draft.identity.clone_from(&settings.system_prompt);
        draft.current.id = settings.answering.map(|id| id.to_string());
        let room = chunks::history_room(&draft, settings, counter);
        let older = chunks::split_history(said, room, counter, &mut draft.history);
        let chunks = chunks::chunks(known.take(), older, counter);
        draft.retracted = chunks::retracted(known.epoch.as_ref(), &chunks);
        let assembly_settings = AssemblySettings::new(settings.form, settings.budget);
        let mut assembly = assemble(
            &draft,
            chunks,
            &assembly_settings,
            counter,
            known.epoch.as_ref(),
        )?;
        assembly.ledger.problems.append(&mut known.problems);
        Ok(BuiltContext {
            conversation,
            context: as_context(&draft, &assembly),
            draft,
            settings: assembly_settings,
            assembly,
        })
    }

    async fn open_history(
        &self,
        incoming: &Incoming,
        settings: &ContextSettings,
        now: Timestamp,
    ) -> Result<(ConversationId, Vec<StoredMessage>), StoreError> {
        let (channel, sender) = (incoming.channel.clone(), incoming.sender.clone());
        let (choice, limit) = (incoming.conversation.clone(), settings.messages);
        let answering = settings.answering.map(|id| id.conversation);
        let found = self
            .read(move |tx| {
                Box::pin(async move {
                    let id = match (answering, Scope::find(tx, &channel, &sender).await?) {
                        (Some(id), _) => Some(id),
                        (None, Some(scope)) => Conversation::find(tx, scope.id, &choice, now)
                            .await?
                            .map(|conversation| conversation.id),
                        (None, None) => None,
                    };
                    let Some(id) = id else { return Ok(None) };
                    let limit = limit.saturating_add(u32::from(answering.is_some()));
                    Ok(Some((id, history::newest(tx, id, limit).await?)))
                })
            })
            .await?;
        if let Some(found) = found {
            return Ok(found);
        }
        let conversation = self
            .get_or_create_conversation(
                &incoming.channel,
                &incoming.sender,
                &incoming.conversation,
                now,
            )
            .await?;
        Ok((conversation.id, Vec::new()))
    }

    /// Reads the other sources, all at one moment; where that fails one by one, so that those that can
    /// be read are, and each of the others leaves a line.
    async fn gather(
        &self,
        incoming: &Incoming,
        settings: &ContextSettings,
        conversation: ConversationId,
        said: &[StoredMessage],
        now: Timestamp,
        known: &mut chunks::Known,
    ) {
        let mut request = RecallRequest::new(&incoming.sender, &incoming.message.text)
            .at(incoming.message.at.unwrap_or(now.into()))
            .limit(settings.recalled)
            .without(said.iter().map(|message| message.id).collect());
        request.in_prompt.extend(settings.answering);
        if !settings.across_channels {
            request = request.on_channel(&incoming.channel);
        }
        let (asked, limits) = (request.clone(), (settings.facts, settings.summaries));
        let together = self.read(move |tx| {
            Box::pin(async move {
                let facts = fact::current(tx, &asked.sender, limits.0).await?;
                let summaries = summary::latest(tx, conversation.scope, limits.1).await?;
                let epoch = state::load::<Epoch>(tx, conversation).await?;
                let found = recall::recall(tx, &asked).await?;
                Ok((facts, summaries, epoch, found))
            })
        });
        if let Ok((facts, summaries, epoch, Found::Hits(recalled))) = together.await {
            (known.facts, known.summaries) = (facts, summaries);
            (known.recalled, known.epoch) = (recalled, epoch);
            return;
        }
        known.facts = known.or_tell("facts", self.facts(&incoming.sender, settings.facts).await);
        let summaries = self
            .summaries(&incoming.channel, &incoming.sender, settings.summaries)
            .await;
        known.summaries = known.or_tell("summaries", summaries);
        known.recalled = known.or_tell("recall", self.recall(&request).await);
        known.epoch = known.or_tell("epoch", self.epoch(conversation).await);
    }
}

/// The context for a provider that takes nothing else: all that was chosen stands in the system prompt.
fn as_context(draft: &Draft, assembly: &Assembly) -> Context {
    let mut system_prompt = draft.identity.clone();
    // What lasts before what belongs to this message alone.
    let mut kept: Vec<&Kept> = assembly.kept.iter().collect();
    kept.sort_by_key(|kept| kept.band);
    for (index, kept) in kept.into_iter().enumerate() {
        let before = if index == 0 { "\n\n" } else { "\n" };
        if !system_prompt.is_empty() {
            system_prompt.push_str(before);
        }
        system_prompt.push_str(kept.text.trim_end());
    }
    let entry = |message: &Message| {
        let role = match message.role {
            Role::User => "user",
            Role::System | Role::Assistant | Role::Tool => "assistant",
        };
        ContextEntry::new(role, message.content.text())
    };
    Context {
        system_prompt,
        history: draft.history.iter().map(entry).collect(),
        current_message: draft.current.content.text().into_owned(),
        mcp_servers: Vec::new(),
        model: None,
    }
}
