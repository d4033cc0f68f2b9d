//! Shows entities: each tier at its own detail, from nothing to all data.
//!
//! A label stands at the end of its line and a reason on a line of its own, so that neither can
//! pass for our own words about the entity. A draft is marked as one at every detail.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{EntityContext, EntitySnapshot, EntityStatus};
use crate::chunk::{ChunkType, ContextPriority};
use crate::neutral::{indented, json_line, one_line};
use crate::view::item::{Item, list, quoted};

/// Shows the entities in one of the modes.
#[must_use]
pub fn format_entity_context(context: &EntityContext, mode: EntityMode) -> String {
    match mode {
        EntityMode::DoNotRead => list(
            do_not_read(context).as_slice(),
            "Nothing has been read yet.",
        ),
        _ => list(&entity_items(context, mode.view()), NO_ENTITIES),
    }
}

/// The text shown when there are no entities.
pub(crate) const NO_ENTITIES: &str = "No entities in context.";

/// A way to show entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntityMode {
    /// Active entities and drafts with all their data, for Act.
    Full,
    /// Refs and labels, and the bare refs of retained entities, for Think.
    RefsAndLabels,
    /// Labels, for Reply.
    Reply,
    /// The refs that need not be read again.
    DoNotRead,
    /// Every tier with all that is known except the data, for Understand.
    Curation,
}

impl EntityMode {
    /// Returns the detail at which the mode shows each tier.
    pub(super) const fn view(self) -> EntityView {
        match self {
            Self::Full => EntityView::FULL,
            Self::RefsAndLabels => EntityView::REFS_AND_LABELS,
            Self::Reply => EntityView::REPLY,
            Self::DoNotRead => EntityView::DO_NOT_READ,
            Self::Curation => EntityView::CURATION,
        }
    }
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

/// An unknown mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown entity mode `{value}`, expected full (full_data), refs_and_labels, reply (labels_only), do_not_read or curation"
)]
pub struct UnknownEntityMode {
    /// The mode asked for.
    pub value: String,
}

/// The detail at which each tier is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntityView {
    /// Entities that recent turns referred to.
    pub active: EntityDetail,
    /// Drafts.
    pub generated: EntityDetail,
    /// Older entities that are kept for a reason.
    pub retained: EntityDetail,
}

impl EntityView {
    /// The view of Act.
    pub(crate) const FULL: Self = Self::new(EntityDetail::FullData, EntityDetail::Hidden);
    /// The view of Think.
    pub(crate) const REFS_AND_LABELS: Self =
        Self::new(EntityDetail::RefsAndLabels, EntityDetail::Refs);
    /// The view of Reply.
    pub(crate) const REPLY: Self = Self::new(EntityDetail::Labels, EntityDetail::Hidden);
    const DO_NOT_READ: Self = Self::new(EntityDetail::FullData, EntityDetail::FullData);
    /// The view of Understand.
    pub(crate) const CURATION: Self = Self::new(EntityDetail::Record, EntityDetail::Record);

    /// Creates a view with active entities and drafts at one detail, and retained ones at another.
    pub(crate) const fn new(current: EntityDetail, retained: EntityDetail) -> Self {
        Self {
            active: current,
            generated: current,
            retained,
        }
    }
}

/// The detail at which an entity is shown.
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
    /// All that is known about the entity, except its data.
    Record,
    /// Type, status and data.
    FullData,
}

/// Returns the items of each tier at its detail. Drafts are critical: a draft that is not seen is
/// not saved.
pub(crate) fn entity_items(context: &EntityContext, view: EntityView) -> Vec<Item> {
    let tiers = [
        (&context.active, view.active, ContextPriority::Medium),
        (
            &context.generated,
            view.generated,
            ContextPriority::Critical,
        ),
        // Nothing has referred to these for some turns, so that they yield first.
        (&context.retained, view.retained, ContextPriority::Low),
    ];
    let mut items = Vec::new();
    for (entities, most, priority) in tiers {
        // A node that sees labels only speaks to the user, to whom a ref says nothing.
        let unnamed = |entity: &&EntitySnapshot| {
            most == EntityDetail::Labels && entity.label == entity.reference
        };
        let details = most.and_lesser();
        for entity in entities.iter().filter(|entity| !unnamed(entity)) {
            let texts: Vec<String> = details.iter().map(|&detail| show(entity, detail)).collect();
            let source = format!("entity/{}", entity.reference);
            if !texts.is_empty() {
                items.push(Item::new(ChunkType::Entity, source, texts).with_priority(priority));
            }
        }
    }
    items
}

/// Returns the refs whose data is stored. Act sees that data, or will once a plan names the ref,
/// which makes an older entity active again. To forbid reading anything else would leave no way to
/// reach it.
pub(crate) fn do_not_read(context: &EntityContext) -> Option<Item> {
    let stored = context.entities().filter(|entity| entity.is_at_hand());
    let refs = quoted(stored.map(|entity| &entity.reference));
    let text = format!("DO NOT re-read: {refs}");
    let item = || Item::new(ChunkType::Entity, "do_not_reread", [text]).critical();
    (!refs.is_empty()).then(item)
}

impl EntityDetail {
    /// Returns the detail and each lesser one to fall back on when there is no room.
    fn and_lesser(self) -> &'static [Self] {
        match self {
            Self::Hidden => &[],
            Self::Refs => &[Self::Refs],
            Self::Labels => &[Self::Labels],
            Self::RefsAndLabels => &[Self::RefsAndLabels, Self::Refs],
            Self::Record => &[Self::Record, Self::RefsAndLabels],
            Self::FullData => &[Self::FullData, Self::RefsAndLabels, Self::Labels],
        }
    }
}

fn show(entity: &EntitySnapshot, detail: EntityDetail) -> String {
    let (reference, label) = (one_line(&entity.reference), one_line(&entity.label));
    let (kind, status) = (one_line(&entity.entity_type), entity.status.to_string());
    let is_deleted = entity.status.is_deleted();
    // Without a mark a model would speak of a deleted entity or a draft as if it existed.
    let mark = match &entity.status {
        EntityStatus::Generated => Some("draft, not saved"),
        _ if is_deleted => Some("deleted"),
        _ => None,
    };
    let status = mark.map_or_else(|| one_line(&status), Cow::Borrowed);
    let kept = entity.retention_reason.as_ref().map(|_| "kept");
    let noted = mark.or(kept).map(|mark| format!(" ({mark})"));
    let noted = noted.unwrap_or_default();
    match detail {
        EntityDetail::Hidden => String::new(),
        EntityDetail::Refs => format!("`{reference}`{noted}"),
        EntityDetail::Labels => match mark {
            Some(mark) => format!("{mark}: {label}"),
            None => label.into_owned(),
        },
        EntityDetail::RefsAndLabels => format!("`{reference}`{noted}: {label}"),
        EntityDetail::Record => {
            let (created, last) = (entity.turn_created, entity.turn_last_ref);
            let mut item = format!(
                "`{reference}` ({kind}, {status}, from turn {created}, last in turn {last}): {label}"
            );
            if let Some(reason) = entity.retention_reason.as_deref() {
                item.push_str(&format!("\n  kept because: {}", indented(reason, 4)));
            }
            item
        }
        EntityDetail::FullData => {
            let head = format!("`{reference}` ({kind}, {status}): {label}");
            match &entity.data {
                Some(data) => format!("{head}\n  data: {}", json_line(data)),
                None if is_deleted => head,
                None => format!("{head}\n  data: not loaded"),
            }
        }
    }
}
