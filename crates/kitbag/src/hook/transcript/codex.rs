//! Codex's transcript: lines that are only ever added. A person's words are those that the line of events
//! repeats; what else has the role `user`, or `developer`, was put there by Codex or by hooks.

use std::borrow::Cow;
use std::path::Path;

use kitbag_core::role::Role;
use serde::Deserialize;

use super::actions::Actions;
use super::{Line, SessionEvent, TranscriptEntry, words};

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
    /// The words of an event.
    #[serde(borrow, default)]
    message: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Vec<Part<'a>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    arguments: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    input: Option<Cow<'a, str>>,
    /// Something that an event says is complete.
    #[serde(borrow, default)]
    item: Option<Item<'a>>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Vec<Part<'a>>,
}

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    cmd: Option<String>,
    #[serde(default)]
    command: Option<Command>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Command {
    Line(String),
    Words(Vec<String>),
}

/// What a line tells. Lines have no names, but they never move.
pub(super) fn read(line: &Line<'_>, number: usize, folder: &Path) -> Option<SessionEvent> {
    let payload: Payload<'_> = serde_json::from_str(line.payload?.get()).ok()?;
    let said = |role, text: &str| {
        Some(SessionEvent::Said(TranscriptEntry {
            reference: format!("line-{number}"),
            role,
            text: words(text)?,
            at: line.at(),
        }))
    };
    match (line.kind.as_ref(), payload.kind.as_ref()) {
        ("event_msg", "user_message") => said(Role::User, &payload.message?),
        // As versions from 0.166 on repeat them.
        ("event_msg", "item_completed") => {
            let item = payload.item.filter(|item| item.kind == "UserMessage")?;
            said(Role::User, &text_of(&item.content))
        }
        ("response_item", "message") if payload.role.as_deref() == Some("assistant") => {
            said(Role::Assistant, &text_of(&payload.content))
        }
        ("response_item", "function_call" | "custom_tool_call") => Some(SessionEvent::Did {
            reference: format!("line-{number}"),
            at: line.at(),
            actions: action(&payload, folder)?,
        }),
        _ => None,
    }
}

fn text_of(parts: &[Part<'_>]) -> String {
    let texts = parts.iter().filter_map(|part| part.text.as_deref());
    texts.collect::<Vec<&str>>().join("\n\n")
}

fn action(payload: &Payload<'_>, folder: &Path) -> Option<Actions> {
    let name = payload.name.as_deref()?;
    if name == "apply_patch" {
        let patch = payload.input.as_ref().or(payload.arguments.as_ref())?;
        let mut changed = Actions::default();
        let heads = ["Add", "Update", "Delete"].map(|verb| format!("*** {verb} File: "));
        let files = patch
            .lines()
            .filter_map(|line| heads.iter().find_map(|head| line.strip_prefix(head)));
        for file in files {
            changed.extend(Actions::changed(file.trim(), folder));
        }
        return (changed != Actions::default()).then_some(changed);
    }
    if !["exec_command", "shell", "shell_command", "local_shell"].contains(&name) {
        return None;
    }
    let arguments: Arguments = serde_json::from_str(payload.arguments.as_deref()?).ok()?;
    let command = match arguments.command {
        Some(Command::Line(line)) => line,
        // The last word is the script that a shell runs.
        Some(Command::Words(words)) => words.last()?.clone(),
        None => arguments.cmd?,
    };
    Some(Actions::ran(&command))
}
