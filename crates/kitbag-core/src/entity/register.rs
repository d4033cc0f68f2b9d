//! Registration of entities: rows that are read, linked, created, changed or deleted, and drafts.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use super::error::RegistryError;
use super::refs::{DRAFT_PREFIX, ref_stem};
use super::registry::{Entity, SessionIdRegistry};
use super::status::{EntityStatus, UserAction};

/// The draft that a created row is the saved form of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftMatch<'a> {
    /// The draft with this ref.
    Ref(&'a str),
    /// The only draft of the same type whose label is the row's, trimmed and in any case; no
    /// draft if there is none.
    Label,
    /// No draft.
    New,
}

impl SessionIdRegistry {
    /// Registers a row that was read, and returns its ref.
    pub fn register_read(&mut self, row_id: &str, entity_type: &str, label: &str) -> String {
        self.register(row_id, entity_type, label, EntityStatus::Read)
    }

    /// Registers a row that another row points to. Its label is its ref until it is read.
    pub fn register_linked(&mut self, row_id: &str, entity_type: &str) -> String {
        self.register(row_id, entity_type, "", EntityStatus::Linked)
    }

    /// Registers a row that was changed, and returns its ref.
    pub fn register_updated(&mut self, row_id: &str, entity_type: &str, label: &str) -> String {
        self.register(row_id, entity_type, label, EntityStatus::Updated)
    }

    /// Registers the user's action on a row outside the conversation, and returns the row's ref.
    pub fn register_user_action(
        &mut self,
        row_id: &str,
        entity_type: &str,
        label: &str,
        action: UserAction,
    ) -> String {
        self.register(row_id, entity_type, label, EntityStatus::ByUser(action))
    }

    /// Registers the deletion of a row, and returns the ref that it had; `None` if it had none.
    pub fn register_deleted(&mut self, row_id: &str) -> Option<String> {
        // A row that no model has seen needs no ref by which to speak of its end.
        let is_known = self.ref_by_row.contains_key(row_id);
        is_known.then(|| self.register(row_id, "", "", EntityStatus::Deleted))
    }

    /// Registers a draft with its content, and returns its ref.
    pub fn register_generated(
        &mut self,
        entity_type: &str,
        label: &str,
        content: Value,
        source_step: Option<u32>,
    ) -> String {
        let reference = self.mint(entity_type, DRAFT_PREFIX);
        // Stands in for the row id that a draft does not have.
        let row = format!("__pending__{reference}");
        self.ref_by_row.insert(row.clone(), reference.clone());
        self.register(&row, entity_type, label, EntityStatus::Generated);
        if let Some(entity) = self.entities.get_mut(&reference) {
            entity.content = Some(content);
            entity.source_step = source_step.map(Value::from);
        }
        reference
    }

    /// Replaces the content of a draft, and its label if one is given.
    ///
    /// # Errors
    /// If there is no such draft.
    pub fn revise_generated(
        &mut self,
        reference: &str,
        label: Option<&str>,
        content: Value,
    ) -> Result<(), RegistryError> {
        let turn = self.current_turn;
        let entity = self.draft_mut(reference)?;
        set_label(entity, label.unwrap_or_default());
        entity.content = Some(content);
        entity.touch(turn);
        Ok(())
    }

    /// Registers a row that was created, and returns its ref: that of the draft it came from, if
    /// there is one.
    ///
    /// A row that has a ref keeps it, and no draft is looked for by label then.
    ///
    /// # Errors
    /// If the named draft does not exist or is saved already, and if several drafts have the
    /// row's label: none is guessed, nothing has changed, and the error names them all, so that
    /// the caller can say which, or [`DraftMatch::New`].
    pub fn register_created(
        &mut self,
        row_id: &str,
        entity_type: &str,
        label: &str,
        draft: DraftMatch<'_>,
    ) -> Result<String, RegistryError> {
        let reference = match draft {
            DraftMatch::Ref(reference) => Some(reference.to_owned()),
            DraftMatch::Label if !self.ref_by_row.contains_key(row_id) => {
                self.draft_called(entity_type, label)?
            }
            DraftMatch::Label | DraftMatch::New => None,
        };
        match reference {
            Some(reference) => {
                self.promote(&reference, row_id, label)?;
                Ok(reference)
            }
            None => Ok(self.register(row_id, entity_type, label, EntityStatus::Created)),
        }
    }

