//! An answer with what it took.

use kitbag_core::message::{Message, ToolCall};
use kitbag_core::record::{CacheMiss, RouteRecord};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::answer::Answer;
use crate::provider::{StopReason, Usage};

/// An answer with its usage and its turn.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct AnswerReport<'a> {
    /// The words of the answer.
    pub text: String,
    /// The model's reasoning, as it is shown to people.
    #[serde(skip_serializing_if = "str::is_empty")]
    #[schemars(with = "Option<String>")]
    pub thinking: &'a str,
    /// The calls of tools that were asked for and not made.
    #[serde(skip_serializing_if = "<[ToolCall]>::is_empty")]
    #[schemars(with = "Option<Vec<Value>>")]
    pub tool_calls: &'a [ToolCall],
    /// The calls that were made, and their results.
    #[serde(skip_serializing_if = "<[Message]>::is_empty")]
    #[schemars(with = "Option<Vec<Value>>")]
    pub steps: &'a [Message],
    /// The reason why the model ended, in a word.
    pub stop: Option<&'a str>,
    /// Set where all of the answer came.
    pub whole: bool,
    /// The model, as the request names it.
    pub model: Option<String>,
    /// The choice of the model, where there was one to make.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Value>")]
    pub route: Option<&'a RouteRecord>,
    /// The tokens that were billed.
    #[schemars(with = "Option<Value>")]
    pub usage: Option<Usage>,
    /// The tokens that the provider should have read from its cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub predicted_cache_read: Option<u64>,
    /// The reason why it could not, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub cache_miss: Option<CacheMiss>,
    /// The cost at list prices, in millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// The tokens of the prompt as they were counted before it was sent.
    pub counted: u32,
    /// Problems that were met while the prompt was made.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Option<Vec<String>>")]
    pub problems: Vec<String>,
    /// The time that was spent waiting for the provider, in milliseconds.
    pub waited_ms: u64,
    /// The id of the turn, such as 7.12.3; none without memory.
    pub turn: Option<String>,
}

impl<'a> AnswerReport<'a> {
    /// The report of an answer.
    #[must_use]
    pub fn of(answer: &'a Answer) -> Self {
        let reply = &answer.reply;
        let sent = answer.record.inferences.last();
        let problems = answer.prompt.composed.assembly.ledger.problems.iter();
        Self {
            text: reply.text(),
            thinking: &reply.thinking,
            tool_calls: &reply.tool_calls,
            steps: &answer.steps,
            stop: reply.stop.as_ref().map(StopReason::as_str),
            whole: reply.is_whole,
            model: answer.request.model(),
            route: answer.record.route.as_ref(),
            usage: answer.usage(),
            predicted_cache_read: sent.and_then(|sent| sent.predicted_cache_read),
            cache_miss: sent.and_then(|sent| sent.cache_miss),
            cost_micros: answer.cost_micros(),
            counted: answer.prompt.composed.assembly.tokens.0,
            problems: problems.map(ToString::to_string).collect(),
            waited_ms: u64::try_from(answer.waited.as_millis()).unwrap_or(u64::MAX),
            turn: answer.turn.as_ref().map(|turn| turn.id.to_string()),
        }
    }
}
