//! A message of a conversation: role, content, tool calls, visibility, metadata.
//!
//! The JSON has no field for what is absent. Unknown fields are kept.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::content::{Content, ContentBlock, RawJson};
use crate::role::{Role, Visibility};

/// One message.
///
/// ```
/// use kitbag_core::message::Message;
/// use kitbag_core::role::Role;
///
/// let message = Message::new(Role::User, "where is the login?");
/// assert_eq!(
///     serde_json::to_string(&message).unwrap(),
///     r#"{"role":"user","content":"where is the login?"}"#,
/// );
///
/// let call = serde_json::from_str(r#"{"id":"c1","name":"search","arguments":{"q":"login"}}"#)?;
/// let answer = Message::assistant("").with_name("Kit").with_tool_calls(vec![call]);
/// assert_eq!(answer.calls()[0].name, "search");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// The id, given by whoever stores the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The speaker.
    pub role: Role,
    #[serde(default)]
    pub content: Content,
    /// The tools that an assistant message calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Vec<ToolCall>>,
    /// The call that a tool message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Readers besides the model.
    #[serde(default, skip_serializing_if = "Visibility::is_all")]
    pub visibility: Visibility,
    /// The origin of the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<MessageMetadata>,
    /// The speaker's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Message {
    /// Creates a visible message with nothing but a role and content.
    #[must_use]
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Self {
            id: None,
            role,
            content: content.into(),
            tool_calls: None,
            tool_call_id: None,
            visibility: Visibility::All,
            metadata: None,
            name: None,
            extra: Map::new(),
        }
    }

    /// Creates a message by the user.
    #[must_use]
    pub fn user(content: impl Into<Content>) -> Self {
        Self::new(Role::User, content)
    }

    /// Creates a message by the model.
    #[must_use]
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// Creates the result of the tool call `tool_call_id`.
    #[must_use]
    pub fn tool(tool_call_id: impl Into<String>, content: impl Into<Content>) -> Self {
        Self {
            tool_call_id: Some(tool_call_id.into()),
            ..Self::new(Role::Tool, content)
        }
    }

    /// Sets the tool calls.
    #[must_use]
    pub fn with_tool_calls(mut self, calls: Vec<ToolCall>) -> Self {
        self.tool_calls = Some(calls);
        self
    }

    /// Sets the speaker's name.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the readers besides the model.
    #[must_use]
    pub fn with_visibility(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// Tells whether the user may see it. The model sees every message.
    #[must_use]
    pub fn is_for_user(&self) -> bool {
        self.visibility.is_all()
    }

    /// Tells whether it holds the result of a tool call, which nothing may separate from the call.
    pub(crate) fn answers_a_call(&self) -> bool {
        let is_result = |block: &ContentBlock| matches!(block, ContentBlock::ToolResult { .. });
        // Anthropic's API sends results as blocks of a user's message.
        self.role == Role::Tool || self.content.blocks().iter().any(is_result)
    }

    /// Returns the tool calls.
    #[must_use]
    pub fn calls(&self) -> &[ToolCall] {
        // No list and an empty list mean the same, but are different bytes, so both are kept.
        self.tool_calls.as_deref().unwrap_or_default()
    }

    /// Remembers how many blocks the model wrote before each of its calls, unless all calls come last anyway.
    /// Some providers refuse reasoning that no longer stands before the call that it led to.
    #[must_use]
    pub fn with_calls_after(mut self, blocks: &[usize]) -> Self {
        let all = self.content.blocks().len();
        if blocks.iter().any(|before| *before < all) {
            let metadata = self.metadata.get_or_insert_default();
            let value = Value::from(blocks.to_vec());
            metadata.extra.insert(CALLS_AFTER.into(), value);
        }
        self
    }

    /// Returns the blocks and the calls in the order in which the model wrote them; calls come last where
    /// that is not known.
    #[must_use]
    pub fn pieces(&self) -> Vec<MessagePiece<'_>> {
        let calls = self.calls();
        let metadata = self.metadata.as_ref();
        let known = metadata.and_then(|metadata| metadata.extra.get(CALLS_AFTER));
        let known: Vec<usize> = known
            .and_then(|known| serde_json::from_value(known.clone()).ok())
            .filter(|known: &Vec<usize>| known.len() == calls.len())
            .unwrap_or_default();
        let mut calls = calls.iter().enumerate().peekable();
        let mut pieces = Vec::new();
        for (place, block) in self.content.to_blocks().into_iter().enumerate() {
            let is_before = |&(number, _): &(usize, &ToolCall)| {
                known.get(number).is_some_and(|before| *before <= place)
            };
            while let Some((_, call)) = calls.next_if(is_before) {
                pieces.push(MessagePiece::Call(call));
            }
            pieces.push(MessagePiece::Block(block));
        }
        pieces.extend(calls.map(|(_, call)| MessagePiece::Call(call)));
        pieces
    }
}

