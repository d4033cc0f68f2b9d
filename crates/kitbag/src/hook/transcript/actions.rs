//! The actions of an agent in a turn: files that it changed and commands that it ran. Files that it only
//! read are left out: nobody asks for them later.

use std::fmt;
use std::path::Path;

use kitbag_secrets::redact;

use crate::words::{beginning, counted};

/// The most actions of each kind that are named; the others are counted.
const MOST: usize = 12;
/// The most characters of a command.
const LONGEST_COMMAND: usize = 120;

/// Files and commands, each once, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Actions {
    changed: Vec<String>,
    ran: Vec<String>,
}

impl Actions {
    pub(super) fn changed(file: &str, folder: &Path) -> Self {
        let file = Path::new(file);
        // Relative paths are shorter, and remain true when the folder moves.
        let below = file.strip_prefix(folder).unwrap_or(file);
        Self {
            changed: vec![below.display().to_string()],
            ran: Vec::new(),
        }
    }

    pub(super) fn ran(command: &str) -> Self {
        // Redacted before it is cut: half of a secret is not recognised.
        let command = redact(command, "").text;
        let line = command.trim().lines().next().unwrap_or_default();
        Self {
            changed: Vec::new(),
            ran: vec![beginning(line, LONGEST_COMMAND)],
        }
    }

    pub(super) fn extend(&mut self, other: Self) {
        let join = |into: &mut Vec<String>, more: Vec<String>| {
            for one in more {
                if !into.contains(&one) {
                    into.push(one);
                }
            }
        };
        join(&mut self.changed, other.changed);
        join(&mut self.ran, other.ran);
    }
}

impl fmt::Display for Actions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.changed.is_empty() {
            parts.push(format!("Changed {}.", listed(&self.changed, ", ")));
        }
        if !self.ran.is_empty() {
            parts.push(format!("Ran: {}.", listed(&self.ran, "; ")));
        }
        f.write_str(&parts.join(" "))
    }
}

fn listed(items: &[String], between: &str) -> String {
    let named: Vec<&str> = items.iter().take(MOST).map(String::as_str).collect();
    let list = named.join(between);
    match items.len().saturating_sub(MOST) {
        0 => list,
        more => format!("{list} and {}", counted(more as u64, "other", "others")),
    }
}
