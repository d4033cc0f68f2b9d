//! The tool that reads what a prompt only mentions: a file or a part of it, or a remembered message.

use kitbag_core::tokens::TokenCounter as _;
use kitbag_store::MessageId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolScope;
use crate::gather::blocking;
use crate::pack::expand::expand;
use crate::tool::{Tool, ToolError};

pub(super) struct ExpandTool(pub(super) ToolScope);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// A path as a prompt shows it, alone or with lines or a name (`src/auth.rs`, `src/auth.rs:10-80`,
    /// `src/auth.rs#login`), or the id of a remembered message (`7.12#3`)
    handle: String,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The text; secrets are replaced
    text: String,
    /// The handle of the rest, where the text was too long
    #[serde(skip_serializing_if = "Option::is_none")]
    rest: Option<String>,
}

/// The most tokens of a text at a time.
const TOKENS: u32 = 20_000;

impl Tool for ExpandTool {
    type Arguments = Arguments;
    type Output = Output;
    const NAME: &'static str = "expand";
    const DESCRIPTION: &'static str = "Reads what a prompt only mentions: a file of this project, some of its \
        lines, a definition in it, or a remembered message by its id.";

    async fn call(&self, asked: Arguments) -> Result<Output, ToolError> {
        let handle = asked.handle;
        if let Ok(id) = handle.parse::<MessageId>() {
            return self.message(id).await;
        }
        let (root, read) = (self.0.root.clone(), handle.clone());
        let text = blocking(move || Ok(expand(&root, &read)));
        let text = text.await.map_err(ToolError::new)?;
        let text = text.map_err(|error| ToolError::new(&error).hint(error.hint()))?;
        Ok(self.bounded(&handle, text))
    }

    fn text(output: &Output) -> String {
        match &output.rest {
            Some(rest) => format!("{}\n(cut here; `{rest}` is the rest)\n", output.text),
            None => output.text.clone(),
        }
    }
}

impl ExpandTool {
    async fn message(&self, id: MessageId) -> Result<Output, ToolError> {
        let unknown = || ToolError::new(format_args!("there is no message `{id}`"));
        if !self.0.is_own(id).await? {
            return Err(unknown());
        }
        let stored = self.0.memory()?.message(id).await?;
        // What is for the model alone is no person's to read.
        if !stored.message.is_for_user() {
            return Err(unknown());
        }
        Ok(self.bounded("", stored.text().into_owned()))
    }

    /// Cuts a long text at a line, and tells the handle of the rest where lines can be asked for.
    fn bounded(&self, handle: &str, text: String) -> Output {
        let counter = &self.0.counter;
        if counter.count(&text).0 <= TOKENS {
            return Output { text, rest: None };
        }
        let mut used = 0;
        let mut kept = 0;
        let lines = text.split_inclusive('\n').take_while(|line| {
            used += counter.count(line).0;
            let fits = used <= TOKENS;
            kept += usize::from(fits);
            fits
        });
        let text: String = lines.collect();
        let (path, part) = split(handle);
        let rest = part.map(|first| format!("{path}:{}-", first + kept));
        Output { text, rest }
    }
}

/// The path of a handle and the line that its text begins with; none where that is not known.
fn split(handle: &str) -> (&str, Option<usize>) {
    if handle.is_empty() || handle.contains('#') {
        return (handle, None);
    }
    match handle.rsplit_once(':') {
        Some((path, lines)) => {
            let first = lines.split('-').next().and_then(|first| first.parse().ok());
            match first {
                Some(first) => (path, Some(first)),
                None => (handle, Some(1)),
            }
        }
        None => (handle, Some(1)),
    }
}
