//! Keeping what was said in a conversation that came by: each message once, however often it is sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use kitbag::core::role::Role;
use kitbag::hook::CHAIN;
use kitbag::provider::Reply;
use kitbag::secrets::redact;
use kitbag::store::{
    ConversationChoice, Import, Incoming, MemoryRequest, MessageTime, NewMessage, Store, StoreError,
};
use kitbag::words::beginning;

use super::chain::{Link, answered};
use super::memory::Asked;
use crate::App;

/// A conversation, to be kept when its answer is there.
#[derive(Debug)]
pub(super) struct Learner {
    pub(super) app: Arc<App>,
    pub(super) store: Store,
    pub(super) asked: Box<Asked>,
}

/// So many of the newest messages that are kept are compared with those of a request.
const COMPARED: u32 = 64;
/// The most characters of a title.
const TITLE: usize = 80;

impl Learner {
    /// The name of the conversation, where its client has one.
    pub(super) fn conversation(&self) -> Option<&str> {
        self.asked.identity.named.as_deref()
    }

    /// Keeps the conversation in the background. A server that stops waits for it.
    pub(super) fn learn(self, reply: Reply) {
        let app = Arc::clone(&self.app);
        app.in_background(async move {
            let now = (self.app.clock)();
            if let Err(error) = self.keep(&reply, now).await {
                tracing::warn!(event = "not_learned", problem = %error);
            }
        });
    }

    /// Keeps what the store does not have. Whatever was missed, another request brings again.
    async fn keep(&self, reply: &Reply, now: Timestamp) -> Result<(), StoreError> {
        let Asked {
            identity, chain, ..
        } = &*self.asked;
        let calls: Vec<String> = reply.tool_calls.iter().map(|it| it.id.clone()).collect();
        let text = reply.text();
        let link = answered(chain, &identity.seed, &text, &calls);
        let Some(name) = identity.conversation(chain, Some(link)) else {
            return Ok(());
        };
        let mut said: Vec<(Role, &str, String)> = Vec::new();
        for one in chain {
            if let Some(words) = &one.words
                && matches!(one.role, Role::User | Role::Assistant)
            {
                said.push((one.role, words, reference(&one.link)));
            }
        }
        if !text.trim().is_empty() {
            said.push((Role::Assistant, text.trim(), reference(&link)));
        }
        let mut incoming = Incoming::new(&identity.channel, &identity.sender, "");
        incoming.conversation = ConversationChoice::Named(name.clone());
        let mut request = MemoryRequest::new(incoming, now);
        request.messages = COMPARED;
        let kept = self.store.read_conversation(&request).await?;
        let known = kept.messages.iter();
        let known: BTreeSet<&str> = known.filter_map(|it| it.reference.as_deref()).collect();
        if kept.id.is_some() && !known.iter().any(|name| name.starts_with(CHAIN)) {
            // Hooks of the agent keep this session.
            return Ok(());
        }
        let first = said
            .iter()
            .rposition(|(.., name)| known.contains(name.as_str()));
        let new = said.into_iter().skip(first.map_or(0, |known| known + 1));
        let at = MessageTime::parse(&now.to_string());
        let mut imports: Vec<Import> = new
            .map(|(role, words, reference)| {
                let message = NewMessage::new(role, words).with_reference(reference);
                let message = match at {
                    Some(at) => message.at(at),
                    None => message,
                };
                let conversation = Some(name.clone());
                Import::new(&identity.channel, &identity.sender, conversation, message)
            })
            .collect();
        if kept.id.is_none()
            && let Some(first) = imports.first_mut()
        {
            // Masked before it is cut: half of a secret is not known as one.
            let title = beginning(&redact(&first.message.text(), "").text, TITLE);
            first.title = Some(title).filter(|title| !title.is_empty());
        }
        if !imports.is_empty() {
            self.store.import(imports, now).await?;
        }
        Ok(())
    }
}

fn reference(link: &Link) -> String {
    let hex: String = link.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{CHAIN}{hex}")
}
