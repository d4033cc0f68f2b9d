//! An answer, put together from its events.

use kitbag_core::content::{Content, ContentBlock};
use kitbag_core::message::ToolCall;

use super::{ProviderError, ReplyEvent, StopReason, Usage};
#[cfg(feature = "store")]
use crate::wire::text_field;

/// An answer, as much of it as has come.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Reply {
    /// Its words and the blocks that are passed back with them, in their order.
    pub blocks: Vec<ContentBlock>,
    /// The model's reasoning, as far as it is shown to people.
    pub thinking: String,
    pub tool_calls: Vec<ToolCall>,
    /// The number of blocks that came before each call.
    pub(crate) calls_after: Vec<usize>,
    /// The tokens that the provider counted, if it told them.
    pub usage: Option<Usage>,
    /// The reason why the model ended, if it is known.
    pub stop: Option<StopReason>,
    /// True if all of it arrived.
    pub is_whole: bool,
}

impl Reply {
    /// Adds the next event.
    ///
    /// ```
    /// use kitbag::provider::{Reply, ReplyEvent};
    ///
    /// let mut reply = Reply::default();
    /// for piece in ["Good ", "morning."] {
    ///     reply.add(ReplyEvent::Text(piece.into()));
    /// }
    /// assert_eq!(reply.text(), "Good morning.");
    /// assert!(!reply.is_whole);
    /// ```
    pub fn add(&mut self, event: ReplyEvent) {
        match event {
            ReplyEvent::Typing
            | ReplyEvent::Accepted
            | ReplyEvent::Queued
            | ReplyEvent::Called { .. }
            | ReplyEvent::Node { .. } => {}
            ReplyEvent::Text(text) => match self.blocks.last_mut() {
                Some(ContentBlock::Text {
                    text: said,
                    raw: None,
                }) => said.push_str(&text),
                _ => self.blocks.push(ContentBlock::text(text)),
            },
            ReplyEvent::Thinking(text) => self.thinking.push_str(&text),
            ReplyEvent::Block(block) => self.blocks.push(block),
            ReplyEvent::ToolCall(call) => {
                self.calls_after.push(self.blocks.len());
                self.tool_calls.push(call);
            }
            ReplyEvent::Usage(usage) => self.usage = Some(usage),
            ReplyEvent::Stop(stop) => self.stop = Some(stop),
            ReplyEvent::Done => self.is_whole = true,
        }
    }

    /// Whether it is the whole answer, as an error where it is not.
    pub(crate) fn check_whole(&self) -> Result<(), ProviderError> {
        match self.is_whole {
            true => Ok(()),
            false => Err(ProviderError::Cut {
                problem: "the stream ended before the answer did".to_owned(),
            }),
        }
    }

    /// Tells if there is anything to keep: words, or a block that is neither words nor reasoning. Reasoning
    /// alone is no message, and an API refuses one that ends with it.
    #[cfg(feature = "store")]
    pub(crate) fn says_something(&self) -> bool {
        self.blocks.iter().any(|block| match block {
            ContentBlock::Text { text, .. } => !text.trim().is_empty(),
            ContentBlock::Thinking(_) => false,
            // The Responses API calls its reasoning so.
            ContentBlock::Opaque(raw) => text_field(raw, "type").as_deref() != Some("reasoning"),
            _ => true,
        })
    }

    /// The reason why a whole answer is of no use, if it neither says anything nor calls a tool.
    #[cfg(feature = "store")]
    pub(crate) fn check_useful(&self) -> Result<(), ProviderError> {
        if !self.is_whole || self.says_something() || !self.tool_calls.is_empty() {
            return Ok(());
        }
        let stop = self.stop.as_ref();
        Err(ProviderError::Empty {
            is_reasoned: !self.blocks.is_empty() || !self.thinking.is_empty(),
            stop: stop.map(|stop| stop.as_str().to_owned()),
        })
    }

    /// The words alone.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.blocks.iter().filter_map(ContentBlock::as_text);
        texts.collect()
    }

    /// The content of the message to keep: a plain text where it is nothing else.
    #[must_use]
    pub fn content(&self) -> Content {
        match self.blocks.as_slice() {
            [] => Content::Text(String::new()),
            [ContentBlock::Text { text, raw: None }] => Content::Text(text.clone()),
            blocks => Content::Blocks(blocks.to_vec()),
        }
    }
}
