//! The events of an answer, in words that all APIs have in common.

use std::time::Duration;

use kitbag_core::content::ContentBlock;
use kitbag_core::message::ToolCall;
pub use kitbag_core::record::Usage;
use kitbag_core::tokens::Tokens;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ReplyEvent {
    /// An answer is being made, and nothing of it has come yet. It is the first event that is shown of a
    /// turn, and comes again after each step with tools; no provider sends it.
    Typing,
    /// The message of the turn is kept, whatever happens next. No provider sends it.
    Accepted,
    /// Another turn of the conversation is under way, and is waited for. No provider sends it.
    Queued,
    /// The next words of the answer.
    Text(String),
    /// The next words of the model's reasoning, to be shown to people.
    Thinking(String),
    /// A block that must be passed back unchanged with the answer: signed reasoning, say.
    Block(ContentBlock),
    /// A call of a tool, whole.
    ToolCall(ToolCall),
    /// A tool was called, or a call was refused. No provider sends it.
    Called {
        tool: String,
        /// The tokens of the result as it is recorded.
        tokens: Tokens,
        /// The time that the call took.
        time: Duration,
        /// The problem, if there was one.
        problem: Option<String>,
    },
    /// A node of the loop has ended. No provider sends it.
    Node {
        node: &'static str,
        /// Its outcome in a few words.
        told: String,
        /// The time that it took.
        time: Duration,
    },
    /// The tokens of the request and of the answer so far. The latest counts.
    Usage(Usage),
    /// The reason why the model ended.
    Stop(StopReason),
    /// The answer is whole. Nothing follows.
    Done,
}

/// The reason why a model ended its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// It had said what it had to say.
    End,
    /// The answer reached the most tokens that it may have.
    MaxTokens,
    /// It wants a tool to be called.
    ToolUse,
    /// It refused, or a filter did.
    Refusal,
    /// Another reason, in the words of the provider.
    Other(String),
}

impl StopReason {
    /// The reason that a provider names.
    #[must_use]
    pub fn of(name: &str) -> Self {
        match name {
            "end_turn" | "stop" | "completed" | "stop_sequence" => Self::End,
            "max_tokens" | "length" | "max_output_tokens" => Self::MaxTokens,
            "tool_use" | "tool_calls" | "function_call" => Self::ToolUse,
            "refusal" | "content_filter" => Self::Refusal,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The reason in a word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::End => "end",
            Self::MaxTokens => "max_tokens",
            Self::ToolUse => "tool_use",
            Self::Refusal => "refusal",
            Self::Other(name) => name,
        }
    }
}
