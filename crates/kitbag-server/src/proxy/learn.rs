//! Keeping what was said in a conversation that came by: each message once, however often it is sent.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use kitbag::core::role::Role;
use kitbag::hook::CHAIN;
use kitbag::provider::Reply;
use kitbag::secrets::redact;
use kitbag::store::{
    ConversationChoice, ExportFilter, Import, Incoming, MemoryRequest, MessageTime, NewMessage,
    Store, StoreError, StoredMessage,
};
use kitbag::words::beginning;

use super::chain::{Chained, Link, answered};
use super::identity::Identity;
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
        let Asked { identity, chain } = &*self.asked;
        let calls: Vec<String> = reply.tool_calls.iter().map(|it| it.id.clone()).collect();
        let text = reply.text();
        let link = answered(chain, &identity.seed, &text, &calls);
        let Some(name) = identity.conversation(chain, Some(link)) else {
            return Ok(());
        };
        let mut said: Vec<Said<'_>> = chain.iter().filter_map(Said::of).collect();
        if !text.trim().is_empty() {
            said.push(Said {
                role: Role::Assistant,
                words: text.trim(),
                reference: reference(&link),
            });
        }
        let Some(place) = self.place(name, &said, now).await? else {
            return Ok(());
        };
        let at = MessageTime::parse(&now.to_string());
        let mut imports: Vec<Import> = Vec::new();
        for Said {
            role,
            words,
            reference,
        } in said.into_iter().skip(place.known)
        {
            let message = NewMessage::new(role, words).with_reference(reference);
            let message = match at {
                Some(at) => message.at(at),
                None => message,
            };
            let conversation = Some(place.name.clone());
            let import = Import::new(&identity.channel, &identity.sender, conversation, message);
            match import.check() {
                Ok(()) => imports.push(import),
                // The others are kept, and this one is not tried again with each request.
                Err(error) => tracing::warn!(event = "message_not_learned", problem = %error),
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

    /// The conversation that messages belong to, and how many of them it has. None where hooks of the client
    /// keep it.
    async fn place(
        &self,
        name: String,
        said: &[Said<'_>],
        now: Timestamp,
    ) -> Result<Option<Place>, StoreError> {
        let identity = &self.asked.identity;
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
        };
        let references: BTreeSet<&str> = references(&kept.messages).collect();
        let known = said
            .iter()
            .rposition(|one| references.contains(&*one.reference));
        // A message and its answer are all that a client says which sends no history.
        if known.is_some() || said.len() <= 2 {
            place.known = known.map_or(0, |known| known + 1);
        } else if !is_new {
            // The client leaves old messages out, or writes them anew.
            let overlap = overlap(&kept.messages, said).map(|overlap| overlap.end);
            let newest = said.iter().rposition(|one| one.role == Role::User);
            place.known = overlap.or(newest).unwrap_or(0);
        } else if identity.named.is_none()
            && let Some((name, known)) = self.continued(said).await?
        {
            place = Place {
                name,
                known,
                is_new: false,
            };
        }
        Ok(Some(place))
    }

    /// The latest conversation that messages continue although they do not begin as it does, and how many of them
    /// it has: a client without a name for it leaves old messages out.
    async fn continued(&self, said: &[Said<'_>]) -> Result<Option<(String, usize)>, StoreError> {
        let Identity {
            channel, sender, ..
        } = &self.asked.identity;
        let own = ExportFilter::new(Some(sender.clone()), Some(channel.clone()));
        let mut best: Option<(String, Overlap)> = None;
        for one in self.store.latest_conversations(&own, LATEST).await? {
            let Some(name) = one.conversation.name else {
                continue;
            };
            let kept = self.store.messages(one.conversation.id, COMPARED).await?;
            if let Some(overlap) = overlap(&kept, said).filter(|_| is_by_chain(&kept))
                && best
                    .as_ref()
                    .is_none_or(|(_, best)| best.length < overlap.length)
            {
                best = Some((name, overlap));
            }
        }
        Ok(best.map(|(name, overlap)| (name, overlap.end)))
    }
}

/// So many of a sender's latest conversations may be the one that goes on.
const LATEST: u32 = 8;

/// Something that was said in a request, or answered.
struct Said<'a> {
    role: Role,
    words: &'a str,
    reference: String,
}

impl<'a> Said<'a> {
    fn of(one: &'a Chained) -> Option<Self> {
        Some(Self {
            role: one.role,
            words: one.words.as_deref()?,
            reference: reference(&one.link),
        })
        .filter(|said| matches!(said.role, Role::User | Role::Assistant))
    }
}

/// The conversation that messages are kept in.
struct Place {
    name: String,
    /// The messages of the request that are kept already, from its beginning.
    known: usize,
    is_new: bool,
}

/// Messages of a request that were kept in the same order.
#[derive(Debug, PartialEq, Eq)]
struct Overlap {
    /// The message of the request behind them.
    end: usize,
    length: usize,
}

/// The last messages of a request that stand in a conversation as neighbours. Single ones do not count: many people say
/// "thanks".
fn overlap(kept: &[StoredMessage], said: &[Said<'_>]) -> Option<Overlap> {
    let kept: Vec<(Role, String)> = kept
        .iter()
        .map(|it| (it.message.role, compared(&it.text())))
        .collect();
    let said: Vec<(Role, String)> = said
        .iter()
        .map(|it| (it.role, compared(it.words)))
        .collect();
    let alike = |end: usize, kept_end: usize| {
        let said = said.get(..end).unwrap_or_default().iter().rev();
        let kept = kept.get(..kept_end).unwrap_or_default().iter().rev();
        said.zip(kept)
            .take_while(|(one, other)| one == other)
            .count()
    };
    (2..=said.len()).rev().find_map(|end| {
        let lengths = (2..=kept.len()).map(|kept_end| alike(end, kept_end));
        let length = lengths.max().filter(|length| *length >= 2)?;
        Some(Overlap { end, length })
    })
}

/// The words as they are compared: secrets are masked, as they are where they are kept, and white space differs.
fn compared(words: &str) -> String {
    let masked = redact(words, "").text;
    masked.split_whitespace().collect()
}

fn is_by_chain(kept: &[StoredMessage]) -> bool {
    references(kept).any(|name| name.starts_with(CHAIN))
}

fn references(kept: &[StoredMessage]) -> impl Iterator<Item = &str> {
    kept.iter().filter_map(|it| it.reference.as_deref())
}

fn reference(link: &Link) -> String {
    let hex: String = link.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{CHAIN}{hex}")
}
