//! The end of a turn: the answer and everything learned from it.

use jiff::Timestamp;
use kitbag_core::content::Content;
use kitbag_core::inject::EntryAction;
use kitbag_core::message::Message;
use kitbag_core::recall::analyse;
use kitbag_core::record::TurnRecord;
use kitbag_core::role::Role;
use kitbag_core::stored::ConversationContext;

use crate::append::Analysed;
use crate::error::Result;
use crate::extension::{self, ExtensionChange};
use crate::fact::{self, NewFact};
use crate::id::ConversationId;
use crate::message::NewMessage;
use crate::scope::Scope;
use crate::secrets::Secrets;
use crate::state;
use crate::summary::{self, NewSummary};
use crate::transaction::Tx;

/// The results of a turn.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Learned {
    /// The tool steps before the answer, in order: messages that call tools, and their results.
    pub steps: Vec<Message>,
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
    /// Changes to what extensions keep.
    pub extensions: Vec<ExtensionChange>,
    /// A summary of the conversation so far.
    pub summary: Option<NewSummary>,
    /// The stages of the turn, and what its prompts were billed.
    pub record: TurnRecord,
}

impl Learned {
    /// Makes the result of a turn that is an answer and nothing else.
    #[must_use]
    pub fn reply(content: impl Into<Content>, at: Timestamp) -> Self {
        let reply = NewMessage::new(Role::Assistant, content).at(at);
        Self {
            reply: Some(reply),
            ..Self::default()
        }
    }
}

impl Learned {
    /// Masks the secrets in everything except the messages.
    pub(super) fn masked(mut self, secrets: Secrets) -> Self {
        self.facts = secrets.masked_facts(self.facts);
        let keys = self.unset_facts.into_iter();
        self.unset_facts = keys.map(|key| secrets.masked_name(key)).collect();
        self.entries = secrets.masked_entries(self.entries);
        let changes = self.extensions.into_iter();
        self.extensions = changes.map(|change| change.masked(secrets)).collect();
        self.record = secrets.masked_value(self.record);
        self.layers = self.layers.map(|layers| secrets.masked_value(layers));
        if let Some(summary) = &mut self.summary {
            summary.text = secrets.masked(std::mem::take(&mut summary.text));
        }
        self
    }

    /// The messages to store, in order, the answer last. The model's words between its calls may be
    /// recalled; results of tools are data, and a call has no words.
    pub(super) fn messages(&self, now: Timestamp, secrets: Secrets) -> Result<Vec<Analysed>> {
        let steps = self.steps.iter().map(|step| {
            let is_said = step.role == Role::Assistant && !step.content.text().trim().is_empty();
            let mut message = NewMessage::from(step.clone()).at(now);
            message.recallable = is_said;
            message
        });
        let messages = steps.chain(self.reply.clone());
        messages
            .map(|message| Analysed::new(message, secrets, analyse))
            .collect()
    }
}

/// Stores everything that was learned except the messages.
pub(super) async fn learn(
    tx: &mut Tx<'_>,
    id: ConversationId,
    learned: &Learned,
    now: Timestamp,
) -> Result<()> {
    if !learned.facts.is_empty() || !learned.unset_facts.is_empty() {
        let sender = Scope::sender(tx, id).await?;
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
    extension::apply(tx, id, &learned.extensions).await?;
    if let Some(summary) = &learned.summary {
        summary::add(tx, id, summary, now).await?;
    }
    state::apply(tx, id, learned.entries.clone()).await
}
