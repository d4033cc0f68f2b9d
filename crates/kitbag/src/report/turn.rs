//! A turn: its state, its stages with their times, and what it was billed.

use kitbag_core::record::TurnRecord;
use kitbag_store::StoredTurn;
use schemars::JsonSchema;
use serde::Serialize;

/// A turn with its stages and its bill.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct TurnReport<'a> {
    /// The turn.
    pub turn: String,
    /// The state: accepted, sent, learned or failed.
    pub status: &'static str,
    /// The message that it answers.
    pub message: String,
    /// The message that answers it.
    pub reply: Option<String>,
    /// The problem, where there was one.
    pub problem: Option<&'a str>,
    /// The stages and the prompts.
    #[serde(flatten)]
    pub record: &'a TurnRecord,
}

impl<'a> TurnReport<'a> {
    /// The report of a turn.
    #[must_use]
    pub fn of(turn: &'a StoredTurn) -> Self {
        Self {
            turn: turn.id.to_string(),
            status: turn.status.as_str(),
            message: turn.message.to_string(),
            reply: turn.reply.map(|reply| reply.to_string()),
            problem: turn.problem.as_deref(),
            record: &turn.record,
        }
    }
}

/// The fields of a report, with those of its record beside the others.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct Fields {
    /// The turn.
    turn: String,
    /// The state.
    status: String,
    /// The message that it answers.
    message: String,
    /// The message that answers it.
    reply: Option<String>,
    /// The problem, where there was one.
    problem: Option<String>,
    /// The stages with their results and times.
    stages: Vec<serde_json::Value>,
    /// The prompts that were sent, with what they were billed.
    inferences: Vec<serde_json::Value>,
}

impl JsonSchema for TurnReport<'_> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TurnReport".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Fields::json_schema(generator)
    }
}
