//! The tool that reads what a prompt only mentions: a file or a part of it, or a remembered message.

use kitbag_core::tokens::TokenCounter as _;
use kitbag_store::{MessageId, ResultId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolScope;
use crate::gather::blocking;
use crate::pack::expand::{self, expand};
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

#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// The text; secrets in files are replaced
    text: String,
    /// Whether it was too long and is cut
    is_cut: bool,
    /// The handle of the rest, where there is one
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
        lines, a definition in it, a remembered message by its id, or the whole of a result that was cut.";

    async fn call(&self, asked: Arguments) -> Result<Output, ToolError> {
        let handle = asked.handle;
        if let Ok(id) = handle.parse::<MessageId>() {
            return self.message(id).await;
        }
        let (name, lines) = handle.rsplit_once(':').unwrap_or((&handle, ""));
        if let Ok(id) = name.parse::<ResultId>() {
            return self.result(id, lines, &handle).await;
        }
        let (root, read) = (self.0.root.clone(), handle.clone());
        let text = blocking(move || Ok(expand(&root, &read)));
        let text = text.await.map_err(ToolError::new)?;
        let text = text.map_err(|error| ToolError::new(&error).hint(error.hint()))?;
        Ok(self.bounded(&handle, text))
    }

    fn text(output: &Output) -> String {
        match (&output.rest, output.is_cut) {
            (Some(rest), _) => format!("{}\n(cut here; `{rest}` is the rest)\n", output.text),
            (None, true) => format!("{}\n(cut here: it is too long)\n", output.text),
            (None, false) => output.text.clone(),
        }
    }
}

impl ExpandTool {
    async fn message(&self, id: MessageId) -> Result<Output, ToolError> {
        let unknown = || ToolError::new(format_args!("there is no message `{id}`"));
        if !self.0.is_own(id.conversation()).await? {
            return Err(unknown());
        }
        let stored = self.0.memory()?.message(id).await?;
        // What is for the model alone is no person's to read.
        if !stored.message.is_for_user() {
            return Err(unknown());
        }
        Ok(self.bounded("", stored.text().into_owned()))
    }

    async fn result(&self, id: ResultId, lines: &str, handle: &str) -> Result<Output, ToolError> {
        let unknown = || ToolError::new(format_args!("there is no result `{id}`"));
        if !self.0.is_own(id.conversation()).await? {
            return Err(unknown());
        }
        let text = self.0.memory()?.result(id).await?.ok_or_else(unknown)?;
        let text = match range(lines) {
            Some((first, last)) => expand::lines(&text, first, last),
            None if lines.is_empty() => text,
            None => {
                let problem = format_args!("`{lines}` is not a range of lines");
                return Err(ToolError::new(problem).hint(Some("write `:10-80` or `:10-`")));
            }
        };
        Ok(self.bounded(handle, text))
    }

    /// Cuts a long text at a line, and tells the handle of the rest where lines can be asked for. A line that
    /// is too long by itself is cut inside.
    fn bounded(&self, handle: &str, text: String) -> Output {
        let counter = &self.0.counter;
        if counter.count(&text).0 <= TOKENS {
            return Output {
                text,
                is_cut: false,
                rest: None,
            };
        }
        let mut used = 0;
        let mut kept = 0;
        let lines = text.split_inclusive('\n').take_while(|line| {
            used += counter.count(line).0;
            let fits = used <= TOKENS;
            kept += usize::from(fits);
            fits
        });
        let mut shown: String = lines.collect();
        if shown.is_empty() {
            // No vocabulary makes more tokens than characters.
            shown = text.chars().take(TOKENS as usize).collect();
            kept = 1;
        }
        Output {
            text: shown,
            is_cut: true,
            rest: rest(handle, kept),
        }
    }
}

/// The first and the last of some lines, as `10-80`, `10-` or `10`.
fn range(lines: &str) -> Option<(usize, usize)> {
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let first = first.parse().ok()?;
    let last = match last {
        "" => usize::MAX,
        last => last.parse().ok()?,
    };
    (first <= last).then_some((first, last))
}

/// The handle of the lines behind the first `kept` of a handle's; none where lines cannot be asked for.
fn rest(handle: &str, kept: usize) -> Option<String> {
    if handle.is_empty() || handle.contains('#') {
        return None;
    }
    let lines = handle.rsplit_once(':').and_then(|(path, lines)| {
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        Some((path, first.parse::<usize>().ok()?, last))
    });
    let (path, first, last) = lines.unwrap_or((handle, 1, ""));
    let next = first.saturating_add(kept);
    match last.parse::<usize>() {
        Ok(last) if next > last => None,
        _ => Some(format!("{path}:{next}-{last}")),
    }
}
