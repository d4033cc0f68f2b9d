//! Reads what a context is made of, at one moment where that is possible.

use std::sync::Arc;

use jiff::Timestamp;
use kitbag_core::assembly::Epoch;

use super::ContextSettings;
use super::chunks::Known;
use crate::conversation::Conversation;
use crate::error::StoreError;
use crate::fact;
use crate::history;
use crate::id::ConversationId;
use crate::message::StoredMessage;
use crate::recall::{self, RecallOutcome, RecallRequest};
use crate::scope::Scope;
use crate::state;
use crate::store::Store;
use crate::summary;
use crate::transaction::Tx;
use crate::turn::Incoming;

/// What the sources gave.
pub(super) struct Read {
    pub(super) conversation: ConversationId,
    /// What was said in it before the message to answer, oldest first.
    pub(super) said: Vec<StoredMessage>,
    pub(super) known: Known,
}

impl Store {
    /// Reads everything in one transaction. Where that is not possible the conversation is read
    /// first, or made where there is none, then the others one by one, so that those that can be read
    /// are, and each of the others leaves a line.
    pub(super) async fn read_sources(
        &self,
        incoming: &Incoming,
        settings: &ContextSettings,
        now: Timestamp,
    ) -> Result<Read, StoreError> {
        let asked = Arc::new(Asked {
            incoming: incoming.clone(),
            settings: settings.clone(),
            now,
        });
        let together = Arc::clone(&asked);
        let read = self.read(move |tx| Box::pin(async move { together.all(tx).await }));
        if let Ok(Some(all)) = read.await {
            return Ok(all);
        }
        let (conversation, said) = self.open_history(&asked).await?;
        let known = self.read_one_by_one(&asked, conversation, &said).await;
        Ok(Read {
            conversation,
            said,
            known,
        })
    }

    async fn open_history(&self, asked: &Arc<Asked>) -> Result<History, StoreError> {
        let alone = Arc::clone(asked);
        let found = self.read(move |tx| Box::pin(async move { alone.history(tx).await }));
        if let Some(found) = found.await? {
            return Ok(found);
        }
        let Incoming {
            channel,
            sender,
            conversation,
            ..
        } = &asked.incoming;
        let conversation = self
            .get_or_create_conversation(channel, sender, conversation, asked.now)
            .await?;
        Ok((conversation.id, Vec::new()))
    }

    async fn read_one_by_one(
        &self,
        asked: &Asked,
        conversation: ConversationId,
        said: &[StoredMessage],
    ) -> Known {
        let (incoming, settings) = (&asked.incoming, &asked.settings);
        let mut known = Known::default();
        known.facts = known.or_tell("facts", self.facts(&incoming.sender, settings.facts).await);
        let summaries = self
            .summaries(&incoming.channel, &incoming.sender, settings.summaries)
            .await;
        known.summaries = known.or_tell("summaries", summaries);
        let request = asked.request(said);
        known.recalled = known.or_tell("recall", self.recall(&request).await);
        let state = known.or_tell("state", self.state(conversation).await);
        known.problems.extend(state.problems);
        known.epoch = state.epoch;
        known
    }
}

/// For what a context is built, and how.
struct Asked {
    incoming: Incoming,
    settings: ContextSettings,
    now: Timestamp,
}

type History = (ConversationId, Vec<StoredMessage>);

impl Asked {
    /// All sources; nothing where there is no conversation yet, or where the index must be made anew
    /// before it can be asked.
    async fn all(&self, tx: &mut Tx<'_>) -> Result<Option<Read>, StoreError> {
        let Some((conversation, said)) = self.history(tx).await? else {
            return Ok(None);
        };
        let (request, settings) = (self.request(&said), &self.settings);
        let known = Known {
            facts: fact::current(tx, &request.sender, settings.facts).await?,
            summaries: summary::latest(tx, conversation.scope, settings.summaries).await?,
            epoch: state::load::<Epoch>(tx, conversation).await?,
            recalled: match recall::recall(tx, &request).await? {
                RecallOutcome::Hits(hits) => hits,
                RecallOutcome::Outdated(_) => return Ok(None),
            },
            problems: Vec::new(),
        };
        Ok(Some(Read {
            conversation,
            said,
            known,
        }))
    }

    /// The conversation, if there is one, and what was said in it.
    async fn history(&self, tx: &mut Tx<'_>) -> Result<Option<History>, StoreError> {
        let incoming = &self.incoming;
        let answering = self.settings.answering;
        let id = match answering {
            Some(message) => message.conversation,
            None => {
                let scope = Scope::find(tx, &incoming.channel, &incoming.sender).await?;
                let Some(scope) = scope else { return Ok(None) };
                let choice = &incoming.conversation;
                match Conversation::find(tx, scope.id, choice, self.now).await? {
                    Some(conversation) => conversation.id,
                    None => return Ok(None),
                }
            }
        };
        let limit = self.settings.messages;
        let limit = limit.saturating_add(u32::from(answering.is_some()));
        let mut said = history::newest(tx, id, history::Readers::Model, limit).await?;
        if let Some(answering) = answering {
            said.retain(|message| message.id < answering);
        }
        Ok(Some((id, said)))
    }

    /// What to recall beside what was said in the conversation.
    fn request(&self, said: &[StoredMessage]) -> RecallRequest {
        let (incoming, settings) = (&self.incoming, &self.settings);
        let mut request = RecallRequest::new(&incoming.sender, incoming.message.text())
            .at(incoming.message.at.unwrap_or(self.now.into()))
            .limit(settings.recalled)
            .for_prompt()
            .without(said.iter().map(|message| message.id).collect());
        request.in_prompt.extend(settings.answering);
        if !settings.across_channels {
            request = request.on_channel(&incoming.channel);
        }
        request
    }
}
