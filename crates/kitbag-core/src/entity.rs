//! Layer 1: the things that a session is about and their status, in three tiers.
//!
//! | tier | an entity is in it if |
//! |---|---|
//! | generated | it is a draft, whatever its age, until it is saved or dropped |
//! | active | it was referred to, or retained on purpose, in this turn or one of the two before it |
//! | retained | that was longer ago, and there is a reason to keep it |
//!
//! Older entities without a reason, and demoted ones, are in no tier: registered, but not shown. A
//! deleted entity is active only during the turn in which it was deleted.
//!
//! The registry is changed by Understand, which curates ([`crate::view::TurnState::curate`]), Act,
//! which registers (`register_…` and [`crate::view::TurnState::finish_step`], which keeps the data
//! of rows), and Summarize, which ends its turn. The data of a row is stored with it for as long as
//! it is in a tier.
//!
//! The life of two entities:
//!
//! ```
//! use kitbag_core::entity::{
//!     DraftMatch, EntityMode, SessionIdRegistry, UnknownEntityMode, UserAction,
//!     format_entity_context, get_entity_context_in,
//! };
//! use serde_json::json;
//!
//! let mut registry = SessionIdRegistry::new("session-1");
//! let soup = registry.register_read("row-7", "recipes", "Lemon Soup");
//! assert_eq!(soup, "recipe_1");
//! assert_eq!(registry.ref_of("row-7"), Some("recipe_1"));
//! registry.register_updated("row-7", "recipes", "Lemon Herb Soup");
//! registry.register_linked("row-8", "cooks"); // The soup names its cook, who was not read.
//!
//! // A draft has a ref of its own, which it keeps when it is saved.
//! let stew = registry.register_generated("recipes", "Stew", json!({"serves": 2}), None);
//! registry.revise_generated(&stew, None, json!({"serves": 4}))?;
//! registry.register_created("row-9", "recipes", "Stew", DraftMatch::Ref(&stew))?;
//!
//! // A model writes refs where a tool wants row ids.
//! let call = registry.row_ids_for_refs(&json!({"where": {"id": ["recipe_1", stew]}}));
//! assert_eq!(call.value, json!({"where": {"id": ["row-7", "row-9"]}}));
//! assert!(call.unresolved.is_empty());
//!
//! registry.register_user_action("row-8", "cooks", "Ines", UserAction::Mentioned);
//! registry.register_deleted("row-9");
//! registry.touch_mentioned("Is there garlic in recipe_1?");
//! let shown = get_entity_context_in(&registry, 0, "refs_and_labels".parse()?);
//! assert_eq!(
//!     format_entity_context(&shown, EntityMode::Reply),
//!     "- Ines\n- deleted: Stew\n- Lemon Herb Soup"
//! );
//! let wrong: Result<EntityMode, UnknownEntityMode> = "all".parse();
//! assert_eq!(wrong.unwrap_err().value, "all");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Row ids never appear in an [`EntityContext`]: labels, reasons and contents that hold one show
//! the ref instead.

mod curation;
mod error;
mod format;
mod refs;
mod register;
mod registry;
mod rows;
mod status;
mod wire;

use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use curation::{CurationApplied, CurationDecision, DecisionEntry, Retention};
pub(crate) use curation::{DECISION_LOG_LIMIT, apply_curation};
pub use error::RegistryError;
pub use format::{EntityDetail, EntityMode, EntityView, UnknownEntityMode, format_entity_context};
pub(crate) use format::{NO_ENTITIES, do_not_read, entity_items};
pub(crate) use refs::split_ref;
pub use register::DraftMatch;
pub use registry::SessionIdRegistry;
pub(crate) use rows::UnknownIds;
pub use rows::{Translated, Unresolved};
pub use status::{EntityStatus, UserAction};

use registry::Entity;

/// The number of past turns for which a reference keeps an entity active.
const ACTIVE_WINDOW: u32 = 2;

/// Sorts the registry's entities into the tiers of turn `current_turn`.
///
/// Within a tier the order is that of creation, so that new entities come last and those that were
/// already shown stay where they were.
#[must_use]
pub fn get_entity_context(registry: &SessionIdRegistry, current_turn: u32) -> EntityContext {
    let mut context = EntityContext::default();
    for (reference, entity) in &registry.entities {
        let tier = match tier_of(entity, current_turn) {
            Some(Tier::Active) => &mut context.active,
            Some(Tier::Generated) => &mut context.generated,
            Some(Tier::Retained) => &mut context.retained,
            None => continue,
        };
        tier.push(snapshot(registry, reference, entity, current_turn));
    }
    for tier in context.tiers_mut() {
        tier.sort_by_cached_key(|entity| {
            // By number, since `recipe_10` comes before `recipe_2` as a text.
            let number = split_ref(&entity.reference).map(|(_, number)| number);
            (
                entity.turn_created,
                entity.entity_type.clone(),
                number,
                entity.reference.clone(),
            )
        });
    }
    context
}

