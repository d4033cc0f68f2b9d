//! The messages and actions of a session, read from the file in which its agent records it.
//!
//! Claude Code writes a tree of entries ([`claude`]), Codex a list ([`codex`]); both as lines of JSON, which
//! tell by their fields whose they are. Kept are the words of the person and of the agent, and of each turn
//! one line that names the files that were changed and the commands that were run. Left out are side
//! chains, attachments, results of tools, reasoning, and whatever hooks or the agent itself put into the
//! person's mouth.

mod actions;
mod claude;
mod codex;

use std::borrow::Cow;
use std::io::{self, BufRead};
use std::path::Path;

use kitbag_core::role::Role;
use kitbag_store::MessageTime;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::block::without_blocks;
use actions::Actions;
use claude::ClaudeEntry;

/// A session as it was recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transcript {
    /// The messages and actions, in order.
    pub entries: Vec<TranscriptEntry>,
    /// The number of lines that cannot be read.
    pub broken: usize,
}

/// Something that was said or done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TranscriptEntry {
    /// Its name, which no other entry of the session has and which stays the same.
    pub reference: String,
    /// The one who said or did it.
    pub role: Role,
    /// The words.
    pub text: String,
    /// When.
    pub at: Option<MessageTime>,
}

/// A line of either agent's.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    uuid: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    parent_uuid: Option<Cow<'a, str>>,
    /// The parent of the first entry behind a compaction.
    #[serde(borrow, default)]
    logical_parent_uuid: Option<Cow<'a, str>>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_meta: bool,
    #[serde(default)]
    is_compact_summary: bool,
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    /// Codex has everything in here.
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

impl Line<'_> {
    fn at(&self) -> Option<MessageTime> {
        MessageTime::parse(self.timestamp.as_deref()?)
    }
}

/// Texts that agents write in the person's place begin with these.
const NOT_SAID: [&str; 10] = [
    "<command-",
    "<local-command-",
    "<bash-",
    "<system-reminder>",
    "<task-notification>",
    "<user-prompt-submit-hook>",
    "[Request interrupted by user",
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions for",
];

/// Something that a line tells, before turns are made of it.
#[derive(Debug)]
enum SessionEvent {
    Said(TranscriptEntry),
    Did {
        reference: String,
        at: Option<MessageTime>,
        actions: Actions,
    },
}

impl Transcript {
    /// Reads a recorded session. Files are named as seen from the folder.
    ///
    /// # Errors
    /// When the file cannot be read. A line that cannot be read is counted.
    pub fn read(mut file: impl BufRead, folder: &Path) -> io::Result<Self> {
        let mut broken = 0;
        let mut of_claude: Vec<ClaudeEntry> = Vec::new();
        let mut told: Vec<SessionEvent> = Vec::new();
        let mut number = 0_usize;
        let mut bytes = Vec::new();
        while file.read_until(b'\n', &mut bytes)? > 0 {
            number += 1;
            match serde_json::from_slice::<Line<'_>>(&bytes) {
                // Only Codex writes payloads. The agent is told by the line, since hooks do not always say who
                // they are.
                Ok(line) if line.payload.is_some() => {
                    told.extend(codex::read(&line, number, folder))
                }
                Ok(line) => of_claude.extend(ClaudeEntry::read(&line, folder)),
                // A blank line at the end is no damage.
                Err(_) if bytes.trim_ascii().is_empty() => {}
                Err(_) => broken += 1,
            }
            bytes.clear();
        }
        // At the end of the file: only then is it known which branch ends last.
        told.extend(claude::branch(of_claude));
        Ok(Self {
            entries: by_turn(told),
            broken,
        })
    }
}

/// Joins what was done in a turn into one entry behind what was said in it.
fn by_turn(told: Vec<SessionEvent>) -> Vec<TranscriptEntry> {
    let mut entries = Vec::new();
    let mut done: Option<(String, Option<MessageTime>, Actions)> = None;
    for one in told {
        match one {
            SessionEvent::Said(entry) => {
                // The next words of the person end the turn, whose actions come before them.
                if entry.role == Role::User {
                    entries.extend(done.take().map(entry_of));
                }
                entries.push(entry);
            }
            SessionEvent::Did {
                reference,
                at,
                actions,
            } => match &mut done {
                // The name and time of the first action are kept: they stay the same when the session goes on.
                Some((_, _, earlier)) => earlier.extend(actions),
                None => done = Some((reference, at, actions)),
            },
        }
    }
    entries.extend(done.map(entry_of));
    entries
}

fn entry_of((reference, at, actions): (String, Option<MessageTime>, Actions)) -> TranscriptEntry {
    TranscriptEntry {
        reference,
        role: Role::Assistant,
        text: actions.to_string(),
        at,
    }
}

/// The words of a text that stands in a message for a person or of an agent: without what Kitbag added.
/// Nothing if none are left, or if a coding agent wrote it in the person's place.
#[must_use]
pub fn said(role: Role, text: &str) -> Option<String> {
    let mut of_agents = NOT_SAID.iter();
    match role == Role::User && of_agents.any(|it| text.trim_start().starts_with(it)) {
        // Only for the user: an agent may quote these marks in its own words.
        true => None,
        false => words(text),
    }
}

/// A person's or an agent's words without what hooks added; nothing if none are left.
fn words(text: &str) -> Option<String> {
    let text = without_blocks(text);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
