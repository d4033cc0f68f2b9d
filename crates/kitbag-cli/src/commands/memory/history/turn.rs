//! A turn: its state, its stages with their times, and its bill.

use kitbag::command::describe_turn;
use kitbag::report::TurnReport;
use kitbag::store::{Store, TurnId};

use crate::failure::Failure;
use crate::output;

pub(super) async fn print(store: &Store, id: TurnId, as_json: bool) -> Result<(), Failure> {
    let turn = store.turn(id).await?;
    if !as_json {
        return Ok(output::print(&format!("turn {}", describe_turn(&turn)))?);
    }
    Ok(output::print_json(&TurnReport::of(&turn))?)
}
