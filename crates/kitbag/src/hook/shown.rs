//! What hooks have added to a session, as its transcript tells.
//!
//! An agent records what a hook added, each agent in its own way, but all as text in a line of JSON. So a
//! line that holds a block is found by its tag, whatever else it is, and the names of its items are read.

use std::collections::BTreeSet;
use std::io::{self, BufRead};

use kitbag_store::MessageId;
use memchr::memmem;
use serde_json::Value;

use super::block::{TAG, item_names};

/// The names of the items that a session holds.
#[derive(Debug, Clone, Default)]
pub(super) struct Shown(BTreeSet<String>);

impl Shown {
    /// Reads a transcript. Lines that are no JSON say nothing.
    pub(super) fn read(mut transcript: impl BufRead) -> io::Result<Self> {
        let tag = memmem::Finder::new(TAG);
        let shortened = ["compact_boundary", "compacted"].map(memmem::Finder::new);
        let mut shown = Self::default();
        let mut line = Vec::new();
        while transcript.read_until(b'\n', &mut line)? > 0 {
            let holds_block = tag.find(&line).is_some();
            if holds_block || shortened.iter().any(|mark| mark.find(&line).is_some()) {
                shown.take(&line);
            }
            line.clear();
        }
        Ok(shown)
    }

    fn take(&mut self, line: &[u8]) {
        let Ok(line) = serde_json::from_slice::<Value>(line) else {
            return;
        };
        let is = |field: &str, value: &str| line.get(field).is_some_and(|it| it == value);
        // What stood before this is no longer in the context.
        if is("subtype", "compact_boundary") || is("type", "compacted") {
            self.0.clear();
        }
        self.collect(&line);
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                let names = item_names(text).into_iter();
                self.0.extend(names.map(str::to_owned));
            }
            Value::Array(values) => values.iter().for_each(|value| self.collect(value)),
            Value::Object(fields) => fields.values().for_each(|value| self.collect(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// The messages among them.
    pub(super) fn messages(&self) -> Vec<MessageId> {
        self.0.iter().filter_map(|name| name.parse().ok()).collect()
    }
}
