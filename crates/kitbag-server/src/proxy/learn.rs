//! Stores the messages of a conversation that the proxy forwards: each once, however often it is sent.

mod known;
mod said;

use std::sync::Arc;

use jiff::Timestamp;
use kitbag::provider::Reply;
use kitbag::secrets::redact;
use kitbag::store::{
    ConversationChoice, ExportFilter, Import, Incoming, MemoryRequest, MessageTime, NewMessage,
    Store, StoreError, StoredMessage,
};
use kitbag::words::beginning;

use super::chain::{answered, first_link};
use super::identity::{Identity, KeptBy, name_of};
use super::memory::Asked;
use crate::App;
use crate::observe::Event;
use known::{Known, known};
use said::{Said, is_by_chain};

/// A conversation, to be kept when its answer is there.
#[derive(Debug)]
pub(super) struct Learner {
    pub(super) app: Arc<App>,
    pub(super) store: Store,
    pub(super) asked: Box<Asked>,
}

/// The number of the newest stored messages to compare with those of a request.
const COMPARED: u32 = 64;
/// The number of a sender's latest conversations that are compared with a request.
const LATEST: u32 = 8;
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
        let has_room = app.in_background(async move {
            let now = (self.app.clock)();
            if let Err(error) = self.keep(&reply, now).await {
                self.app.metrics.note(Event::NotLearned, "failed");
                tracing::error!(event = "not_learned", problem = %error);
            }
        });
        if !has_room {
            app.metrics.note(Event::NotLearned, "no_room");
        }
    }

    /// Keeps what the store does not have. Whatever was missed, another request brings again.
    async fn keep(&self, reply: &Reply, now: Timestamp) -> Result<(), StoreError> {
        let Asked { identity, chain } = &*self.asked;
        let calls: Vec<String> = reply.tool_calls.iter().map(|it| it.id.clone()).collect();
        let text = reply.text();
        let link = answered(chain, &identity.seed, &text, &calls);
        let Some(name) = identity.conversation(chain, Some(link)) else {
            return Ok(());
        };
        let mut said: Vec<Said<'_>> = chain.iter().filter_map(Said::of).collect();
        let Some(place) = self.place(name, &said, now).await? else {
            return Ok(());
        };
        let asked = chain
            .last()
            .map_or(first_link(&identity.seed), |it| it.link);
        said.extend(Said::answer(&text, asked));
        let new = said.into_iter().skip(place.known);
        let mut imports: Vec<Import> = Vec::new();
        for said in new {
            let reference = said.reference(place.behind.as_deref());
            let mut message = NewMessage::new(said.role, said.words).with_reference(reference);
            if let Some(at) = MessageTime::parse(&now.to_string()) {
                message = message.at(at);
            }
            let conversation = Some(place.name.clone());
            let import = Import::new(&identity.channel, &identity.sender, conversation, message);
            match import.check() {
                Ok(()) => imports.push(import),
                // The others are kept, and this one is not tried again with each request.
                Err(error) => {
                    self.app.metrics.note(Event::NotLearned, "refused");
                    tracing::error!(event = "message_not_learned", problem = %error);
                }
            }
        }
        if place.is_new
            && let Some(first) = imports.first_mut()
        {
            // Masked before it is cut: half of a secret is not known as one.
            let title = beginning(&redact(&first.message.text(), "").text, TITLE);
            first.title = Some(title).filter(|title| !title.trim().is_empty());
        }
        if !imports.is_empty() {
            self.store.import(imports, now).await?;
        }
        Ok(())
    }

    /// The conversation that the messages of a request belong to, and how many of them it has. None where hooks of
    /// the client keep it.
    async fn place(
        &self,
        name: String,
        said: &[Said<'_>],
        now: Timestamp,
    ) -> Result<Option<Place>, StoreError> {
        let identity = &self.asked.identity;
        let name = match &identity.named {
            Some(_) => name,
            None => self.latest_fork(name, said).await?,
        };
        let mut incoming = Incoming::new(&identity.channel, &identity.sender, "");
        incoming.conversation = ConversationChoice::Named(name.clone());
        let mut request = MemoryRequest::new(incoming, now);
        request.messages = COMPARED;
        let kept = self.store.read_conversation(&request).await?;
        let is_new = kept.id.is_none();
        if !is_new && !is_by_chain(&kept.messages) {
            return Ok(None);
        }
        let mut place = Place {
            name,
            known: 0,
            is_new,
            behind: None,
        };
        match identity.kept_by_provider {
            // The same words may be said again, and nothing in the request tells the second time from the first.
            Some(KeptBy::Conversation) => {
                let last = kept.messages.last().and_then(|it| it.reference.clone());
                place.behind = Some(last.unwrap_or_default());
            }
            Some(KeptBy::PreviousAnswer) => place.known = known::by_reference(&kept.messages, said),
            None if is_new => {
                if let (None, Some((name, known))) = (&identity.named, self.continued(said).await?)
                {
                    (place.name, place.known, place.is_new) = (name, known, false);
                }
            }
            None => match self.known(&kept.messages, said) {
                Some(Known { count, fork: None }) => place.known = count,
                Some(Known {
                    count,
                    fork: Some(link),
                }) if identity.named.is_none() => {
                    let (name, is_new) = (name_of(&link), true);
                    (place.name, place.known, place.is_new) = (name, count, is_new);
                }
                // Its client says that it is one conversation, whatever was said before.
                Some(Known { count, .. }) => place.known = count,
                // The client rewrote it from the beginning, so only the newest message is known to be new.
                None => {
                    let newest = said.iter().rposition(|one| one.asked_link().is_some());
                    place.known = newest.unwrap_or(0);
                }
            },
        }
        Ok(Some(place))
    }

    fn known(&self, kept: &[StoredMessage], said: &[Said<'_>]) -> Option<Known> {
        let is_whole = kept.len() < COMPARED as usize;
        known(kept, said, is_whole)
    }

    /// The name of the conversation that began with the latest message at which messages went another way; the name of
    /// their first exchange where they never did.
    async fn latest_fork(&self, first: String, said: &[Said<'_>]) -> Result<String, StoreError> {
        let Identity {
            channel, sender, ..
        } = &self.asked.identity;
        let forks = said.iter().rev().filter_map(Said::asked_link);
        let forks: Vec<String> = forks.map(|link| name_of(&link)).collect();
        let there = self.store.conversation_names(channel, sender, &forks);
        let there = there.await?;
        let latest = forks.into_iter().find(|name| there.contains(name));
        Ok(latest.unwrap_or(first))
    }

    /// The latest conversation that messages continue although they do not begin as it does, and how many of them
    /// it has: a client without a name for it leaves old messages out, or rewrites answers.
    async fn continued(&self, said: &[Said<'_>]) -> Result<Option<(String, usize)>, StoreError> {
        let Identity {
            channel, sender, ..
        } = &self.asked.identity;
        // A question alone begins a conversation, whoever asked the same before.
        if said.len() < 2 {
            return Ok(None);
        }
        let own = ExportFilter::new(Some(sender.clone()), Some(channel.clone()));
        let mut best: Option<(String, usize)> = None;
        for one in self.store.latest_conversations(&own, LATEST).await? {
            let Some(name) = one.conversation.name else {
                continue;
            };
            let kept = self.store.messages(one.conversation.id, COMPARED).await?;
            if !is_by_chain(&kept) {
                continue;
            }
            if let Some(Known { count, fork: None }) = self.known(&kept, said)
                && best.as_ref().is_none_or(|(_, best)| *best < count)
            {
                best = Some((name, count));
            }
        }
        Ok(best)
    }
}

/// The conversation that messages are kept in.
struct Place {
    name: String,
    /// The messages of the request that are kept already, from its beginning.
    known: usize,
    is_new: bool,
    /// The reference of the message behind which the same words are said another time.
    behind: Option<String>,
}
