//! What hooks have added to a session, as its transcript tells.
//!
//! Claude Code records what a hook added as an attachment, Codex as a message of the developer. A block
//! elsewhere, such as in the result of a tool, was added by nobody, and says nothing.

use std::collections::BTreeSet;
use std::io::{self, BufRead};

use kitbag_store::MessageId;
use memchr::memmem;
use serde_json::Value;

use super::block::{TAG, item_names};

/// The names of the items that a session holds.
#[derive(Debug, Clone, Default)]
pub(super) struct ShownItems(BTreeSet<String>);

impl ShownItems {
    /// The items of the blocks in some texts.
    pub(super) fn of(texts: &[&str]) -> Self {
        let names = texts.iter().flat_map(|text| item_names(text));
        Self(names.map(str::to_owned).collect())
    }

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
        let kind = line.get("type").and_then(Value::as_str);
        let is_boundary = line
            .get("subtype")
            .is_some_and(|it| it == "compact_boundary");
        match kind {
            // What stood before this is no longer in the context.
            Some("system") if is_boundary => self.0.clear(),
            Some("compacted") => {
                self.0.clear();
                let kept = line.pointer("/payload/replacement_history");
                let kept = kept.and_then(Value::as_array).into_iter().flatten();
                kept.for_each(|message| self.take_message(message));
            }
            Some("attachment") => {
                let attached = line.get("attachment");
                let kind = attached.and_then(|it| it.get("type")?.as_str());
                if kind.is_some_and(|kind| kind.starts_with("hook_")) {
                    attached.into_iter().for_each(|it| self.collect(it));
                }
            }
            Some("response_item") => {
                let message = line.get("payload");
                message.into_iter().for_each(|it| self.take_message(it));
            }
            _ => {}
        }
    }

    /// Takes a message of Codex's.
    fn take_message(&mut self, message: &Value) {
        if message.get("role").is_some_and(|role| role == "developer") {
            self.collect(message);
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(lines: &[Value]) -> Vec<String> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let shown = ShownItems::read(text.as_bytes()).unwrap();
        shown.0.into_iter().collect()
    }

    fn block(name: &str) -> String {
        format!("<kitbag-memory>\n- [{name}] 2026-11-16, user: x\n</kitbag-memory>")
    }

    fn developer(name: &str) -> Value {
        let content = json!([{"type": "input_text", "text": block(name)}]);
        json!({"type": "message", "role": "developer", "content": content})
    }

    #[test]
    fn x11_only_what_hooks_added_is_shown() {
        let lines = [
            json!({"type": "attachment", "attachment":
                {"type": "hook_additional_context", "content": [block("1.1#1")]}}),
            json!({"type": "attachment", "attachment": {"type": "file", "content": block("1.1#2")}}),
            json!({"type": "user", "message": {"role": "user", "content":
                [{"type": "tool_result", "content": block("1.1#3")}]}}),
            json!({"type": "response_item", "payload": developer("1.1#4")}),
            json!({"type": "response_item", "payload":
                {"type": "function_call_output", "output": block("1.1#5")}}),
        ];
        assert_eq!(shown(&lines), ["1.1#1", "1.1#4"]);
    }

    #[test]
    fn x11_what_a_shortened_session_keeps_is_shown() {
        let lines = [
            json!({"type": "response_item", "payload": developer("1.1#1")}),
            json!({"type": "response_item", "payload": developer("1.1#2")}),
            json!({"type": "compacted", "payload":
                {"message": "", "replacement_history": [developer("1.1#2")]}}),
        ];
        assert_eq!(shown(&lines), ["1.1#2"]);
        let boundary = json!({"type": "system", "subtype": "compact_boundary"});
        assert!(shown(&[&lines[..], &[boundary]].concat()).is_empty());
    }
}
