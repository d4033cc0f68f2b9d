//! Claude Code's transcript: entries that name the one before them, of which the branch that ends last counts.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kitbag_core::role::Role;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::actions::Actions;
use super::{Line, SessionEvent, TranscriptEntry, said};

/// An entry with its place in the tree.
pub(super) struct ClaudeEntry {
    uuid: String,
    parent: Option<String>,
    /// The answer of the provider that it is a block of.
    answer: Option<String>,
    told: Vec<SessionEvent>,
}

/// The model that Claude Code names for messages of its own.
const NO_MODEL: &str = "<synthetic>";

#[derive(Deserialize)]
struct ApiMessage<'a> {
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
}

/// The arguments of tools that change something.
#[derive(Deserialize)]
struct Input<'a> {
    #[serde(borrow, default)]
    file_path: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    notebook_path: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    command: Option<Cow<'a, str>>,
}

impl ClaudeEntry {
    /// The entry of a line; nothing if the line is no part of the tree, or of a side chain.
    pub(super) fn read(line: &Line<'_>, folder: &Path) -> Option<Self> {
        // Subagents talk to the agent and not to the person.
        if line.is_sidechain {
            return None;
        }
        let uuid = line.uuid.as_deref()?.to_owned();
        let parent = line
            .parent_uuid
            .as_ref()
            // After a compaction the tree begins again, and only this field leads back.
            .or(line.logical_parent_uuid.as_ref());
        let role = match line.kind.as_ref() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            _ => None,
        };
        let message = line
            .message
            // The entry itself stays, since later ones name it as their parent.
            .filter(|_| !line.is_meta && !line.is_compact_summary);
        let message: Option<ApiMessage<'_>> =
            message.and_then(|message| serde_json::from_str(message.get()).ok());
        // Notices such as “API error”, which no model said.
        let message = message.filter(|message| message.model.as_deref() != Some(NO_MODEL));
        let told = match (role, &message) {
            (Some(role), Some(message)) => events_of(line, &uuid, role, message, folder),
            _ => Vec::new(),
        };
        Some(Self {
            uuid,
            parent: parent.map(|parent| parent.to_string()),
            answer: message.and_then(|message| message.id).map(Cow::into_owned),
            told,
        })
    }
}

fn events_of(
    line: &Line<'_>,
    uuid: &str,
    role: Role,
    message: &ApiMessage<'_>,
    folder: &Path,
) -> Vec<SessionEvent> {
    let content = message.content.get();
    let blocks: Vec<Block<'_>> = match serde_json::from_str::<Cow<'_, str>>(content) {
        // What people type is a plain string, answers are lists of blocks.
        Ok(text) => vec![Block {
            kind: "text".into(),
            text: Some(text),
            name: None,
            input: None,
        }],
        Err(_) => serde_json::from_str(content).unwrap_or_default(),
    };
    let texts = blocks.iter().filter(|block| block.kind == "text");
    let texts = texts.filter_map(|block| block.text.as_deref());
    let texts: Vec<String> = texts.filter_map(|text| said(role, text)).collect();
    let mut told = Vec::new();
    if !texts.is_empty() {
        told.push(SessionEvent::Said(TranscriptEntry {
            reference: uuid.to_owned(),
            role,
            text: texts.join("\n\n"),
            at: line.at(),
        }));
    }
    let mut done = Actions::default();
    for block in blocks.iter().filter(|block| block.kind == "tool_use") {
        done.extend(action(block, folder).unwrap_or_default());
    }
    if done != Actions::default() {
        told.push(SessionEvent::Did {
            // A block of its own mostly, but an entry may have words and calls.
            reference: match texts.is_empty() {
                true => uuid.to_owned(),
                false => format!("{uuid}/done"),
            },
            at: line.at(),
            actions: done,
        });
    }
    told
}

fn action(block: &Block<'_>, folder: &Path) -> Option<Actions> {
    let input: Input<'_> = serde_json::from_str(block.input?.get()).ok()?;
    match block.name.as_deref()? {
        // Tools that only read are left out: what was looked at says little about what was done.
        "Edit" | "MultiEdit" | "Write" => Some(Actions::changed(&input.file_path?, folder)),
        "NotebookEdit" => Some(Actions::changed(&input.notebook_path?, folder)),
        "Bash" => Some(Actions::ran(&input.command?)),
        _ => None,
    }
}

/// What the entries tell on the way from the first to the last one. Where an entry is missing, its line being
/// broken, the one before it in the file stands in. Blocks of one answer belong together.
pub(super) fn branch(entries: Vec<ClaudeEntry>) -> Vec<SessionEvent> {
    let places: BTreeMap<&str, usize> = entries
        .iter()
        .enumerate()
        .map(|(place, entry)| (entry.uuid.as_str(), place))
        .collect();
    let mut on_branch = BTreeSet::new();
    let mut next = entries.len().checked_sub(1);
    // A damaged file may have a cycle, which a place that is met twice ends.
    while let Some(place) = next.filter(|place| on_branch.insert(*place)) {
        let parent = entries.get(place).and_then(|entry| entry.parent.as_deref());
        next = match parent {
            Some(parent) => places.get(parent).copied().or(place.checked_sub(1)),
            None => None,
        };
    }
    // Blocks that were streamed side by side are siblings in the tree, and only one of them is on the branch.
    let answers: BTreeSet<String> = on_branch
        .iter()
        .filter_map(|place| entries.get(*place)?.answer.clone())
        .collect();
    let is_part = |place: usize, entry: &ClaudeEntry| {
        let of_answer = |answer: &String| answers.contains(answer);
        on_branch.contains(&place) || entry.answer.as_ref().is_some_and(of_answer)
    };
    let entries = entries.into_iter().enumerate();
    let kept = entries.filter(|(place, entry)| is_part(*place, entry));
    kept.flat_map(|(_, entry)| entry.told).collect()
}
