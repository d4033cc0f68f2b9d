//! A request that is one text: what a program reads on its stdin.
//!
//! Its text is in [`PROMPT`]; `model` and `mcp_servers` are told to the program in its own way.

use indexmap::IndexMap;
use kitbag_core::context::{Context, McpServer};
use kitbag_core::message::Message;

use super::received::{ReceivedTurn, WireError};
use super::{Dialect, PROMPT, Request};
use crate::engine::{Composed, Contribution};

/// The field with the servers to start.
const SERVERS: &str = "mcp_servers";

impl Request {
    /// The flat request of a context: its text, its model and its MCP servers.
    #[must_use]
    pub fn flat(context: &Context) -> Self {
        let mut request = Self {
            dialect: Dialect::Flat,
            fields: IndexMap::new(),
        };
        if let Some(model) = &context.model {
            request.set("model", model);
        }
        request.set(PROMPT, &context.to_prompt_string());
        request.set_list(SERVERS, &context.mcp_servers);
        request
    }

    /// The MCP servers that a flat request brings along.
    #[must_use]
    pub fn mcp_servers(&self) -> Vec<McpServer> {
        let servers = self.fields.get(SERVERS);
        servers
            .and_then(|servers| servers.parse_as().ok())
            .unwrap_or_default()
    }

    /// The request with the text of a prompt.
    pub(super) fn with_text_of(&self, composed: &Composed) -> Self {
        let mut request = self.clone();
        request.set(PROMPT, &composed.body());
        request
    }
}

/// The turn that a flat request asks for.
pub(super) fn turn(request: &Request) -> Result<ReceivedTurn, WireError> {
    let context = Context::from_prompt_string(&request.body()).map_err(|error| {
        let reason = error.to_string();
        WireError::NotARequest { reason }
    })?;
    let said = context
        .history
        .into_iter()
        .map(|entry| match entry.role.as_str() {
            "user" => Message::user(entry.content),
            _ => Message::assistant(entry.content),
        });
    let mut contribution = Contribution::default();
    contribution.draft.identity = Some(context.system_prompt);
    contribution.draft.history = said.collect();
    Ok(ReceivedTurn {
        contribution,
        current: Message::user(context.current_message),
        model: request.model(),
        max_output: None,
    })
}
