//! Requests made of a [`Context`], in every dialect: one call without memory or a budget.

use kitbag_core::assembly::{AssemblySettings, Draft, render};
use kitbag_core::context::{Context, McpServer};
use kitbag_core::tokens::Tokens;

use super::{Dialect, Laid, Request};
use crate::tokens::ModelProfile;

/// The field with the servers to start. No API has it: it is for providers that run programs.
const SERVERS: &str = "mcp_servers";

impl Request {
    /// The request of a context: its messages as messages, or as one text in the flat dialect. Its MCP
    /// servers come along in every dialect.
    ///
    /// ```
    /// use kitbag::core::context::Context;
    /// use kitbag::wire::{Dialect, Request};
    ///
    /// let mut context = Context::new("Where?");
    /// context.system_prompt = "Answer in one word.".into();
    /// let request = Request::of_context(&context, Dialect::OpenAi);
    /// assert_eq!(
    ///     request.body(),
    ///     r#"{"messages":[{"role":"system","content":"Answer in one word."},{"role":"user","content":"Where?"}]}"#
    /// );
    /// ```
    #[must_use]
    pub fn of_context(context: &Context, dialect: Dialect) -> Self {
        let mut draft = Draft::from(context);
        // A context is sent whole: nothing is chosen, and no budget limits it.
        let settings = AssemblySettings::new(dialect.form(), Tokens(u32::MAX));
        let rendered = render(&draft, &[], &settings);
        let flat = context.to_prompt_string();
        if dialect == Dialect::Anthropic {
            // No text has more tokens than bytes, and nobody counts here.
            let longest = Tokens(u32::try_from(flat.len()).unwrap_or(u32::MAX));
            let model = draft.model.as_deref().map(ModelProfile::find);
            let model = model.and_then(Result::ok);
            draft.max_output = Some(ModelProfile::default_answer(model, longest));
        }
        let laid = Laid {
            form: settings.form,
            draft: &draft,
            blocks: &rendered.blocks,
            breakpoints: &[],
            text: &flat,
            problems: &[],
        };
        let mut request = laid.request_in(dialect);
        request.set_mcp_servers(&context.mcp_servers);
        request
    }

    /// Sets the MCP servers to start for the request.
    pub(crate) fn set_mcp_servers(&mut self, servers: &[McpServer]) {
        self.set_list(SERVERS, servers);
    }

    /// The MCP servers to start for the request.
    #[must_use]
    pub fn mcp_servers(&self) -> Vec<McpServer> {
        let servers = self.fields.get(SERVERS);
        // A client's own field of this name holds addresses, which are for its provider.
        servers
            .and_then(|servers| servers.parse_as().ok())
            .unwrap_or_default()
    }
}
