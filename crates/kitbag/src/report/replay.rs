//! A prompt that was sent, made again.

use jiff::Timestamp;
use kitbag_core::assembly::{Ledger, OutputForm};
use kitbag_core::tokens::Tokens;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::engine::ReplayedPrompt;

/// A prompt that was sent, made again byte for byte, with its figures and its ledger.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ReplayReport<'a> {
    /// The turn.
    pub turn: String,
    /// The number of the prompt in the turn, from 0.
    pub inference: u32,
    /// The time when it was sent.
    #[schemars(with = "String")]
    pub sent: Timestamp,
    /// The form of the prompt.
    #[schemars(with = "String")]
    pub form: OutputForm,
    /// The tokens that it has.
    #[schemars(with = "u32")]
    pub tokens: Tokens,
    /// The tokenizer that counted.
    pub tokenizer: &'a str,
    /// The hash of the bytes that were sent; of a prompt with secrets, of the masked one.
    pub hash: &'a str,
    /// The number of secrets that were sent and are masked here.
    pub masked: usize,
    /// The prompt.
    pub prompt: &'a str,
    /// Everything that was considered, in or out, and why.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub ledger: &'a Ledger,
}

impl<'a> ReplayReport<'a> {
    /// The report of a prompt whose body is shown as `body`.
    #[must_use]
    pub fn of(replayed: &'a ReplayedPrompt, body: &'a str) -> Self {
        let prompt = &replayed.prompt;
        Self {
            turn: prompt.turn.to_string(),
            inference: prompt.inference,
            sent: prompt.sent,
            form: prompt.settings.form,
            tokens: prompt.tokens,
            tokenizer: &prompt.tokenizer,
            hash: &prompt.hash,
            masked: prompt.masked,
            prompt: body,
            ledger: &prompt.ledger,
        }
    }
}
