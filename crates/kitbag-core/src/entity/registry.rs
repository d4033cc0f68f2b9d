//! The registry of a session's entities: the row behind each ref, and its changes.
//!
//! A model sees refs (`recipe_1`) and never row ids. Rules:
//! - A ref is minted per type and counted from 1; drafts have their own count (`gen_recipe_1`). A
//!   row that has a ref keeps it, and a ref is never given out twice, not even after
//!   [`SessionIdRegistry::drop_ref`] or [`SessionIdRegistry::clear_all`]: a dropped row that is read
//!   again gets a new ref.
//! - A read does not undo what the session wrote: `created` and `updated` stand for as long as the
//!   entity is registered, since "this exists already, do not save it again" does not wear off. Of
//!   two writes the later one stands.
//! - A draft stays until it is saved or dropped, whatever its age.
//! - A deleted row loses its ref at once and is reported, as deleted, during that turn only.
//! - A dropped entity leaves nothing behind but its number.
//!
//! Turn 0 is a turn like any other. What the registry does not do: read rows, choose what to
//! retain (see [`super::apply_curation`]), or show anything (see [`super::format_entity_context`]).

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::RegistryError;
use super::refs::is_mentioned;
use super::status::EntityStatus;
use super::wire::WireRegistry;

/// The entities of one session: refs, rows, statuses, drafts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "WireRegistry", into = "WireRegistry")]
pub struct SessionIdRegistry {
    pub(super) session_id: String,
    pub(super) current_turn: u32,
    pub(super) entities: BTreeMap<String, Entity>,
    pub(super) ref_by_row: BTreeMap<String, String>,
    pub(super) counters: BTreeMap<String, u64>,
    pub(super) gen_counters: BTreeMap<String, u64>,
    pub(super) other: Map<String, Value>,
}

/// All that is known of one ref; each field is one map of the JSON form.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Entity {
    pub(super) row_id: Option<String>,
    pub(super) status: Option<EntityStatus>,
    pub(super) label: Option<String>,
    pub(super) entity_type: Option<String>,
    pub(super) turn_created: Option<u32>,
    pub(super) turn_last_ref: Option<u32>,
    pub(super) source_step: Option<Value>,
    pub(super) turn_promoted: Option<u32>,
    pub(super) turn_demoted: Option<u32>,
    pub(super) reason: Option<String>,
    /// The content of a draft.
    pub(super) content: Option<Value>,
    /// The row's data, as steps found it.
    pub(super) data: Option<Value>,
}

impl Entity {
    /// Tells an entity from a remainder: registries written by others may hold labels of refs that
    /// they removed. These are kept in the JSON and shown nowhere.
    pub(super) fn is_live(&self) -> bool {
        self.row_id.is_some() || self.is_deleted()
    }

    pub(super) fn is_draft(&self) -> bool {
        self.status == Some(EntityStatus::Generated) && self.row_id.is_some()
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.status.as_ref().is_some_and(EntityStatus::is_deleted)
    }

    pub(super) fn touch(&mut self, turn: u32) {
        self.turn_last_ref = Some(turn);
        self.turn_demoted = None;
    }
}

impl SessionIdRegistry {
    /// Creates an empty registry, at turn 0.
    #[must_use]
    pub fn new(session_id: impl Into<String>) -> Self {
        Self {
            session_id: session_id.into(),
            ..Self::default()
        }
    }

