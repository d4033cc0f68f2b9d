//! The memory that Claude wrote about its user, as a conversation of its own.
//!
//! It is a model's prose about many things at once and no plain statement, so that it does not become
//! facts: each text is a message by the assistant, which a later export updates.

use std::collections::BTreeMap;

use kitbag_core::role::Role;

use crate::memory::export::{Exported, Said};
use crate::memory::import::{ImportTally, RecordKind, clean};

/// Longest name of a project, in characters.
const LONGEST_NAME: usize = 200;

/// The conversation, or `None` if no field holds a memory.
pub(super) fn exported(
    whole: Option<String>,
    projects: Option<BTreeMap<String, String>>,
    tally: &mut ImportTally,
) -> Option<Exported> {
    if whole.is_none() && projects.is_none() {
        return None;
    }
    let whole = whole.map(|text| ("conversations".to_owned(), text));
    let projects = projects.into_iter().flatten();
    let texts = projects.map(|(id, text)| (format!("project/{}", clean(&id, LONGEST_NAME)), text));
    let texts = whole.into_iter().chain(texts);
    let mut exported = Exported {
        id: Some("memory".to_owned()),
        title: Some("Claude's memory".to_owned()),
        ..Exported::default()
    };
    for (reference, text) in texts.filter(|(_, text)| !text.trim().is_empty()) {
        tally.add(RecordKind::MemoryTexts);
        exported.messages.push(Ok(Said {
            // The same reference in each export, so that a later one updates the text.
            reference: Some(reference),
            role: Role::Assistant,
            speaker: None,
            at: None,
            parts: vec![text],
            remembered: Vec::new(),
        }));
    }
    Some(exported)
}
