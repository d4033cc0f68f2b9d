//! Calls of tools and their results.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::content::ContentBlock;
use crate::message::Message;
use crate::neutral::one_line;

/// The most characters of a call's arguments that are kept.
const ARGUMENTS: usize = 200;

/// A call of a tool that has no result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OpenCall {
    /// The id that a result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments, or their beginning.
    pub arguments: String,
}

impl OpenCall {
    fn new(id: &str, name: &str, arguments: &str) -> Self {
        Self {
            id: id.to_string(),
            name: name.to_string(),
            arguments: arguments.chars().take(ARGUMENTS).collect(),
        }
    }

    /// Returns the call's line for the prompt.
    pub(super) fn line(&self) -> String {
        let call = format!("{} {}", self.name, self.arguments);
        format!("\nCalled, without a result so far: {}", one_line(&call))
    }
}

/// Returns the calls of a message.
pub(super) fn calls(message: &Message) -> Vec<OpenCall> {
    let listed = message.calls().iter();
    let listed = listed.map(|call| OpenCall::new(&call.id, &call.name, call.arguments.as_str()));
    let blocks = message.content.blocks().iter();
    let blocks = blocks.filter_map(|block| match block {
        ContentBlock::ToolUse { id, name, raw } => Some(OpenCall::new(id, name, raw.as_str())),
        _ => None,
    });
    let mut calls: Vec<OpenCall> = listed.collect();
    // A client may send the same call as a field and as a block.
    for call in blocks {
        if !calls.iter().any(|known| known.id == call.id) {
            calls.push(call);
        }
    }
    calls
}

/// Returns the ids of the calls that messages hold results of.
pub(super) fn results<'m>(messages: impl Iterator<Item = &'m Message>) -> BTreeSet<&'m str> {
    let ids = messages.flat_map(|message| {
        let blocks = message.content.blocks().iter();
        let blocks = blocks.filter_map(|block| match block {
            ContentBlock::ToolResult { tool_use_id, .. } => Some(tool_use_id.as_str()),
            _ => None,
        });
        blocks.chain(message.tool_call_id.as_deref())
    });
    ids.collect()
}
