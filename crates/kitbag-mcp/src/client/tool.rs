//! A tool of a server as a tool of the engine.

use std::sync::Arc;

use kitbag::core::envelope::ToolDefinition;
use kitbag::tool::{AnyTool, Effect, ToolCall, ToolError, ToolOutput, ToolSpec};
use rmcp::model::{CallToolResult, Tool};
use serde_json::Value;

use super::session::Session;

pub(super) struct McpTool {
    /// The name on the server.
    remote: String,
    spec: ToolSpec,
    server: Arc<Session>,
}

/// The most characters of a description: it takes room in every prompt.
const LONGEST_DESCRIPTION: usize = 2_000;

impl McpTool {
    pub(super) fn new(server: &str, tool: Tool, session: Arc<Session>) -> Self {
        // The names of Claude Code, which users and models know. With the server in it no tool hides another.
        let name = format!("mcp__{}__{}", plain(server), plain(&tool.name));
        let description = tool.description.as_deref().unwrap_or_default();
        let description: String = description.chars().take(LONGEST_DESCRIPTION).collect();
        let schema = Value::Object(tool.input_schema.as_ref().clone());
        let output = tool.output_schema.as_deref();
        Self {
            spec: ToolSpec::new(
                ToolDefinition::new(name, description, schema),
                effect(&tool),
            )
            .with_output_schema(output.map(|schema| Value::Object(schema.clone()))),
            remote: tool.name.into_owned(),
            server: session,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.spec.definition.name
    }
}

impl AnyTool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call(&self, arguments: Value) -> ToolCall<'_> {
        Box::pin(async move {
            let arguments = match arguments {
                Value::Object(fields) => fields,
                // A model may leave out the arguments of a tool that needs none.
                _ => serde_json::Map::new(),
            };
            let result = self.server.call(&self.remote, arguments).await;
            let result = result.map_err(ToolError::new)?;
            let text = text(&result);
            match result.is_error {
                Some(true) => Err(ToolError::new(text)),
                _ => {
                    let structured = result.structured_content.unwrap_or_default();
                    Ok(ToolOutput::new(text, structured))
                }
            }
        })
    }
}

/// A name with only the characters that all APIs accept.
fn plain(name: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || c == '-' || c == '_' {
        true => c,
        false => '_',
    };
    name.chars().map(plain).collect()
}

/// The effect that a server claims. A claim to only read is believed, because the user has chosen the
/// server. A tool without a claim counts as writing.
fn effect(tool: &Tool) -> Effect {
    let hints = tool.annotations.as_ref();
    let reads = hints.and_then(|hints| hints.read_only_hint);
    let destroys = hints.and_then(|hints| hints.destructive_hint);
    match (reads, destroys) {
        (Some(true), _) => Effect::Reads,
        (_, Some(true)) => Effect::Destroys,
        _ => Effect::Writes,
    }
}

/// The result as text, with pictures and sounds only named.
fn text(result: &CallToolResult) -> String {
    let blocks = result.content.iter().map(|block| {
        let block = match serde_json::to_value(block) {
            Ok(block) => block,
            Err(error) => return format!("[a part of the result that cannot be read: {error}]"),
        };
        let field = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        match field("type") {
            "text" => field("text").to_owned(),
            "resource" => {
                let resource = block.get("resource");
                let held = |name: &str| resource?.get(name)?.as_str();
                let uri = held("uri").unwrap_or_default();
                held("text").map_or_else(|| format!("[resource {uri}]"), str::to_owned)
            }
            "resource_link" => format!("[resource {}]", field("uri")),
            kind => format!("[{kind} {}]", field("mimeType")),
        }
    });
    let text = blocks.collect::<Vec<_>>().join("\n");
    match (&result.structured_content, text.is_empty()) {
        (Some(structured), true) => structured.to_string(),
        _ => text,
    }
}
