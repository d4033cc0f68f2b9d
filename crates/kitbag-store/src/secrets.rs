//! Keeps secrets out of the store: the words of people, models and tools are masked before they are
//! written.
//!
//! The turn in which a secret was typed is made from the original message, so the model sees the
//! secret there. Rows, index, archived prompts, exports and all later prompts hold the mask, and so
//! do names of conversations, references, keys of facts and reminders. The operator's own words
//! (base prompt, tools, context messages of one turn) are not changed.

mod json;

use kitbag_core::content::{Content, ContentBlock, RawJson};
use kitbag_core::inject::EntryAction;
use kitbag_core::message::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::conversation::ConversationChoice;
use crate::fact::NewFact;
use crate::store::Store;

/// The treatment of secrets in what is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Secrets {
    /// A marker such as `[REDACTED:github-token]` is stored in its place.
    #[default]
    Mask,
    /// It is stored as it is.
    Keep,
}

impl Secrets {
    /// The mask for text that is written, unless secrets are kept.
    pub(crate) fn mask(self) -> Option<Mask> {
        match self {
            Self::Mask => Some(Mask::default()),
            Self::Keep => None,
        }
    }

    /// A text as it is stored.
    pub(crate) fn masked(self, text: String) -> String {
        match self.mask() {
            Some(mut mask) => mask.text(text),
            None => text,
        }
    }

    /// Facts as they are stored.
    pub(crate) fn masked_facts(self, mut facts: Vec<NewFact>) -> Vec<NewFact> {
        for fact in &mut facts {
            fact.key = self.masked_name(std::mem::take(&mut fact.key));
            fact.value = self.masked(std::mem::take(&mut fact.value));
        }
        facts
    }

    /// A name as it is stored. Four digits of its hash follow the mask, so that different names
    /// stay different, mostly. One guess in 65,536 has the same digits: too many to confirm a
    /// guess, and few enough that two masked names rarely collide.
    pub(crate) fn masked_name(self, name: String) -> String {
        let Some(masked) = self.mask().and_then(|mut mask| mask.replaced(&name)) else {
            return name;
        };
        let hash = blake3::hash(name.as_bytes()).to_hex();
        let digits: String = hash.chars().take(4).collect();
        format!("{masked}-{digits}")
    }

    /// The choice of a conversation, by the name under which it is stored.
    pub(crate) fn masked_choice(self, choice: ConversationChoice) -> ConversationChoice {
        match choice {
            ConversationChoice::Named(name) => ConversationChoice::Named(self.masked_name(name)),
            other => other,
        }
    }

    /// Changes of reminders as they are stored.
    pub(crate) fn masked_entries(self, mut actions: Vec<EntryAction>) -> Vec<EntryAction> {
        for action in &mut actions {
            if let EntryAction::Upsert { message } = action {
                message.content = self.masked(std::mem::take(&mut message.content));
            }
        }
        actions
    }

    /// A value as it is stored. Secrets are searched in every text of its JSON.
    pub(crate) fn masked_value<T: Serialize + DeserializeOwned>(self, value: T) -> T {
        match self.mask() {
            Some(mut mask) => mask.value(value),
            None => value,
        }
    }
}

impl Store {
    /// A text as the store keeps it: without its secrets, unless they are kept.
    #[must_use]
    pub fn as_stored(&self, text: String) -> String {
        self.secrets().masked(text)
    }
}

/// Masks secrets, and counts them.
#[derive(Debug, Default)]
pub(crate) struct Mask {
    /// The number of secrets that were masked.
    pub(crate) masked: usize,
    /// A text that stays although it may look like a secret: the key of a prompt's queries.
    spared: Option<String>,
}

impl Mask {
    pub(crate) fn sparing(mut self, key: Option<String>) -> Self {
        self.spared = key.filter(|key| !key.is_empty());
        self
    }

    pub(crate) fn text(&mut self, text: String) -> String {
        match self.replaced(&text) {
            Some(masked) => masked,
            None => text,
        }
    }

    /// The text without its secrets; none if it has none.
    fn replaced(&mut self, text: &str) -> Option<String> {
        let before = self.masked;
        let mut redact = |part| {
            // The empty name stands for prose: in a message, unlike in a file, values stand without
            // quotes.
            let redacted = kitbag_secrets::redact(part, "");
            self.masked += redacted.found.len();
            redacted.text
        };
        let masked = match self.spared.as_deref() {
            Some(spared) => {
                // Split at the spared text, so that no match reaches across it.
                let parts: Vec<_> = text.split(spared).map(redact).collect();
                parts.join(spared).into()
            }
            None => redact(text),
        };
        (self.masked > before).then(|| masked.into_owned())
    }

    pub(crate) fn message(&mut self, message: &mut Message) {
        // Every field that may quote somebody; role and visibility cannot.
        self.content(&mut message.content);
        for call in message.tool_calls.iter_mut().flatten() {
            self.raw(&mut call.arguments);
        }
        if let Some(masked) = message.name.as_deref().and_then(|name| self.replaced(name)) {
            message.name = Some(masked);
        }
        if let Some(metadata) = message.metadata.as_mut() {
            metadata.extra = self.value(std::mem::take(&mut metadata.extra));
            if let Some(masked) = metadata
                .run_id
                .as_deref()
                .and_then(|run| self.replaced(run))
            {
                metadata.run_id = Some(masked);
            }
        }
        if !message.extra.is_empty() {
            message.extra = self.value(std::mem::take(&mut message.extra));
        }
    }

    fn content(&mut self, content: &mut Content) {
        match content {
            Content::Null => {}
            Content::Text(text) => {
                if let Some(masked) = self.replaced(text) {
                    *text = masked;
                }
            }
            Content::Blocks(blocks) => blocks.retain_mut(|block| self.block(block)),
        }
    }

    /// Masks a block, and returns false if it must be removed: reasoning is signed by its provider,
    /// which refuses it once a byte has changed.
    fn block(&mut self, block: &mut ContentBlock) -> bool {
        if let ContentBlock::Text { text, raw: None } = block {
            if let Some(masked) = self.replaced(text) {
                *text = masked;
            }
            return true;
        }
        // A picture is encoded and holds no text; random digits in it could look like a secret.
        let Some(raw) = block
            .as_raw()
            .filter(|_| !matches!(block, ContentBlock::Image(_)))
        else {
            return true;
        };
        let mut masked = raw.clone();
        if !self.raw(&mut masked) {
            return true;
        }
        if matches!(block, ContentBlock::Thinking(_)) {
            return false;
        }
        match ContentBlock::from_raw(masked) {
            Ok(masked) => {
                *block = masked;
                true
            }
            Err(_) => false,
        }
    }

    /// Masks the texts of a JSON value, and returns true if it had a secret.
    pub(crate) fn raw(&mut self, raw: &mut RawJson) -> bool {
        let Some(masked) = self.json(raw.as_str()) else {
            return false;
        };
        // Strings were replaced by strings, so it is still JSON.
        *raw = RawJson::from_text(masked).unwrap_or_default();
        true
    }

    /// Masks the texts of a value. A value that cannot be read back afterwards is left as it is,
    /// and not counted.
    fn value<T: Serialize + DeserializeOwned>(&mut self, value: T) -> T {
        let before = self.masked;
        let masked = serde_json::to_string(&value).ok();
        let masked = masked.and_then(|json| self.json(&json));
        let Some(masked) = masked else {
            return value;
        };
        serde_json::from_str(&masked).unwrap_or_else(|_| {
            self.masked = before;
            value
        })
    }
}