/// The field of the metadata that holds the number of blocks before each call.
const CALLS_AFTER: &str = "calls_after";

/// A piece of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum MessagePiece<'a> {
    /// A block of its content.
    Block(ContentBlock),
    /// A call.
    Call(&'a ToolCall),
}

/// A call of a tool by the model. Chat clients nest name and arguments in `function`, which is
/// read as well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ToolCallJson")]
pub struct ToolCall {
    /// The id that the result refers to.
    pub id: String,
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: RawJson,
}

/// A call in either of its two spellings.
#[derive(Deserialize)]
struct ToolCallJson {
    id: String,
    name: Option<String>,
    #[serde(default)]
    arguments: RawJson,
    function: Option<FunctionJson>,
}

#[derive(Deserialize)]
struct FunctionJson {
    name: String,
    #[serde(default)]
    arguments: RawJson,
}

impl TryFrom<ToolCallJson> for ToolCall {
    type Error = ToolCallError;

    fn try_from(json: ToolCallJson) -> Result<Self, ToolCallError> {
        let (id, arguments) = (json.id, json.arguments);
        // The nested spelling wins: clients that send both put the call there.
        let plain = json.name.map(|name| FunctionJson { name, arguments });
        match json.function.or(plain) {
            Some(FunctionJson { name, arguments }) => Ok(Self {
                id,
                name,
                arguments,
            }),
            None => Err(ToolCallError { id }),
        }
    }
}

/// A tool call that names no tool.
#[derive(Debug, thiserror::Error)]
#[error("the tool call `{id}` has neither `name` nor `function`")]
struct ToolCallError {
    id: String,
}

/// The origin of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageMetadata {
    /// The run that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The step of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_index: Option<u32>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t05_json_round_trip_keeps_every_field() {
        let json = concat!(
            r#"{"id":"m1","role":"assistant","content":null,"#,
            r#""tool_calls":[{"id":"c1","name":"read","arguments":{"path":"a","n":1.0}}],"#,
            r#""visibility":"internal","metadata":{"run_id":"r","step_index":2},"name":"ann"}"#,
        );
        let message: Message = serde_json::from_str(json).unwrap();
        assert_eq!(
            message.calls()[0].arguments.as_str(),
            r#"{"path":"a","n":1.0}"#
        );
        assert_eq!(serde_json::to_string(&message).unwrap(), json);
    }

    #[test]
    fn x06_messages_of_chat_clients_load() {
        let json = r#"{"role":"assistant","tool_calls":[
            {"id":"c1","type":"function","function":{"name":"read","arguments":"{\"a\":1}"}}]}"#;
        let message: Message = serde_json::from_str(json).unwrap();
        assert_eq!(message.content, Content::Null);
        assert_eq!(message.calls()[0].name, "read");
        assert_eq!(message.calls()[0].arguments.as_str(), r#""{\"a\":1}""#);
        let developer = r#"{"role":"developer","content":"be brief"}"#;
        assert_eq!(
            serde_json::from_str::<Message>(developer).unwrap().role,
            Role::System
        );
        let nameless = r#"{"role":"assistant","tool_calls":[{"id":"c9"}]}"#;
        let error = serde_json::from_str::<Message>(nameless).unwrap_err();
        assert!(error.to_string().contains("c9"), "{error}");
    }

    #[test]
    fn t05_role_is_strict() {
        let error =
            serde_json::from_str::<Message>(r#"{"role":"robot","content":"x"}"#).unwrap_err();
        assert!(error.to_string().contains("robot"), "{error}");
    }

    #[test]
    fn t05_visibility_defaults_to_all_and_is_left_out() {
        let message: Message = serde_json::from_str(r#"{"role":"user","content":"x"}"#).unwrap();
        assert_eq!(message.visibility, Visibility::All);
        assert!(
            !serde_json::to_string(&message)
                .unwrap()
                .contains("visibility")
        );
    }
}
