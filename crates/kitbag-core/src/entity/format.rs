//! Shows entities: each tier at its own detail, from nothing to all data.
//!
//! A label stands at the end of its line and a reason on its own, so that neither can pass for
//! what we say about the entity.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{EntityContext, EntitySnapshot};
use crate::neutral::{indented, json_line, one_line};
use crate::section::Sections;

/// Shows the entities in one of the modes.
#[must_use]
pub fn format_entity_context(context: &EntityContext, mode: EntityMode) -> String {
    match mode {
        EntityMode::DoNotRead => do_not_read(context),
        EntityMode::Full => format_entity_view(context, EntityView::FULL),
        EntityMode::RefsAndLabels => format_entity_view(context, EntityView::REFS_AND_LABELS),
        EntityMode::Reply => format_entity_view(context, EntityView::REPLY),
        EntityMode::Curation => format_entity_view(context, EntityView::CURATION),
    }
}

/// A way to show entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntityMode {
    /// Active entities and drafts with all their data, for Act.
    Full,
    /// Refs and labels, and the bare refs of what is retained, for Think.
    RefsAndLabels,
    /// Labels, for Reply.
    Reply,
    /// The refs that need not be read again.
    DoNotRead,
    /// Every tier with all that is known but the data, for Understand.
    Curation,
}

impl FromStr for EntityMode {
    type Err = UnknownEntityMode;

    fn from_str(mode: &str) -> Result<Self, Self::Err> {
        match mode {
            "full" | "full_data" => Ok(Self::Full),
            "refs_and_labels" => Ok(Self::RefsAndLabels),
            "reply" | "labels_only" => Ok(Self::Reply),
            "do_not_read" => Ok(Self::DoNotRead),
            "curation" => Ok(Self::Curation),
            _ => Err(UnknownEntityMode {
                value: mode.to_owned(),
            }),
        }
    }
}

/// There is no such mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown entity mode `{value}`, expected full (full_data), refs_and_labels, reply (labels_only), do_not_read or curation"
)]
pub struct UnknownEntityMode {
    /// The mode asked for.
    pub value: String,
}

/// How each tier is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct EntityView {
    /// Entities referred to lately.
    pub active: EntityDetail,
    /// Drafts.
    pub generated: EntityDetail,
    /// Older entities that are kept for a reason.
    pub retained: EntityDetail,
}

impl EntityView {
    /// What Act sees.
    pub const FULL: Self = Self {
        active: EntityDetail::FullData,
        generated: EntityDetail::FullData,
        retained: EntityDetail::Hidden,
    };
    /// What Think sees.
    pub const REFS_AND_LABELS: Self = Self {
        active: EntityDetail::RefsAndLabels,
        generated: EntityDetail::RefsAndLabels,
        retained: EntityDetail::Refs,
    };
    /// What Reply sees.
    pub const REPLY: Self = Self {
        active: EntityDetail::Labels,
        generated: EntityDetail::Labels,
        retained: EntityDetail::Hidden,
    };
    /// What Understand sees.
    pub const CURATION: Self = Self {
        active: EntityDetail::Record,
        generated: EntityDetail::Record,
        retained: EntityDetail::Record,
    };
}

/// How much of an entity is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntityDetail {
    /// Nothing.
    #[default]
    Hidden,
    /// The ref.
    Refs,
    /// The label.
    Labels,
    /// The ref and the label.
    RefsAndLabels,
    /// All that is known about the entity, without what it holds.
    Record,
    /// Type, status and what the entity holds.
    FullData,
}

/// Shows each tier at its detail.
#[must_use]
pub fn format_entity_view(context: &EntityContext, view: EntityView) -> String {
    let tiers = [
        ("### Active (saved)", &context.active, view.active),
        (
            "### Drafts (not saved yet)",
            &context.generated,
            view.generated,
        ),
        (
            "### Kept from earlier turns",
            &context.retained,
            view.retained,
        ),
    ];
    let mut sections = Sections::default();
    for (heading, entities, detail) in tiers {
        if detail == EntityDetail::Hidden {
            continue;
        }
        // Who sees labels only speaks to the user, to whom a ref says nothing.
        let unnamed = |entity: &&EntitySnapshot| {
            detail == EntityDetail::Labels && entity.label == entity.reference
        };
        let named = entities.iter().filter(|entity| !unnamed(entity));
        sections.push(heading, named.map(|entity| format_entity(entity, detail)));
    }
    sections.finish("No entities in context.")
}

/// Shows one entity as a list item. Empty if hidden.
#[must_use]
pub fn format_entity(entity: &EntitySnapshot, detail: EntityDetail) -> String {
    let (reference, label) = (one_line(&entity.reference), one_line(&entity.label));
    let (kind, status) = (one_line(&entity.entity_type), entity.status.to_string());
    let (status, is_deleted) = (one_line(&status), entity.status.is_deleted());
    match detail {
        EntityDetail::Hidden => String::new(),
        EntityDetail::Refs => format!("- `{reference}`"),
        // Without a status a deleted entity would be spoken of as if it were there.
        EntityDetail::Labels if is_deleted => format!("- deleted: {label}"),
        EntityDetail::Labels => format!("- {label}"),
        EntityDetail::RefsAndLabels if is_deleted => {
            format!("- `{reference}` (deleted): {label}")
        }
        EntityDetail::RefsAndLabels => format!("- `{reference}`: {label}"),
        EntityDetail::Record => {
            let (created, last) = (entity.turn_created, entity.turn_last_ref);
            let mut item = format!(
                "- `{reference}` ({kind}, {status}, from turn {created}, last in turn {last}): {label}"
            );
            if let Some(reason) = entity.retention_reason.as_deref() {
                item.push_str(&format!("\n  kept because: {}", indented(reason, 4)));
            }
            item
        }
        EntityDetail::FullData => {
            let head = format!("- `{reference}` ({kind}, {status}): {label}");
            match &entity.data {
                Some(data) => format!("{head}\n  data: {}", json_line(data)),
                None if is_deleted => head,
                None => format!("{head}\n  data: not loaded"),
            }
        }
    }
}

/// The refs whose data is at hand. Linked rows were never read, and of what is retained Act sees
/// no data: to forbid reading these would leave no way to reach them.
fn do_not_read(context: &EntityContext) -> String {
    let read = context.active.iter().chain(&context.generated);
    let refs: Vec<String> = read
        .filter(|entity| entity.status.is_read())
        .map(|entity| format!("`{}`", one_line(&entity.reference)))
        .collect();
    if refs.is_empty() {
        return "Nothing has been read yet.".to_owned();
    }
    format!("DO NOT re-read: {}", refs.join(", "))
}
