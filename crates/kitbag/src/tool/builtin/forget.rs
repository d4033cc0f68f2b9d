//! The tool that forgets, after it has listed what would go.

use kitbag_store::{ExportFilter, Forget, MessageFilter, MessageId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolScope;
use crate::command::{ForgetPreview, forgotten};
use crate::tool::{Effect, Tool, ToolError};

pub(super) struct ForgetTool(pub(super) ToolScope);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The id of a message, such as 7.12#3
    message: Option<String>,
    /// The key of a fact, which goes with all values that it has had
    fact: Option<String>,
    /// Words that messages have, all of them
    matching: Option<String>,
    /// Forgets for good. Without it, what would go is listed and nothing changes
    #[serde(default)]
    confirm: bool,
}

/// What is gone, or would go.
#[derive(Serialize, JsonSchema)]
pub(super) struct Output {
    /// Whether it is gone
    is_done: bool,
    /// What it is, in words
    told: String,
}

/// So many messages are listed of those that would go.
const LISTED: u32 = 20;

impl Tool for ForgetTool {
    type Arguments = Arguments;
    type Output = Output;
    const NAME: &'static str = "forget";
    const DESCRIPTION: &'static str = "Forgets a message, a fact, or the messages that have some words, for good and \
        with all that was made of them. Call it without `confirm` first, show the user what would go, and \
        confirm only what the user agrees to.";
    const EFFECT: Effect = Effect::Destroys;

    async fn call(&self, asked: Arguments) -> Result<Output, ToolError> {
        let what = self.what(&asked).await?;
        let store = self.0.memory()?;
        if asked.confirm {
            let gone = store.forget(what).await?;
            return Ok(Output {
                is_done: true,
                told: forgotten(&gone),
            });
        }
        let preview = ForgetPreview::of(store, &what, LISTED).await?;
        Ok(Output {
            is_done: false,
            told: preview.text("would forget"),
        })
    }

    fn text(output: &Output) -> String {
        output.told.clone()
    }
}

impl ForgetTool {
    async fn what(&self, asked: &Arguments) -> Result<Forget, ToolError> {
        let wrong = |problem: String| Err(ToolError::arguments(Self::NAME, problem));
        let sender = self.0.sender.clone();
        match (&asked.message, &asked.fact, &asked.matching) {
            (Some(id), None, None) => match id.parse::<MessageId>() {
                Ok(id) if self.0.is_own(id.conversation()).await? => Ok(Forget::Message(id)),
                _ => wrong(format!("there is no message `{id}`")),
            },
            (None, Some(key), None) => Ok(Forget::Fact {
                sender,
                key: key.clone(),
            }),
            (None, None, Some(words)) => {
                let filter = MessageFilter::default().with_words(words);
                if filter.words.is_empty() {
                    return wrong("`matching` has no words".to_owned());
                }
                let own = ExportFilter::new(Some(sender), None);
                Ok(Forget::Messages(own.among(filter)))
            }
            _ => wrong("give one of `message`, `fact` and `matching`".to_owned()),
        }
    }
}
