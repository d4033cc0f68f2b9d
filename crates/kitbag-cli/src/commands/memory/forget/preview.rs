//! A preview of what would be forgotten: the count and the first messages.

use std::collections::{BTreeMap, BTreeSet};

use kitbag::core::role::Role;
use kitbag::store::{ExportFilter, Forget, MessageFilter, MessageTime, Store};
use serde::Serialize;

use crate::commands::memory::said;
use crate::failure::Failure;
use crate::output::{self, counted};

/// The number of messages that are read at a time.
const PAGE: u32 = 1_000;

/// The messages that forgetting would remove, and the values of facts that came from them. Summaries made
/// of them go too, and are not counted here.
#[derive(Serialize, Default)]
pub(in super::super) struct Preview {
    messages: u64,
    conversations: usize,
    facts: u64,
    /// The first of the messages.
    first: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    id: String,
    at: Option<MessageTime>,
    role: Role,
    text: String,
}

impl Preview {
    pub(in super::super) async fn of(
        store: &Store,
        what: &Forget,
        limit: u32,
    ) -> Result<Self, Failure> {
        let mut preview = Self::default();
        let mut sources = BTreeMap::new();
        if !matches!(
            what,
            Forget::Fact { .. } | Forget::Sender(_) | Forget::Tenant
        ) {
            sources = store.fact_sources().await?;
        }
        let filter = match what {
            Forget::Fact { sender, key } => {
                let values = store.fact_history(sender, Some(key), u32::MAX).await?;
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
            Forget::Messages(filter) => filter.clone().in_older_texts(),
            Forget::Conversation(id) => {
                ExportFilter::default().among(MessageFilter::default().in_conversation(*id))
            }
            Forget::Sender(sender) => {
                preview.facts = store.fact_history(sender, None, u32::MAX).await?.len() as u64;
                ExportFilter::new(Some(sender.clone()), None)
            }
            Forget::Tenant => {
                let stats = store.stats().await?;
                preview.facts = stats.facts + stats.past_facts;
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

    fn add(&mut self, stored: kitbag::store::StoredMessage, limit: u32) {
        self.messages += 1;
        if self.messages <= u64::from(limit) {
            self.first.push(Line {
                id: stored.id.to_string(),
                at: stored.at,
                role: stored.message.role,
                text: output::beginning(&stored.text(), 80),
            });
        }
    }

    /// The list, for a person.
    pub(in super::super) fn text(&self, would: &str) -> String {
        let mut parts = Vec::new();
        if self.messages > 0 {
            let messages = counted(self.messages, "message", "messages");
            let conversations = counted(self.conversations as u64, "conversation", "conversations");
            parts.push(format!("{messages} in {conversations}"));
        }
        if self.facts > 0 {
            parts.push(counted(self.facts, "value of facts", "values of facts"));
        }
        if parts.is_empty() {
            return format!("{would} nothing");
        }
        let mut text = format!("{would} {}\n", parts.join(" and "));
        for line in &self.first {
            let at = line.at.map_or_else(|| "undated".to_owned(), said::minutes);
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

/// Names the things to forget.
pub(super) fn named(what: &Forget) -> String {
    match what {
        Forget::Message(id) => format!("message {id}"),
        Forget::Fact { sender, key } => format!("the fact `{key}` of {sender}"),
        Forget::Conversation(id) => format!("conversation {id}"),
        Forget::Sender(sender) => format!("all about {sender}"),
        Forget::Tenant => "everything of the tenant".to_owned(),
        _ => "these messages".to_owned(),
    }
}