    /// Turns a draft into the row that it was saved as, under the same ref. Its content becomes the
    /// row's data when the turn ends; an empty `label` keeps the draft's own.
    ///
    /// # Errors
    /// If there is no such draft, or the row has another ref.
    pub(super) fn promote(
        &mut self,
        reference: &str,
        row_id: &str,
        label: &str,
    ) -> Result<(), RegistryError> {
        let turn = self.current_turn;
        let existing = self.ref_by_row.get(row_id).cloned();
        let entity = self.draft_mut(reference)?;
        if let Some(existing) = existing.filter(|existing| existing != reference) {
            let reference = reference.to_owned();
            return Err(RegistryError::RowHasRef {
                reference,
                existing,
            });
        }
        entity.row_id = Some(row_id.to_owned());
        entity.status = Some(EntityStatus::Created);
        entity.turn_promoted = Some(turn);
        set_label(entity, label);
        entity.touch(turn);
        // The draft's stand-in for a row id points to the ref no longer.
        self.ref_by_row.retain(|_, mapped| mapped != reference);
        self.ref_by_row
            .insert(row_id.to_owned(), reference.to_owned());
        Ok(())
    }

    fn register(
        &mut self,
        row_id: &str,
        entity_type: &str,
        label: &str,
        status: EntityStatus,
    ) -> String {
        let known = self.ref_by_row.get(row_id).cloned();
        let reference = known.unwrap_or_else(|| self.mint(entity_type, ""));
        self.ref_by_row.insert(row_id.to_owned(), reference.clone());
        let turn = self.current_turn;
        let entity = self.entities.entry(reference.clone());
        let entity = entity.or_insert_with_key(|reference| Entity {
            label: Some(reference.clone()),
            turn_created: Some(turn),
            ..Entity::default()
        });
        entity.row_id.get_or_insert_with(|| row_id.to_owned());
        let known_type = &mut entity.entity_type;
        known_type.get_or_insert_with(|| entity_type.to_owned());
        set_label(entity, label);
        entity.touch(turn);
        match status {
            // The data that was read before the change may be wrong now.
            EntityStatus::Updated | EntityStatus::ByUser(UserAction::Updated) => entity.data = None,
            // A deleted row gives up its ref.
            EntityStatus::Deleted | EntityStatus::ByUser(UserAction::Deleted) => {
                entity.row_id = None;
                entity.content = None;
                entity.data = None;
                entity.reason = None;
                self.ref_by_row.retain(|_, mapped| *mapped != reference);
            }
            _ => {}
        }
        if replaces(&status, entity.status.as_ref()) {
            entity.status = Some(status);
        }
        reference
    }

    /// Returns the next ref of a type, past every ref that exists: a loaded registry may lack its
    /// counters.
    fn mint(&mut self, entity_type: &str, prefix: &str) -> String {
        let stem = ref_stem(entity_type);
        let counters = match prefix {
            DRAFT_PREFIX => &mut self.gen_counters,
            _ => &mut self.counters,
        };
        let count = counters.entry(stem.clone()).or_default();
        loop {
            *count = count.saturating_add(1);
            let reference = format!("{prefix}{stem}_{count}");
            if !self.entities.contains_key(&reference) {
                return reference;
            }
        }
    }

    /// Returns the only draft of a type with a label.
    fn draft_called(
        &self,
        entity_type: &str,
        label: &str,
    ) -> Result<Option<String>, RegistryError> {
        let (stem, wanted) = (ref_stem(entity_type), label.trim().to_lowercase());
        // `recipe` and `recipes` give the same refs, so they are one type here.
        let same_type = |other: &String| ref_stem(other) == stem;
        let same_label = |other: &String| other.trim().to_lowercase() == wanted;
        let drafts = self.entities.iter().filter(|(_, entity)| {
            entity.is_draft()
                && entity.entity_type.as_ref().is_some_and(same_type)
                && entity.label.as_ref().is_some_and(same_label)
        });
        let mut references: Vec<String> = drafts.map(|(reference, _)| reference.clone()).collect();
        if references.len() > 1 {
            return Err(RegistryError::AmbiguousDraft {
                label: label.to_owned(),
                references,
            });
        }
        Ok(references.pop())
    }

    fn draft_mut(&mut self, reference: &str) -> Result<&mut Entity, RegistryError> {
        let entity = self.live_mut(reference)?;
        if entity.is_draft() {
            return Ok(entity);
        }
        Err(RegistryError::NotADraft {
            reference: reference.to_owned(),
            // An entity that was loaded without a status counts as read, as it does when it is
            // shown.
            status: entity.status.clone().unwrap_or(EntityStatus::Read),
        })
    }
}

fn set_label(entity: &mut Entity, label: &str) {
    // Steps that know no label pass an empty one, which must not erase what is known.
    if !label.trim().is_empty() {
        entity.label = Some(label.to_owned());
    }
}

/// Tells whether a new status replaces the old one: reading a row never hides that it was written,
/// and pointing at it never hides that it was read.
fn replaces(new: &EntityStatus, old: Option<&EntityStatus>) -> bool {
    let Some(old) = old else { return true };
    match new {
        EntityStatus::Linked | EntityStatus::ByUser(UserAction::Mentioned) => false,
        EntityStatus::Read => !old.is_written(),
        _ => true,
    }
}
