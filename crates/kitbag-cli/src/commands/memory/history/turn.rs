//! A turn: how far it came, its stages with their times, and what it was billed.

use kitbag::command::describe_turn;
use kitbag::core::record::TurnRecord;
use kitbag::store::{Store, TurnId};
use serde::Serialize;

use crate::failure::Failure;
use crate::output;

#[derive(Serialize)]
struct Report<'a> {
    turn: String,
    status: &'static str,
    message: String,
    reply: Option<String>,
    problem: Option<&'a str>,
    #[serde(flatten)]
    record: &'a TurnRecord,
}

pub(super) async fn print(store: &Store, id: TurnId, as_json: bool) -> Result<(), Failure> {
    let turn = store.turn(id).await?;
    if !as_json {
        return Ok(output::print(&format!("turn {}", describe_turn(&turn)))?);
    }
    Ok(output::print_json(&Report {
        turn: turn.id.to_string(),
        status: turn.status.as_str(),
        message: turn.message.to_string(),
        reply: turn.reply.map(|reply| reply.to_string()),
        problem: turn.problem.as_deref(),
        record: &turn.record,
    })?)
}
