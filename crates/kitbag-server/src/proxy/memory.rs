//! Memory for a request: what is put into it, and what is put back.
//!
//! A question gets a block of what is remembered in front of its words, once, when it is new. The store keeps
//! the block by the chain of all that was said up to the question. In each later request it stands at the
//! same place again, so that whatever a provider has cached stays true.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use kitbag::core::role::Role;
use kitbag::core::tokens::{TokenCounter as _, Tokens};
use kitbag::hook::{ByteEstimate, Remembered};
use kitbag::store::{Store, StoreError};

use super::chain::{Chained, chain};
use super::identity::Identity;
use super::said::ReadBody;
use super::splice::Splice;

/// The beginning of every block of memory.
const OPEN: &str = "<kitbag-memory>";

/// A conversation without a name that begins as another one did within this time is taken for that: a client
/// that tries again gets the same request sent.
const FRESH: SignedDuration = SignedDuration::from_mins(10);

/// A request that was read, with the conversation that it belongs to.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) identity: Identity,
    pub(super) body: ReadBody,
    pub(super) chain: Vec<Chained>,
}

/// The texts that memory adds to a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// The texts at their places.
    pub(super) splices: Vec<Splice>,
    /// Set where the newest question has some of it.
    pub(super) is_asked: bool,
    /// The tokens of all of it, by estimate.
    pub(super) tokens: Tokens,
}

impl Asked {
    pub(super) fn new(identity: Identity, body: ReadBody) -> Self {
        let chain = chain(&identity.seed, &body.messages);
        Self {
            identity,
            body,
            chain,
        }
    }

    /// Looks up what is to be added.
    pub(super) async fn added(
        &self,
        store: &Store,
        budget: Tokens,
        now: Timestamp,
    ) -> Result<Added, StoreError> {
        let questions = self.chain.iter().filter(|one| self.is_question(one));
        let questions: Vec<&Chained> = questions.collect();
        let links: Vec<[u8; 32]> = questions.iter().map(|one| one.link).collect();
        let Identity {
            channel, sender, ..
        } = &self.identity;
        // One question for all blocks, since each request has the whole conversation.
        let kept = store.splices(channel, sender, &links).await?;
        let fresh = match (&self.identity.named, links.len()) {
            // The first words alone do not tell two conversations apart: many begin with “hello”.
            (None, 1) => now.checked_sub(FRESH).unwrap_or(Timestamp::MIN),
            _ => Timestamp::MIN,
        };
        let mut texts: BTreeMap<usize, String> = BTreeMap::new();
        for question in &questions {
            if let Some(splice) = kept.get(&question.link).filter(|it| it.made >= fresh) {
                texts.insert(question.index, splice.text.clone());
            }
        }
        let newest = questions.last().filter(|one| self.is_new(one));
        if let Some(question) = newest
            && let Some(words) = &question.words
            && !texts.contains_key(&question.index)
        {
            let conversation = self.identity.conversation(&self.chain, None);
            let mut remembered = Remembered::new(sender, words, now);
            remembered.conversation = conversation.as_deref();
            remembered.budget = budget;
            let said = self.body.messages.iter().flat_map(|it| &it.texts);
            // What the client shows already must not be brought again.
            remembered.texts = said.chain(texts.values()).map(String::as_str).collect();
            if let Some(block) = remembered.block(store).await? {
                let place = (channel.as_str(), sender.as_str());
                let added = store.splice(place, question.link, block, (fresh, now));
                // The store's answer: another node may have kept a block for this question a moment earlier.
                texts.insert(question.index, added.await?);
            }
        }
        let mut added = self.spliced(&texts);
        added.is_asked = newest.is_some_and(|one| texts.contains_key(&one.index));
        Ok(added)
    }

    /// The texts at their places.
    fn spliced(&self, texts: &BTreeMap<usize, String>) -> Added {
        let mut added = Added::default();
        for (index, text) in texts {
            let message = self.body.messages.get(*index);
            let Some(place) = message.and_then(|message| message.place) else {
                continue;
            };
            added.tokens = added.tokens.saturating_add(ByteEstimate.count(text));
            added.splices.extend(place.insert(text));
        }
        added
    }

    fn is_question(&self, one: &Chained) -> bool {
        let message = self.body.messages.get(one.index);
        message.is_some_and(|message| message.is_question() && message.place.is_some())
    }

    /// Returns whether a question waits for its answer, and for what is remembered: nothing was said behind it, and a
    /// hook of the client has not brought memory already.
    fn is_new(&self, question: &Chained) -> bool {
        let is_last = self.chain.last().is_some_and(|last| last == question);
        let behind = self.body.messages.iter().skip(question.index);
        let mut told = behind.filter(|it| it.role != Role::Assistant);
        is_last && !told.any(|it| it.texts.iter().any(|text| text.contains(OPEN)))
    }
}
