//! Keeping what was said and done in a session, and a summary of it when it ends.

use jiff::Timestamp;
use kitbag_core::role::Role;
use kitbag_core::tokens::Tokens;
use kitbag_secrets::redact;
use kitbag_store::{
    ConversationChoice, ConversationId, ConversationMemory, IDLE, Import, Incoming, MemoryRequest,
    NewMessage,
};

use super::estimate::ByteEstimate;
use super::event::HookEvent;
use super::transcript::{Transcript, TranscriptEntry};
use super::{CHAIN, Hook, HookError, open};
use crate::words::beginning;

/// The number of messages to store in one transaction: a hook that is stopped keeps those before.
const TOGETHER: usize = 500;
/// The most tokens of a summary, and the most characters of a title.
const SUMMARY: Tokens = Tokens(200);
const TITLE: usize = 80;
/// The number of the latest sessions to check for a missing summary.
const LATEST: u32 = 3;

impl Hook {
    /// Keeps what the transcript has more than the store, in the conversation of the session. A second time
    /// adds nothing: messages are known by their names.
    pub(super) async fn keep(&self, event: &HookEvent, now: Timestamp) -> Result<(), HookError> {
        let Some((file, reader)) = open(event)? else {
            return Ok(());
        };
        let transcript = Transcript::read(reader, &self.folder)
            .map_err(|error| HookError::Transcript { file, error })?;
        let kept = self.conversation(event, now).await?;
        let asked = transcript.entries.iter().find(|it| it.role == Role::User);
        let asked = asked.filter(|_| kept.id.is_none());
        // Masked before it is cut: half of a secret is not known as one.
        let title = asked.map(|entry| beginning(&redact(&entry.text, "").text, TITLE));
        let mut title = title.filter(|title| !title.trim().is_empty());
        let newest = kept.messages.last();
        let newest = newest.and_then(|message| message.reference.as_deref());
        if newest.is_some_and(|newest| newest.starts_with(CHAIN)) {
            // A proxy keeps the session already.
            return Ok(());
        }
        let mut imports = since(transcript.entries, newest).into_iter().map(|entry| {
            let session = Some(event.session.clone());
            let message = message(entry);
            let mut import = Import::new(self.agent.channel(), &self.sender, session, message);
            import.title = title.take();
            import
        });
        loop {
            let batch: Vec<Import> = imports.by_ref().take(TOGETHER).collect();
            if batch.is_empty() {
                return Ok(());
            }
            self.store.import(batch, now).await?;
        }
    }

    /// Keeps a summary of the session, by rules.
    pub(super) async fn close(&self, event: &HookEvent, now: Timestamp) -> Result<(), HookError> {
        match self.conversation(event, now).await?.id {
            Some(id) => self.summarise(id, now).await,
            None => Ok(()),
        }
    }

    /// Keeps a summary of the latest session that fell silent without an end: not every agent tells when a
    /// session ends, and some are killed. It belongs to the start of a session, once the reply is out, and
    /// nothing is lost if it fails: the next start does it.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn close_silent(&self, event: &HookEvent, now: Timestamp) -> Result<(), HookError> {
        let channel = self.agent.channel();
        let latest = self.store.conversations(channel, &self.sender, LATEST);
        let silent_since = now.checked_sub(IDLE).unwrap_or(Timestamp::MIN);
        let silent = latest.await?.into_iter().find(|one| {
            one.name.as_ref() != Some(&event.session)
                && one.active < silent_since
                && one.closed.is_none_or(|closed| closed < one.active)
        });
        match silent {
            Some(conversation) => self.summarise(conversation.id, now).await,
            None => Ok(()),
        }
    }

    async fn summarise(&self, id: ConversationId, now: Timestamp) -> Result<(), HookError> {
        if !self.summarises {
            return Ok(());
        }
        let closing = self.store.closing(id).await?;
        let closed = self.store.close(closing, SUMMARY, &ByteEstimate, now);
        closed.await?;
        Ok(())
    }

    /// The conversation of the session, with its newest message.
    async fn conversation(
        &self,
        event: &HookEvent,
        now: Timestamp,
    ) -> Result<ConversationMemory, HookError> {
        let mut incoming = Incoming::new(self.agent.channel(), &self.sender, "");
        incoming.conversation = ConversationChoice::Named(event.session.clone());
        let mut request = MemoryRequest::new(incoming, now);
        request.messages = 1;
        Ok(self.store.read_conversation(&request).await?)
    }
}

/// The entries from the turn on that the newest kept one belongs to: that turn may have gone on.
fn since(mut entries: Vec<TranscriptEntry>, newest: Option<&str>) -> Vec<TranscriptEntry> {
    let kept = entries
        .iter()
        .position(|entry| Some(entry.reference.as_str()) == newest);
    let turns = entries.iter().enumerate();
    let mut turns = turns.filter(|(_, entry)| entry.role == Role::User);
    match turns.rfind(|(place, _)| Some(*place) <= kept) {
        Some((turn, _)) => entries.split_off(turn),
        None => entries,
    }
}

fn message(entry: TranscriptEntry) -> NewMessage {
    let message = NewMessage::new(entry.role, entry.text).with_reference(entry.reference);
    match entry.at {
        Some(at) => message.at(at),
        None => message,
    }
}
