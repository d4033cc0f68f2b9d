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

use super::chain::{Chained, Link, chain};
use super::identity::Identity;
use super::said::ReadBody;
use super::splice::Splice;

/// The beginning of every block of memory.
const OPEN: &str = "<kitbag-memory>";

/// A client that sends its first question again within this time is trying again, and gets the same block. Later, the
/// same first words begin another conversation, which gets a block of its own. Only a question that waits for its first
/// answer is in doubt: behind it, all that was said tells conversations apart.
const FRESH: SignedDuration = SignedDuration::from_mins(10);

/// The sender of a request, and everything said in its conversation.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) identity: Identity,
    pub(super) chain: Vec<Chained>,
}

/// The blocks of memory of a request, by the place of their question.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Blocks {
    pub(super) texts: BTreeMap<usize, String>,
    /// The block of the newest question, if it has none yet.
    pub(super) new: Option<NewBlock>,
}

/// A block for a question that has none yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewBlock {
    pub(super) index: usize,
    pub(super) text: String,
    anchor: Link,
    fresh: Timestamp,
}

/// The texts that memory adds to a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Added {
    /// The texts at their places.
    pub(super) splices: Vec<Splice>,
    /// The tokens that each message gains, by estimate.
    pub(super) tokens: BTreeMap<usize, Tokens>,
    /// Set where the newest question has some of it.
    pub(super) is_asked: bool,
}

impl Asked {
    pub(super) fn new(identity: Identity, body: &ReadBody) -> Self {
        let chain = chain(&identity.seed, &body.messages);
        Self { identity, chain }
    }

    /// Looks up the blocks of a request: those that were sent before, and one for a new question.
    pub(super) async fn blocks(
        &self,
        body: &ReadBody,
        store: &Store,
        budget: Tokens,
        now: Timestamp,
    ) -> Result<Blocks, StoreError> {
        let questions: Vec<&Chained> = self.questions(body).collect();
        let links: Vec<Link> = questions.iter().map(|one| one.link).collect();
        let Identity {
            channel, sender, ..
        } = &self.identity;
        // One question for all blocks, since each request has the whole conversation.
        let kept = store.splices(channel, sender, &links).await?;
        let is_first = self.identity.named.is_none() && links.len() == 1;
        let fresh = match questions.last() {
            Some(question) if is_first && self.is_last(question) => {
                now.checked_sub(FRESH).unwrap_or(Timestamp::MIN)
            }
            _ => Timestamp::MIN,
        };
        let mut blocks = Blocks::default();
        for question in &questions {
            if let Some(splice) = kept.get(&question.link).filter(|it| it.made >= fresh) {
                blocks.texts.insert(question.index, splice.text.clone());
            }
        }
        if let Some(question) = questions.last()
            && self.is_new(question, body)
            && let Some(words) = &question.words
            && !blocks.texts.contains_key(&question.index)
        {
            let mut remembered = Remembered::new(sender, words, now);
            remembered.budget = budget;
            let texts = body.messages.iter().flat_map(|it| &it.texts);
            let texts = texts.chain(blocks.texts.values());
            remembered.texts = texts.map(String::as_str).collect();
            // And not all of the conversation: its client may have left old messages out.
            let said = self.chain.iter().filter_map(|one| one.words.as_deref());
            remembered.said = said.collect();
            let text = remembered.block(store).await?;
            blocks.new = text.map(|text| NewBlock {
                index: question.index,
                text,
                anchor: question.link,
                fresh,
            });
        }
        Ok(blocks)
    }

