//! The facts and past messages that a prompt is about, as a block of text within a budget.

use jiff::Timestamp;
use kitbag_core::tokens::Tokens;
use kitbag_store::{ConversationKey, MessageFilter, RecallRequest, Store, StoreError};

use super::block::MemoryBlock;
use super::relevance;
use super::shown::ShownItems;

/// A question to memory: what a prompt of a conversation is about.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Remembered<'a> {
    /// Whose memory it is.
    pub sender: &'a str,
    /// The prompt.
    pub prompt: &'a str,
    /// The name of the conversation, whose own messages are not told.
    pub conversation: Option<&'a str>,
    /// Texts of the conversation, whose blocks hold what is not told a second time.
    pub texts: Vec<&'a str>,
    /// The most tokens of the block.
    pub budget: Tokens,
    /// The time of the prompt.
    pub now: Timestamp,
}

/// The messages and the facts that are looked at, of which the relevant ones are shown as far as they fit.
const RECALLED: usize = 24;

impl<'a> Remembered<'a> {
    /// Asks what a prompt that begins a conversation is about, within 800 tokens.
    #[must_use]
    pub const fn new(sender: &'a str, prompt: &'a str, now: Timestamp) -> Self {
        Self {
            sender,
            prompt,
            conversation: None,
            texts: Vec::new(),
            budget: Tokens(800),
            now,
        }
    }

    /// The block; nothing if nothing relevant is remembered.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn block(&self, store: &Store) -> Result<Option<String>, StoreError> {
        self.block_besides(store, &ShownItems::of(&self.texts))
            .await
    }

    pub(super) async fn block_besides(
        &self,
        store: &Store,
        shown: &ShownItems,
    ) -> Result<Option<String>, StoreError> {
        let asked = relevance::both_ends(self.prompt);
        let mut among = MessageFilter::default();
        if let Some(own) = self.conversation {
            among = among.except_conversation(ConversationKey::Name(own.to_owned()));
        }
        let request = RecallRequest::new(self.sender, asked.as_ref())
            .among(among)
            .at(self.now)
            .limit(RECALLED)
            .without(shown.messages());
        let mut block = MemoryBlock::new(self.budget, shown);
        for recalled in store.recall_facts(&request).await? {
            block.add_recalled_fact(&recalled);
        }
        let is_relevant = relevance::to(&asked);
        for recalled in store.recall(&request).await? {
            if is_relevant(&recalled.text()) {
                block.add_message(&recalled);
            }
        }
        Ok(block.finish())
    }
}
