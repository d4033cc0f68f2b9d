//! The documents of a conversation: each becomes a message with its latest text.

use regex::{NoExpand, Regex, RegexBuilder};
use serde_json::Value;

use kitbag_core::role::Role;

use super::{Exported, Said, named};
use crate::memory::import::{ImportTally, RecordKind, clean};

/// Longest title and longest id, in characters.
const LONGEST_NAME: usize = 200;

/// The documents of a conversation, in the order in which they were made.
#[derive(Default)]
pub(in crate::memory) struct Documents(Vec<Document>);

struct Document {
    id: Option<String>,
    title: String,
    text: String,
    /// The name of the message that it becomes, which stays when the text changes.
    reference: Option<String>,
    at: Option<Value>,
    /// The number of messages before its latest change.
    position: usize,
}

/// A version of a document that is written whole.
pub(in crate::memory) struct Written<'a> {
    pub(in crate::memory) id: Option<&'a str>,
    pub(in crate::memory) title: Option<&'a str>,
    pub(in crate::memory) text: &'a str,
}

/// The message that makes or changes a document.
pub(in crate::memory) struct Origin<'a> {
    /// The message's name, to which the document's is added if it has one.
    pub(in crate::memory) message: Option<&'a str>,
    pub(in crate::memory) at: Option<&'a Value>,
    /// The number of messages before it.
    pub(in crate::memory) position: usize,
}

/// A change of a part of a document.
pub(in crate::memory) enum Change<'a> {
    /// Replaces a text, which stands there once.
    Text { old: &'a str, new: &'a str },
    /// Replaces what a regular expression matches, the first time or every time.
    Pattern {
        pattern: &'a str,
        replacement: &'a str,
        is_repeated: bool,
    },
}

impl Documents {
    /// Writes a document whole: a new one, or the next version of one with the same id.
    pub(in crate::memory) fn write(
        &mut self,
        written: Written<'_>,
        origin: &Origin<'_>,
        tally: &mut ImportTally,
    ) {
        let title = written.title.map(|title| clean(title, LONGEST_NAME));
        let title = title.filter(|title| !title.is_empty());
        let mut known = self.0.iter_mut();
        let known = known.find(|known| written.id.is_some() && known.id.as_deref() == written.id);
        if let Some(document) = known {
            tally.add(RecordKind::OlderVersions);
            // A later version may come without a title.
            document.title = title.unwrap_or(std::mem::take(&mut document.title));
            document.text = written.text.to_owned();
            document.touch(origin);
            return;
        }
        let name = written.id.map(|id| clean(id, LONGEST_NAME));
        let mut document = Document {
            id: written.id.map(str::to_owned),
            title: title
                .or_else(|| name.clone())
                .unwrap_or("untitled".to_owned()),
            text: written.text.to_owned(),
            reference: match (origin.message, name) {
                // One message may write several documents, whose names must differ.
                (Some(message), Some(name)) => Some(format!("{message}/{name}")),
                (message, _) => message.map(str::to_owned),
            },
            at: None,
            position: 0,
        };
        document.touch(origin);
        self.0.push(document);
    }

    /// Changes the document with an id, or without one the last.
    pub(in crate::memory) fn change(
        &mut self,
        id: Option<&str>,
        changes: &[Change<'_>],
        origin: &Origin<'_>,
        tally: &mut ImportTally,
    ) {
        let known = self.0.iter().position(|known| known.id.as_deref() == id);
        // Changes of a canvas do not always name their document; then it is the latest one.
        let known = match id {
            Some(_) => known,
            None => self.0.len().checked_sub(1),
        };
        let Some(document) = known.and_then(|known| self.0.get_mut(known)) else {
            tally.add(RecordKind::LostChanges);
            return;
        };
        let mut is_changed = false;
        for change in changes {
            match change.apply(&document.text) {
                Some(text) => {
                    is_changed |= text != document.text;
                    document.text = text;
                }
                // The other changes still apply: each stands for itself.
                None => tally.add(RecordKind::LostChanges),
            }
        }
        if is_changed {
            tally.add(RecordKind::OlderVersions);
            document.touch(origin);
        }
    }

    /// Gives the last document its id, which only the answer of the tool contains.
    pub(in crate::memory) fn name_last(&mut self, id: &str) {
        if let Some(last) = self.0.last_mut().filter(|last| last.id.is_none()) {
            last.id = Some(id.to_owned());
        }
    }

    /// Puts the documents among the messages, each where it was last changed.
    pub(in crate::memory) fn put_into(mut self, exported: &mut Exported, tally: &mut ImportTally) {
        self.0.retain(|document| !document.text.trim().is_empty());
        self.0.sort_by_key(|document| document.position);
        // From the end, so that an insertion does not move the positions of the others.
        for document in self.0.into_iter().rev() {
            tally.add(RecordKind::Documents);
            let position = document.position.min(exported.messages.len());
            let said = Said {
                reference: document.reference,
                role: Role::Assistant,
                speaker: None,
                at: document.at,
                parts: vec![named("document", &document.title), document.text],
                remembered: Vec::new(),
            };
            exported.messages.insert(position, Ok(said));
        }
    }
}

impl Document {
    fn touch(&mut self, origin: &Origin<'_>) {
        self.at = origin.at.cloned();
        self.position = origin.position;
    }
}

impl Change<'_> {
    /// The changed text, if the place of the change is there.
    fn apply(&self, text: &str) -> Option<String> {
        match self {
            Self::Text { old, .. } if old.is_empty() || !text.contains(old) => None,
            Self::Text { old, new } => Some(text.replacen(old, new, 1)),
            // A pattern for everything rewrites the document, whatever it holds.
            Self::Pattern {
                pattern: ".*" | "(?s).*" | "^.*$" | "[\\s\\S]*",
                replacement,
                ..
            } => Some((*replacement).to_owned()),
            Self::Pattern {
                pattern,
                replacement,
                is_repeated,
            } => {
                let pattern = compiled(pattern)?;
                if !pattern.is_match(text) {
                    return None;
                }
                let most = if *is_repeated { 0 } else { 1 };
                // Without expansion: a `$1` in a document is text.
                let changed = pattern.replacen(text, most, NoExpand(replacement));
                Some(changed.into_owned())
            }
        }
    }
}

/// The pattern with a dot that also matches line ends. A pattern that is no valid expression matches
/// literally.
fn compiled(pattern: &str) -> Option<Regex> {
    let written = RegexBuilder::new(pattern)
        .dot_matches_new_line(true)
        .build();
    written
        .or_else(|_| Regex::new(&regex::escape(pattern)))
        .ok()
}