    /// Keeps a new block for the requests that follow, and returns the one to send: another request for the same
    /// may have got one just now.
    pub(super) fn keep(
        &self,
        store: Store,
        new: NewBlock,
        now: Timestamp,
    ) -> impl Future<Output = Result<String, StoreError>> + Send + 'static {
        let (channel, sender) = (self.identity.channel.clone(), self.identity.sender.clone());
        async move {
            let times = (new.fresh, now);
            let place = (channel.as_str(), sender.as_str());
            store.splice(place, new.anchor, new.text, times).await
        }
    }

    /// The texts at their places.
    pub(super) fn added(&self, body: &ReadBody, texts: &BTreeMap<usize, String>) -> Added {
        let mut added = Added::default();
        for (index, text) in texts {
            let message = body.messages.get(*index);
            let Some(place) = message.and_then(|message| message.place) else {
                continue;
            };
            added.tokens.insert(*index, ByteEstimate.count(text));
            added.splices.extend(place.insert(text));
        }
        let newest = self.questions(body).last();
        added.is_asked = newest.is_some_and(|one| texts.contains_key(&one.index));
        added
    }

    /// The questions of a person that memory could be put before.
    fn questions<'a>(&'a self, body: &'a ReadBody) -> impl Iterator<Item = &'a Chained> {
        self.chain.iter().filter(|one| {
            let message = body.messages.get(one.index);
            message.is_some_and(|message| message.is_question() && message.place.is_some())
        })
    }

    fn is_last(&self, question: &Chained) -> bool {
        self.chain.last().is_some_and(|last| last == question)
    }

    /// Returns whether a question waits for its answer, and for what is remembered: nothing was said behind it, and a
    /// hook of the client has not brought memory already.
    fn is_new(&self, question: &Chained, body: &ReadBody) -> bool {
        let behind = body.messages.iter().skip(question.index);
        let mut told = behind.filter(|it| it.role != Role::Assistant);
        let is_told = told.any(|it| it.texts.iter().any(|text| text.contains(OPEN)));
        self.is_last(question) && !is_told
    }
}

impl Added {
    /// The tokens of all of it, by estimate.
    pub(super) fn all_tokens(&self) -> Tokens {
        self.tokens.values().copied().sum()
    }
}

#[cfg(test)]
mod tests {
    use kitbag::layout::HookScope;
    use kitbag::store::{Incoming, NewMessage};
    use kitbag::wire::Dialect;

    use super::*;

    /// A request to Chat Completions without a name for its conversation.
    fn asked(messages: &str) -> (Asked, ReadBody) {
        let body = format!("{{\"messages\": [{messages}]}}");
        let body = ReadBody::read(Dialect::OpenAi, body.as_bytes()).unwrap();
        let identity = Identity::of(&http::HeaderMap::new(), &body, HookScope::User, true).unwrap();
        (Asked::new(identity, &body), body)
    }

    #[tokio::test]
    async fn x06_a_block_stays_at_its_place_however_long_tools_take() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("memory.db");
        let location = format!("sqlite:{}", file.display()).parse().unwrap();
        let store = Store::open(&location).await.unwrap();
        let said = NewMessage::new(Role::User, "We deploy with fly.io, never with heroku.");
        let incoming = Incoming::new("http", "user", said);
        let now = Timestamp::UNIX_EPOCH;
        store.accept(&incoming, now).await.unwrap();
        let question = r#"{"role": "user", "content": "How do we deploy?"}"#;
        let (first, body) = asked(question);
        let budget = Tokens(800);
        let blocks = first.blocks(&body, &store, budget, now).await.unwrap();
        let new = blocks.new.unwrap();
        let text = first.keep(store.clone(), new, now).await.unwrap();
        let later = now + SignedDuration::from_mins(11);
        let called = r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "call_1"}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "done"}"#;
        let (next, body) = asked(&format!("{question}, {called}"));
        let blocks = next.blocks(&body, &store, budget, later).await.unwrap();
        assert_eq!((blocks.texts.get(&0), blocks.new), (Some(&text), None));
        assert!(next.added(&body, &blocks.texts).is_asked);
        // The same words alone begin another conversation by then.
        let (again, body) = asked(question);
        let blocks = again.blocks(&body, &store, budget, later).await.unwrap();
        assert!(blocks.texts.is_empty() && blocks.new.is_some());
    }
}
