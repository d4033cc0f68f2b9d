//! The context of an incoming message: what was said in the conversation, what is known about the
//! sender, what earlier conversations were about, and what in them has to do with the message.
//!
//! Reading is done in `sources`; what of it fits into the budget, and at which level, is decided by the
//! core's assembly. A source that fails is told in the ledger, and the rest goes on.

mod chunks;
mod sources;

use jiff::Timestamp;
use kitbag_core::assembly::{
    AssembleError, Assembly, AssemblySettings, Draft, Kept, OutputForm, assemble,
};
use kitbag_core::context::{Context, ContextEntry, DEFAULT_SYSTEM_PROMPT};
use kitbag_core::message::Message;
use kitbag_core::role::Role;
use kitbag_core::tokens::{TokenCounter, Tokens};

use crate::error::StoreError;
use crate::id::{ConversationId, MessageId};
use crate::store::Store;
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
        let sources::Read {
            conversation,
            said,
            mut known,
        } = self.read_sources(incoming, settings, now).await?;
        let mut draft = Draft::new(incoming.message.text());
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
