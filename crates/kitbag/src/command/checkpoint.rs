//! `/checkpoint`: the tasks that were saved in the project.

use super::{Asked, CommandError, CommandReply};
use crate::checkpoint::{Checkpoint, Checkpoints};
use crate::words::{beginning, counted};

pub(super) fn checkpoint(asked: Asked<'_>) -> Result<CommandReply, CommandError> {
    asked.takes_nothing()?;
    let none = || "no task is saved in this project".to_owned().into();
    let Some(project) = asked.engine.project() else {
        return Ok(none());
    };
    let listing = Checkpoints::in_root(&project.root).list()?;
    let line = |one: &Checkpoint| {
        let request = &one.user_request;
        format!(
            "{} {:.0} {}",
            one.session_id,
            one.timestamp,
            beginning(request, 120)
        )
    };
    let mut lines: Vec<String> = listing.checkpoints.iter().map(line).collect();
    if !listing.problems.is_empty() {
        let damaged = listing.problems.len() as u64;
        lines.push(counted(
            damaged,
            "file cannot be read",
            "files cannot be read",
        ));
    }
    match lines.is_empty() {
        true => Ok(none()),
        false => Ok(lines.join("\n").into()),
    }
}
