//! The list of texts that a user has Claude remember: lines of it are added, replaced and removed by number.
//!
//! The list is that of all conversations, and an export does not have it. So a line is known by the number
//! that the tool gave it, or else by its place among those that the conversation added.

use serde_json::Value;

use crate::memory::export::{Exported, text};
use crate::memory::import::{ImportTally, RecordKind};

/// The lines that a conversation added, which are still there.
#[derive(Default)]
pub(super) struct MemoryEdits {
    lines: Vec<Line>,
}

struct Line {
    number: u64,
    /// True if the tool gave the number, and not only the place of the line.
    is_told: bool,
    /// The call that added it.
    call: Option<String>,
    text: String,
}

impl MemoryEdits {
    /// Applies a call of the tool. Returns false if it is a call of another tool, or changes nothing.
    pub(super) fn call(
        &mut self,
        block: &Value,
        exported: &mut Exported,
        tally: &mut ImportTally,
    ) -> bool {
        if text(block, "name") != Some("memory_user_edits") {
            return false;
        }
        let input = block.get("input");
        let field = |name: &str| input.and_then(|input| text(input, name));
        let number = input.and_then(|input| input.get("line_number")?.as_u64());
        match (field("command"), number) {
            (Some("add"), _) => {
                let Some(added) = field("control") else {
                    return false;
                };
                let last = self.lines.iter().map(|line| line.number).max();
                self.lines.push(Line {
                    number: last.unwrap_or(0).saturating_add(1),
                    is_told: false,
                    call: text(block, "id").map(str::to_owned),
                    text: added.to_owned(),
                });
                exported.remember(added, tally);
            }
            (Some("replace"), Some(number)) => {
                let Some(new) = field("replacement").or_else(|| field("control")) else {
                    return false;
                };
                // The line may be one of another conversation: what stands there now is known anyway.
                self.remove(number, exported);
                self.lines.push(Line {
                    number,
                    is_told: true,
                    call: None,
                    text: new.to_owned(),
                });
                exported.remember(new, tally);
            }
            (Some("remove"), Some(number)) => {
                if !self.remove(number, exported) {
                    tally.add(RecordKind::LostChanges);
                }
                for line in &mut self.lines {
                    line.number -= u64::from(line.number > number);
                }
            }
            _ => return false,
        }
        true
    }

    /// Reads the number of a line that was added from the answer of the tool: that of its call, or else the first
    /// one without an answer, since several calls may stand in front of their answers.
    pub(super) fn result(&mut self, block: &Value) {
        if text(block, "name") != Some("memory_user_edits") {
            return;
        }
        let content = block.get("content");
        let first = content.and_then(|content| content.as_array()?.first());
        let told = first.and_then(|first| text(first, "text"));
        let told = told.or_else(|| content?.as_str()).unwrap_or_default();
        let number = told.strip_prefix("Added").and_then(|told| {
            let (_, number) = told.split_once('#')?;
            let digits = number.split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse().ok()
        });
        let call = text(block, "tool_use_id");
        let of_call = |line: &Line| call.is_some() && line.call.as_deref() == call;
        let at = self.lines.iter().position(of_call);
        let at = at.or_else(|| self.lines.iter().position(|line| !line.is_told));
        let line = at.and_then(|at| self.lines.get_mut(at));
        if let (Some(line), Some(number)) = (line, number) {
            line.number = number;
            line.is_told = true;
        }
    }

    /// Removes a line, and the memory that it was. Returns false if the conversation did not add it.
    fn remove(&mut self, number: u64, exported: &mut Exported) -> bool {
        let at = self.lines.iter().rposition(|line| line.number == number);
        let removed = at.map(|at| self.lines.remove(at));
        if let Some(removed) = &removed {
            exported.unremember(&removed.text);
        }
        removed.is_some()
    }
}
