//! The facts and past messages that a prompt is about, as a block of text within a budget.

use jiff::Timestamp;
use kitbag_core::tokens::Tokens;
use kitbag_store::{ConversationKey, MessageFilter, RecallRequest, Recalled, Store, StoreError};

use super::block::MemoryBlock;
use super::relevance;
use super::shown::ShownItems;

/// A question to memory: what a prompt of a conversation is about.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Remembered<'a> {
    /// The sender.
    pub sender: &'a str,
    /// The prompt.
    pub prompt: &'a str,
    /// The name of the conversation, whose own messages are not told.
    pub conversation: Option<&'a str>,
    /// Texts of the conversation, whose blocks hold what is not told a second time.
    pub texts: Vec<&'a str>,
    /// The messages that the prompt holds, which are not told a second time either.
    pub said: Vec<&'a str>,
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
            said: Vec::new(),
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
            .limit(RECALLED);
        let said = SaidTexts::of(&self.said);
        let mut block = MemoryBlock::new(self.budget, shown);
        let facts = request.clone().without(shown.messages());
        for recalled in store.recall_facts(&facts).await? {
            let source = recalled.message.as_ref();
            if !source.is_some_and(|message| said.hold(&message.text())) {
                block.add_recalled_fact(&recalled);
            }
        }
        let is_relevant = relevance::to(&asked);
        let mut out = shown.messages();
        for round in 1..=ROUNDS {
            let recalled = store.recall(&request.clone().without(out.clone())).await?;
            let is_full = recalled.len() == RECALLED;
            let (in_prompt, others): (Vec<Recalled>, Vec<Recalled>) = recalled
                .into_iter()
                .partition(|it| said.hold(&it.message.text()));
            // Those of the prompt itself took the places of others.
            if is_full && others.len() < RECALLED / 2 && round < ROUNDS {
                out.extend(in_prompt.iter().map(|it| it.message.id));
                continue;
            }
            let relevant = others.iter().filter(|it| is_relevant(&it.text()));
            relevant.for_each(|it| block.add_message(it));
            break;
        }
        Ok(block.finish())
    }
}

/// Memory is asked at most so often for what a prompt does not hold.
const ROUNDS: usize = 4;

/// The texts of a prompt, as they are compared with messages.
struct SaidTexts(Vec<String>);

/// A shorter text says little by being a part of another.
const TELLING: usize = 40;

impl SaidTexts {
    fn of(texts: &[&str]) -> Self {
        let mut all: Vec<String> = texts.iter().map(|text| compared(text)).collect();
        all.retain(|text| !text.is_empty());
        Self(all)
    }

    /// Returns true if the prompt holds a message, perhaps without a part that its client does not send back, such as
    /// reasoning.
    fn hold(&self, message: &str) -> bool {
        let message = compared(message);
        self.0.iter().any(|text| {
            let shorter = text.len().min(message.len());
            *text == message
                || (shorter >= TELLING
                    && (text.contains(&message) || message.contains(text.as_str())))
        })
    }
}

/// A text without white space, which clients change.
fn compared(text: &str) -> String {
    text.split_whitespace().collect()
}
