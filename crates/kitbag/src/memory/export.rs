//! A conversation of a chat export, whichever service it comes from.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::role::Role;
use serde_json::Value;

use super::import::{ImportDefaults, ImportError, ImportLine, LeftOut, time_of};

/// A conversation, of which only the branch that was last looked at is left.
pub(super) struct Exported {
    pub(super) id: Option<String>,
    pub(super) begun: Option<Value>,
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
}

impl Exported {
    /// The lines to import; `channel` is the service.
    pub(super) fn lines(
        self,
        channel: &str,
        defaults: &ImportDefaults,
        left_out: &mut LeftOut,
    ) -> Vec<Result<ImportLine, ImportError>> {
        let mut last_time = self.begun.as_ref().and_then(time_of);
        let mut line = |said: Said| {
            // A message without a time was said after the one before it.
            let time = said.at.as_ref().and_then(time_of);
            last_time = time.or(last_time.take());
            let parts = said.parts.iter().map(|part| part.trim());
            let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
            if parts.is_empty() {
                left_out.empty += 1;
                return None;
            }
            let mut line = defaults.line(channel, said.role, parts.join("\n"));
            line.conversation.clone_from(&self.id);
            line.reference = said.reference;
            line.at.clone_from(&last_time);
            line.speaker = said.speaker;
            Some(line)
        };
        let messages = self.messages.into_iter();
        messages
            .filter_map(|said| said.map(&mut line).transpose())
            .collect()
    }
}

/// A field that is a text.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// The ids from the root to `leaf`, and how many other branches there are. Editing a message or
/// asking again makes a branch; an export holds them all.
pub(super) fn branch<'a>(
    parents: &BTreeMap<&'a str, Option<&'a str>>,
    leaf: &'a str,
) -> (Vec<&'a str>, u64) {
    let mut path = Vec::new();
    let mut seen = BTreeSet::new();
    let mut next = Some(leaf);
    // A parent that is not there, or was met before, ends the way.
    while let Some(id) = next.filter(|id| parents.contains_key(id) && seen.insert(*id)) {
        path.push(id);
        next = parents.get(id).copied().flatten();
    }
    path.reverse();
    let inner: BTreeSet<&str> = parents.values().copied().flatten().collect();
    let is_other_leaf = |id: &&&str| !inner.contains(**id) && **id != leaf;
    let others = parents.keys().filter(is_other_leaf).count();
    (path, u64::try_from(others).unwrap_or(u64::MAX))
}
