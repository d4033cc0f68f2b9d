//! A preview of forgetting: the number of messages, and the first of them.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::role::Role;
use kitbag_store::{
    ExportFilter, Forget, MessageFilter, MessageTime, Refusal, Store, StoreError, StoredMessage,
};
use serde::Serialize;

use crate::words::{beginning, counted};

/// The number of messages that are read at a time.
const PAGE: u32 = 1_000;

/// The messages that forgetting would remove, the values of facts that came from them, and refusals. Summaries made
/// of them go too, and are not counted here.
#[derive(Debug, Default, Serialize)]
pub struct ForgetPreview {
    messages: u64,
    conversations: usize,
    facts: u64,
    refusals: u64,
    /// The first of the messages.
    first: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    id: String,
    at: Option<MessageTime>,
    role: Role,
    text: String,
}

impl ForgetPreview {
    /// Counts the messages that would go, and keeps the first of them, at most `limit`.
    ///
    /// # Errors
    /// When there is no such message, or the store fails.
    pub async fn of(store: &Store, what: &Forget, limit: u32) -> Result<Self, StoreError> {
        let mut preview = Self::default();
        let mut sources = BTreeMap::new();
        if !matches!(
            what,
            Forget::Fact { .. } | Forget::FactOn { .. } | Forget::Sender(_) | Forget::Tenant
        ) {
            // Read once for all messages. The other kinds count their facts in a single query.
            sources = store.fact_sources().await?;
        }
        let filter = match what {
            Forget::Fact { sender, key } => {
                let values = store.fact_history(sender, Some(key), u32::MAX).await?;
                preview.facts = values.len() as u64;
                return Ok(preview);
            }
            Forget::FactOn {
                channel,
                sender,
                key,
            } => {
                let values = store.fact_history_on(channel, sender, key).await?;
                preview.facts = values.len() as u64;
                return Ok(preview);
            }
            Forget::Message(id) => {
                let stored = store.message(*id).await?;
                preview.facts = sources.get(id).copied().unwrap_or(0);
                preview.add(stored, limit);
                preview.conversations = 1;
                return Ok(preview);
            }
            Forget::Refusals { channel, before } => {
                let is_old = |one: &Refusal| one.channel == *channel && one.at < *before;
                preview.refusals = count_refusals(store, is_old).await?;
                return Ok(preview);
            }
            // A message whose former text has the words goes too.
            Forget::Messages(filter) => filter.clone().in_older_texts(),
            Forget::Conversation(id) => {
                ExportFilter::default().among(MessageFilter::default().in_conversation(*id))
            }
            Forget::Sender(sender) => {
                preview.facts = store.fact_history(sender, None, u32::MAX).await?.len() as u64;
                let is_theirs = |one: &Refusal| one.sender == *sender;
                preview.refusals = count_refusals(store, is_theirs).await?;
                ExportFilter::new(Some(sender.clone()), None)
            }
            Forget::Tenant => {
                let stats = store.stats().await?;
                preview.facts = stats.facts + stats.past_facts;
                preview.refusals = stats.refusals;
                ExportFilter::default()
            }
            _ => ExportFilter::default(),
        };
        let mut conversations = BTreeSet::new();
        let mut after = None;
        loop {
            let (page, next) = store.export(&filter, after, PAGE).await?;
            for exported in page {
                let stored = exported?.message;
                conversations.insert(stored.id.conversation());
                preview.facts += sources.get(&stored.id).copied().unwrap_or(0);
                preview.add(stored, limit);
            }
            if next.is_none() {
                preview.conversations = conversations.len();
                return Ok(preview);
            }
            after = next;
        }
    }

    fn add(&mut self, stored: StoredMessage, limit: u32) {
        self.messages += 1;
        // Internal messages are counted but not shown: they are for the model alone.
        if self.messages <= u64::from(limit) && stored.message.is_for_user() {
            self.first.push(Line {
                id: stored.id.to_string(),
                at: stored.at,
                role: stored.message.role,
                text: beginning(&stored.text(), 80),
            });
        }
    }

    /// Tells whether nothing would go.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages == 0 && self.facts == 0 && self.refusals == 0
    }

    /// The list, for a person.
    #[must_use]
    pub fn text(&self, would: &str) -> String {
        let mut parts = Vec::new();
        if self.messages > 0 {
            let messages = counted(self.messages, "message", "messages");
            let conversations = counted(self.conversations as u64, "conversation", "conversations");
            parts.push(format!("{messages} in {conversations}"));
        }
        if self.facts > 0 {
            parts.push(counted(self.facts, "value of facts", "values of facts"));
        }
        if self.refusals > 0 {
            parts.push(counted(self.refusals, "refusal", "refusals"));
        }
        if parts.is_empty() {
            return format!("{would} nothing");
        }
        let mut text = format!("{would} {}\n", parts.join(" and "));
        for line in &self.first {
            let at = line.at.map_or_else(|| "undated".to_owned(), minutes);
            text.push_str(&format!(
                "  {} {at} {}: {}\n",
                line.id, line.role, line.text
            ));
        }
        let more = self.messages.saturating_sub(self.first.len() as u64);
        if more > 0 {
            text.push_str(&format!("  and {}\n", counted(more, "other", "others")));
        }
        text
    }
}

async fn count_refusals(
    store: &Store,
    would_go: impl Fn(&Refusal) -> bool,
) -> Result<u64, StoreError> {
    // There are few refusals, so that all of them can be read.
    let refusals = store.refusals(u32::MAX).await?;
    Ok(refusals.iter().filter(|one| would_go(one)).count() as u64)
}

/// A time as the speaker's clock showed it.
fn minutes(at: MessageTime) -> String {
    at.wall_clock().strftime("%Y-%m-%d %H:%M").to_string()
}