    /// Returns the session it belongs to.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session_id
    }

    /// Returns the turn that registrations are stamped with.
    #[must_use]
    pub fn current_turn(&self) -> u32 {
        self.current_turn
    }

    /// Begins a turn, to which later registrations belong.
    pub(crate) fn begin_turn(&mut self, turn: u32) {
        self.current_turn = turn;
    }

    /// Ends the turn: the content of saved drafts becomes the data of their rows, data that no tier
    /// of the next turn shows is dropped, and deleted entities are forgotten.
    pub(crate) fn end_turn(&mut self) {
        let next = self.current_turn.saturating_add(1);
        for entity in self.entities.values_mut() {
            if entity.turn_promoted.is_some() && !entity.is_draft() {
                let content = entity.content.take();
                // Data that a step has read since is newer than the draft's content.
                entity.data = entity.data.take().or(content);
            }
            // Otherwise a long session would store every row that it ever read.
            if super::tier_of(entity, next).is_none() {
                entity.data = None;
            }
        }
        let deleted = self
            .entities
            .iter()
            .filter(|(_, entity)| entity.is_deleted());
        let deleted: Vec<String> = deleted.map(|(reference, _)| reference.clone()).collect();
        for reference in deleted {
            self.forget(&reference);
        }
    }

    /// Marks every entity whose ref stands in `text` as a word of its own as referred to in this
    /// turn, and returns the refs. It is active again, even if it was demoted.
    pub fn touch_mentioned(&mut self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        let mut touched = Vec::new();
        for (reference, entity) in &mut self.entities {
            if entity.is_live() && !entity.is_deleted() && is_mentioned(&text, reference) {
                entity.touch(self.current_turn);
                touched.push(reference.clone());
            }
        }
        touched
    }

    /// Keeps an entity in context, for a reason, when it grows old. Retaining it refers to it, so
    /// that it is active now, whatever its age.
    pub(crate) fn retain(&mut self, reference: &str, reason: &str) -> Result<(), RegistryError> {
        let turn = self.current_turn;
        let entity = self.live_mut(reference)?;
        entity.reason = Some(reason.to_owned());
        entity.touch(turn);
        Ok(())
    }

    /// Takes an entity out of the context: its reason goes, and it is no longer active even if it
    /// is recent. It stays registered, and a touch or a registration brings it back. A draft stays
    /// in context.
    pub(crate) fn demote(&mut self, reference: &str) -> Result<(), RegistryError> {
        let turn = self.current_turn;
        let entity = self.live_mut(reference)?;
        entity.reason = None;
        entity.turn_demoted = Some(turn);
        Ok(())
    }

    /// Removes an entity, draft or not, and everything that is known of it.
    ///
    /// # Errors
    /// If no entity has this ref.
    pub fn drop_ref(&mut self, reference: &str) -> Result<(), RegistryError> {
        if !self.entities.contains_key(reference) {
            return Err(RegistryError::unknown(reference));
        }
        self.forget(reference);
        Ok(())
    }

    /// Removes every entity, drafts included, and returns their refs. The counters stay.
    pub(crate) fn clear_all(&mut self) -> Vec<String> {
        let all: Vec<String> = self.entities.keys().cloned().collect();
        for reference in &all {
            self.forget(reference);
        }
        // Also rows whose entity was missing when the registry was loaded.
        self.ref_by_row.clear();
        all
    }

    /// Returns the ref of a row.
    #[must_use]
    pub fn ref_of(&self, row_id: &str) -> Option<&str> {
        self.ref_by_row.get(row_id).map(String::as_str)
    }

    /// Keeps the data of every row in a step's result that has a ref, and returns the refs.
    ///
    /// A row is an object with the id of a registered one, or its ref, in the result or in lists
    /// and objects around it. Objects inside a row are skipped: they are often mere pointers, whose
    /// few fields would pass for the whole row. Fields that were read before and are not in the
    /// result stay.
    pub(crate) fn keep_rows(&mut self, result: &Value) -> Vec<String> {
        let fields = match result {
            Value::Array(items) => {
                return items.iter().flat_map(|item| self.keep_rows(item)).collect();
            }
            Value::Object(fields) => fields,
            _ => return Vec::new(),
        };
        let Some(reference) = self.ref_in(fields) else {
            let inner = fields.values();
            return inner.flat_map(|value| self.keep_rows(value)).collect();
        };
        let Ok(entity) = self.live_mut(&reference) else {
            return Vec::new();
        };
        let data = entity.data.get_or_insert_with(|| Value::Object(Map::new()));
        match data.as_object_mut() {
            // A step may read only some fields of a row.
            Some(known) => known.extend(fields.clone()),
            None => *data = result.clone(),
        }
        Vec::from([reference])
    }

    fn ref_in(&self, fields: &Map<String, Value>) -> Option<String> {
        let named = |name: &str| match fields.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let row = ["id", "uuid", "ref"].into_iter().find_map(named)?;
        let known = self.entities.get_key_value(&row).map(|(key, _)| key);
        self.ref_by_row.get(&row).or(known).cloned()
    }

    /// Returns every ref with its label, in the order of the refs.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        let live = self.entities.iter().filter(|(_, entity)| entity.is_live());
        live.map(|(reference, entity)| {
            (
                reference.as_str(),
                entity.label.as_deref().unwrap_or_default(),
            )
        })
    }

    pub(super) fn live_mut(&mut self, reference: &str) -> Result<&mut Entity, RegistryError> {
        let entity = self.entities.get_mut(reference);
        entity
            .filter(|entity| entity.is_live() && !entity.is_deleted())
            .ok_or_else(|| RegistryError::unknown(reference))
    }

    fn forget(&mut self, reference: &str) {
        self.entities.remove(reference);
        self.ref_by_row.retain(|_, mapped| mapped != reference);
        // A field that this version does not know may be one more map keyed by ref.
        for map in self.other.values_mut().filter_map(Value::as_object_mut) {
            map.remove(reference);
        }
    }
}