/// Returns the entities as one mode shows them: tiers that it hides are empty, and data is only in
/// those that it shows in full.
#[must_use]
pub fn get_entity_context_in(
    registry: &SessionIdRegistry,
    current_turn: u32,
    mode: EntityMode,
) -> EntityContext {
    let mut context = get_entity_context(registry, current_turn).seen_as(mode.view());
    if mode == EntityMode::DoNotRead {
        for tier in context.tiers_mut() {
            tier.retain(EntitySnapshot::is_at_hand);
        }
    }
    context
}

/// The entities in context, by tier.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct EntityContext {
    /// Entities that recent turns referred to.
    pub active: Vec<EntitySnapshot>,
    /// Drafts that are not saved.
    pub generated: Vec<EntitySnapshot>,
    /// Older entities that are kept for a reason.
    pub retained: Vec<EntitySnapshot>,
}

impl EntityContext {
    /// Returns all entities, tier by tier.
    pub fn entities(&self) -> impl Iterator<Item = &EntitySnapshot> {
        self.active
            .iter()
            .chain(&self.generated)
            .chain(&self.retained)
    }

    fn tiers_mut(&mut self) -> [&mut Vec<EntitySnapshot>; 3] {
        [&mut self.active, &mut self.generated, &mut self.retained]
    }

    /// Removes everything that a view hides.
    pub(crate) fn seen_as(mut self, view: EntityView) -> Self {
        let details = [view.active, view.generated, view.retained];
        for (tier, detail) in self.tiers_mut().into_iter().zip(details) {
            if detail == EntityDetail::Hidden {
                tier.clear();
            }
            for entity in tier {
                if detail != EntityDetail::FullData {
                    entity.data = None;
                }
                if detail == EntityDetail::Refs {
                    entity.label.clone_from(&entity.reference);
                }
            }
        }
        self
    }
}

/// One entity as it stands in a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EntitySnapshot {
    /// The name that a model uses: `recipe_1`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Its type: `recipes`.
    #[serde(rename = "type")]
    pub entity_type: String,
    /// The name that a person uses.
    pub label: String,
    /// The latest operation on it.
    pub status: EntityStatus,
    /// The turn in which it was registered.
    pub turn_created: u32,
    /// The turn in which it was last referred to.
    pub turn_last_ref: u32,
    /// The reason for keeping it on purpose.
    #[serde(default)]
    pub retention_reason: Option<String>,
    /// Its data, if known: a draft's content, a row's fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl EntitySnapshot {
    /// Tells whether the session read or wrote it and its data is stored.
    fn is_at_hand(&self) -> bool {
        self.status.is_read() && self.data.is_some()
    }
}

enum Tier {
    Active,
    Generated,
    Retained,
}

fn tier_of(entity: &Entity, now: u32) -> Option<Tier> {
    if !entity.is_live() {
        return None;
    }
    // Before the questions of age and demotion: a draft is shown until it is saved or dropped.
    if entity.is_draft() {
        return Some(Tier::Generated);
    }
    let last = last_ref(entity, now);
    // News only in the turn in which it happened.
    if entity.is_deleted() {
        return (last == now).then_some(Tier::Active);
    }
    if entity.turn_demoted.is_some() {
        return None;
    }
    if now.saturating_sub(last) <= ACTIVE_WINDOW {
        return Some(Tier::Active);
    }
    entity.reason.as_ref().map(|_| Tier::Retained)
}

/// An entity of unknown age counts as new: turn 0 would make it vanish without anyone's decision.
fn last_ref(entity: &Entity, now: u32) -> u32 {
    entity.turn_last_ref.or(entity.turn_created).unwrap_or(now)
}

fn snapshot(
    registry: &SessionIdRegistry,
    reference: &str,
    entity: &Entity,
    now: u32,
) -> EntitySnapshot {
    // Labels and reasons are written by tools and models, which may put row ids into them.
    let hide = |text: &str| registry.hide_row_ids(text, UnknownIds::Hide).into_owned();
    let last = last_ref(entity, now);
    EntitySnapshot {
        reference: reference.to_owned(),
        entity_type: entity.entity_type.clone().unwrap_or_default(),
        label: entity
            .label
            .as_deref()
            .map_or_else(|| reference.to_string(), hide),
        status: entity.status.clone().unwrap_or(EntityStatus::Read),
        turn_created: entity.turn_created.unwrap_or(last),
        turn_last_ref: last,
        retention_reason: entity.reason.as_deref().map(hide),
        data: entity
            // A draft that was saved in this turn has content until the turn ends.
            .content
            .as_ref()
            .or(entity.data.as_ref())
            .map(|data| registry.hide_rows_in_data(data)),
    }
}

#[cfg(test)]
mod tests;
