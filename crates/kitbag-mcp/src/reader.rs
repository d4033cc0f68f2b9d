//! The part of a result that a client shows to its model.

use http::header::USER_AGENT;
use http::request::Parts;
use rmcp::service::{RequestContext, RoleServer};

/// The part of a result that the model behind a client reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// The client shows the structured result wherever there is one. A prompt would arrive as escaped JSON, behind lists
    /// for programs, and with more tokens than its budget: such a client gets the text alone.
    OfText,
    /// Another client shows either. Both hold the whole result, since nobody knows which one it is.
    OfEither,
}

/// The names by which clients of text introduce themselves: Claude Code and Codex.
const OF_TEXT: [&str; 2] = ["claude-code", "codex-mcp-client"];

impl Reader {
    /// The reader of this request's answer.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let is_of_text = |name: &str| OF_TEXT.contains(&name);
        // The newer era introduces the client with each request, the older one at the beginning. Over HTTP nothing is
        // kept of that beginning, and the client is known by its header.
        let by_request = context.meta.client_info();
        let by_request = by_request.is_some_and(|client| is_of_text(&client.name));
        let by_session = context.peer.peer_info();
        let by_session = by_session.is_some_and(|info| is_of_text(&info.client_info.name));
        let by_header = context.extensions.get::<Parts>().is_some_and(|parts| {
            let agent = parts.headers.get(USER_AGENT);
            let agent = agent.and_then(|agent| agent.to_str().ok());
            let name = agent.and_then(|agent| agent.split(['/', ' ']).next());
            name.is_some_and(is_of_text)
        });
        match by_request || by_session || by_header {
            true => Self::OfText,
            false => Self::OfEither,
        }
    }
}
