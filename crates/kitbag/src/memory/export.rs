//! A conversation of a chat export, whichever service it comes from.

pub(super) mod branch;
pub(super) mod documents;
mod remembered;

use kitbag_core::role::Role;
use serde_json::Value;

use super::import::{
    ImportDefaults, ImportError, ImportLine, ImportTally, RecordKind, clean, time_of,
};
use remembered::facts_of;

/// The field of a message's metadata that names the service whose memory its facts are from.
pub(crate) const REMEMBERED_BY: &str = "remembered_by";

/// The name of the service of a channel.
fn remembering(channel: &str) -> &str {
    match channel {
        "chatgpt" => "ChatGPT",
        "claude" => "Claude",
        other => other,
    }
}

/// Longest title, in characters.
const LONGEST_TITLE: usize = 200;

/// A conversation, reduced to the branch that its user saw last.
#[derive(Default)]
pub(super) struct Exported {
    pub(super) id: Option<String>,
    pub(super) title: Option<String>,
    pub(super) begun: Option<Value>,
    pub(super) summary: Option<String>,
    /// The messages, each of which may be bad by itself.
    pub(super) messages: Vec<Result<Said, ImportError>>,
}

/// A message.
pub(super) struct Said {
    pub(super) reference: Option<String>,
    pub(super) role: Role,
    pub(super) speaker: Option<String>,
    pub(super) at: Option<Value>,
    /// All that it says, part by part.
    pub(super) parts: Vec<String>,
    /// Texts that the service remembered from it.
    pub(super) remembered: Vec<String>,
}

impl Said {
    fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| part.trim().is_empty())
    }
}

impl Exported {
    /// Gives a text that the service remembered to the user's message that it came from: the latest so
    /// far.
    pub(super) fn remember(&mut self, text: &str, tally: &mut ImportTally) {
        let said = self.messages.iter_mut().rev().flatten();
        let mut said = said.filter(|said| said.role == Role::User && !said.is_empty());
        match said.next() {
            Some(said) => said.remembered.push(text.to_owned()),
            None => tally.add(RecordKind::LostMemories),
        }
    }

    /// Takes back a text that the service no longer remembers.
    pub(super) fn unremember(&mut self, text: &str) {
        for said in self.messages.iter_mut().flatten() {
            said.remembered.retain(|remembered| remembered != text);
        }
    }

    /// The lines to import; `channel` is the service.
    pub(super) fn lines(
        self,
        channel: &str,
        defaults: &ImportDefaults,
        tally: &mut ImportTally,
    ) -> Vec<Result<ImportLine, ImportError>> {
        let title = self.title.map(|title| clean(&title, LONGEST_TITLE));
        let title = title.filter(|title| !title.is_empty());
        let mut last_time = self.begun.as_ref().and_then(time_of);
        let mut line = |said: Said| {
            // A message without a time gets that of the message before, so that the order stays.
            let time = said.at.as_ref().and_then(time_of);
            last_time = time.or(last_time.take());
            let parts = said.parts.iter().map(|part| part.trim());
            let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
            if parts.is_empty() {
                tally.add(RecordKind::Empty);
                return None;
            }
            let mut line = defaults.line(channel, said.role, parts.join("\n"));
            line.conversation.clone_from(&self.id);
            line.title.clone_from(&title);
            line.reference = said.reference;
            line.at.clone_from(&last_time);
            line.speaker = said.speaker;
            for text in &said.remembered {
                let facts = facts_of(text);
                tally.add(match facts.is_empty() {
                    true => RecordKind::LostMemories,
                    false => RecordKind::Memories,
                });
                line.facts.extend(facts);
            }
            if !line.facts.is_empty() {
                // By this a fact that the service wrote is told from one that the user stated.
                let service = Value::from(remembering(channel));
                line.metadata.insert(REMEMBERED_BY.to_owned(), service);
            }
            Some(line)
        };
        let messages = self.messages.into_iter();
        let mut lines: Vec<Result<ImportLine, ImportError>> = messages
            .filter_map(|said| said.map(&mut line).transpose())
            .collect();
        let mut kept = lines.iter_mut().flatten();
        // A conversation without a message that is kept counts as none.
        if let Some(last) = kept.next_back() {
            tally.add(RecordKind::Conversations);
            tally.add_many(RecordKind::Titles, u64::from(title.is_some()));
            last.summary = self.summary.filter(|summary| !summary.trim().is_empty());
            tally.add_many(RecordKind::Summaries, u64::from(last.summary.is_some()));
        }
        lines
    }
}

/// A field that is a text.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// A file or something else that has no text, as it is named in a message.
pub(super) fn named(what: &str, name: &str) -> String {
    format!("[{what}: {name}]")
}
