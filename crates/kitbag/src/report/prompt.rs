//! A prompt with its figures and its ledger.

use kitbag_core::assembly::{Breakpoint, Ledger, OutputForm};
use kitbag_core::tokens::{Exactness, Tokens};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::engine::{Composed, Redaction};

/// A prompt with its figures and its ledger.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PromptReport<'a> {
    /// The form of the prompt: flat, pack, markdown, xml, node, anthropic, openai, responses or json.
    #[schemars(with = "String")]
    pub format: OutputForm,
    /// The text, or the JSON of a form that is no text.
    pub prompt: &'a str,
    /// The tokens that it has.
    #[schemars(with = "u32")]
    pub tokens: Tokens,
    /// The most that it could have had.
    #[schemars(with = "u32")]
    pub budget: Tokens,
    /// The tokenizer that counted.
    pub tokenizer: &'a str,
    /// The nearness of the counts to those of the provider.
    #[schemars(with = "Value")]
    pub exactness: &'a Exactness,
    /// The part of the tokens that is an estimate: what a provider adds, pictures, files.
    #[schemars(with = "u32")]
    pub estimated: Tokens,
    /// The places up to which a provider is asked to cache.
    #[schemars(with = "Vec<Value>")]
    pub breakpoints: &'a [Breakpoint],
    /// The secrets that were replaced.
    #[schemars(with = "Vec<Value>")]
    pub redacted: &'a [Redaction],
    /// Everything that was considered, in or out, and why.
    #[schemars(with = "serde_json::Map<String, Value>")]
    pub ledger: &'a Ledger,
}

impl<'a> PromptReport<'a> {
    /// The report of a prompt whose body is shown as `body`.
    #[must_use]
    pub fn of(composed: &'a Composed, body: &'a str) -> Self {
        let assembly = &composed.assembly;
        Self {
            format: assembly.form,
            prompt: body,
            tokens: assembly.tokens,
            budget: assembly.ledger.fit.budget,
            tokenizer: &assembly.tokenizer,
            exactness: &assembly.exactness,
            estimated: assembly.estimated,
            breakpoints: &assembly.breakpoints,
            redacted: &composed.redacted,
            ledger: &assembly.ledger,
        }
    }
}
