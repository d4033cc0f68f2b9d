//! Results that were cut, read by their handles. Where a turn has tools but none that reads files, this one is offered
//! too, so that every handle can be read.

use std::sync::Arc;

use kitbag_core::tokens::TokenCounter;
use kitbag_store::{ConversationId, ExportFilter, MessageFilter, ResultId, Store};
use schemars::JsonSchema;
use serde::Deserialize;

use super::part::{TextPart, lines};
use super::{Tool, ToolError};

/// The tool that reads results of one sender's turns, and nothing else.
pub(crate) struct ResultTool {
    pub(crate) store: Store,
    pub(crate) sender: String,
    pub(crate) counter: Arc<dyn TokenCounter>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The handle of a result that was cut (`7.12.3/1`), alone or with lines (`7.12.3/1:10-80`)
    handle: String,
}

impl Tool for ResultTool {
    type Arguments = Arguments;
    type Output = TextPart;
    // The name under which a cut result is offered, whichever tool reads it.
    const NAME: &'static str = "expand";
    const DESCRIPTION: &'static str =
        "Reads the whole of a result that was cut, or some of its lines.";

    async fn call(&self, asked: Arguments) -> Result<TextPart, ToolError> {
        let handle = asked.handle;
        let (name, named) = split(&handle);
        let id = name.parse().map_err(|_| {
            ToolError::new(format_args!("`{name}` is not the handle of a result"))
                .hint(Some("the line where a result was cut has its handle"))
        })?;
        let text = result(&self.store, &self.sender, id).await?;
        Ok(TextPart::of(
            lines(text, named)?,
            &handle,
            self.counter.as_ref(),
        ))
    }

    fn text(output: &TextPart) -> String {
        output.shown()
    }
}

/// A handle and the lines behind its colon, if it has any.
pub(super) fn split(handle: &str) -> (&str, &str) {
    handle.rsplit_once(':').unwrap_or((handle, ""))
}

/// The whole of a result, if it belongs to the sender.
pub(super) async fn result(store: &Store, sender: &str, id: ResultId) -> Result<String, ToolError> {
    let unknown = || ToolError::new(format_args!("there is no result `{id}`"));
    if !is_own(store, sender, id.conversation()).await? {
        return Err(unknown());
    }
    store.result(id).await?.ok_or_else(unknown)
}

/// Tells whether a conversation is the sender's, on whatever channel.
pub(super) async fn is_own(
    store: &Store,
    sender: &str,
    id: ConversationId,
) -> Result<bool, ToolError> {
    let conversation = MessageFilter::default().in_conversation(id);
    let own = ExportFilter::new(Some(sender.to_owned()), None).among(conversation);
    Ok(!store.latest_conversations(&own, 1).await?.is_empty())
}
