//! The tool that reads what a prompt only mentions: a file or a part of it, or a remembered message.

use kitbag_store::{MessageId, ResultId};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ToolScope;
use crate::gather::blocking;
use crate::pack::expand::expand;
use crate::tool::part::{TextPart, lines};
use crate::tool::results::{result, split};
use crate::tool::{Tool, ToolError};

pub(super) struct ExpandTool(pub(super) ToolScope);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A path as a prompt shows it, alone or with lines or a name (`src/auth.rs`, `src/auth.rs:10-80`,
    /// `src/auth.rs#login`), the id of a remembered message (`7.12#3`), or the handle of a result that was cut
    /// (`7.12.3/1`), alone or with lines (`7.12.3/1:10-80`)
    handle: String,
}

impl Tool for ExpandTool {
    type Arguments = Arguments;
    type Output = TextPart;
    const NAME: &'static str = "expand";
    const DESCRIPTION: &'static str = "Reads what a prompt only mentions: a file of this project, some of its \
        lines, a definition in it, a remembered message by its id, or the whole of a result that was cut.";

    async fn call(&self, asked: Arguments) -> Result<TextPart, ToolError> {
        let handle = asked.handle;
        if let Ok(id) = handle.parse::<MessageId>() {
            return self.message(id).await;
        }
        let (name, named) = split(&handle);
        if let Ok(id) = name.parse::<ResultId>() {
            let text = result(self.0.memory()?, &self.0.sender, id).await?;
            return Ok(TextPart::of(lines(text, named)?, &handle, &self.0.counter));
        }
        let (root, read) = (self.0.root.clone(), handle.clone());
        let text = blocking(move || Ok(expand(&root, &read)));
        let text = text.await.map_err(ToolError::new)?;
        let text = text.map_err(|error| ToolError::new(&error).hint(error.hint()))?;
        Ok(TextPart::of(text, &handle, &self.0.counter))
    }

    fn text(output: &TextPart) -> String {
        output.shown()
    }
}

impl ExpandTool {
    async fn message(&self, id: MessageId) -> Result<TextPart, ToolError> {
        let unknown = || ToolError::new(format_args!("there is no message `{id}`"));
        if !self.0.is_own(id.conversation()).await? {
            return Err(unknown());
        }
        let stored = self.0.memory()?.message(id).await?;
        // What is for the model alone is no person's to read.
        if !stored.message.is_for_user() {
            return Err(unknown());
        }
        let text = stored.text().into_owned();
        Ok(TextPart::of(text, "", &self.0.counter))
    }
}
