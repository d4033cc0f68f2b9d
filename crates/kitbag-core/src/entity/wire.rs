//! The JSON form of a [`SessionIdRegistry`]: one map per attribute, keyed by ref.
//!
//! In memory an entity is one record, so that dropping it cannot leave an attribute behind. Every
//! attribute is optional there, as it is here, and fields that this version does not know or use
//! are kept, so that a registry loads and saves without loss.

use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::registry::{Entity, SessionIdRegistry};
use super::status::EntityStatus;
use crate::stored::null_as_default;

/// The fields of the JSON form, in the order in which they are written.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct WireRegistry {
    #[serde(deserialize_with = "null_as_default")]
    session_id: String,
    ref_to_uuid: ByKey<String>,
    uuid_to_ref: ByKey<String>,
    counters: ByKey<u64>,
    gen_counters: ByKey<u64>,
    #[serde(deserialize_with = "with_nulls")]
    pending_artifacts: ByKey<Value>,
    ref_actions: ByKey<EntityStatus>,
    ref_labels: ByKey<String>,
    ref_types: ByKey<String>,
    ref_turn_created: ByKey<u32>,
    ref_turn_last_ref: ByKey<u32>,
    #[serde(deserialize_with = "with_nulls")]
    ref_source_step: ByKey<Value>,
    ref_turn_promoted: ByKey<u32>,
    #[serde(deserialize_with = "null_as_default")]
    current_turn: u32,
    ref_active_reason: ByKey<String>,
    #[serde(skip_serializing_if = "ByKey::is_empty")]
    ref_turn_demoted: ByKey<u32>,
    #[serde(skip_serializing_if = "ByKey::is_empty")]
    ref_data: ByKey<Value>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// A map in which `null` means a missing entry, and which may be `null` itself.
#[derive(Serialize)]
struct ByKey<T>(BTreeMap<String, T>);

impl<T> ByKey<T> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for ByKey<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ByKey<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries: BTreeMap<String, Option<T>> = null_as_default(deserializer)?;
        let known = entries.into_iter();
        let known = known.filter_map(|(key, value)| Some((key, value?)));
        Ok(Self(known.collect()))
    }
}

/// Reads a map of values, in which `null` is a value.
fn with_nulls<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ByKey<Value>, D::Error> {
    null_as_default(deserializer).map(ByKey)
}

impl From<WireRegistry> for SessionIdRegistry {
    fn from(wire: WireRegistry) -> Self {
        let mut records = Records::default();
        records.put(wire.ref_to_uuid, |entity| &mut entity.row_id);
        records.put(wire.pending_artifacts, |entity| &mut entity.content);
        records.put(wire.ref_actions, |entity| &mut entity.status);
        records.put(wire.ref_labels, |entity| &mut entity.label);
        records.put(wire.ref_types, |entity| &mut entity.entity_type);
        records.put(wire.ref_turn_created, |entity| &mut entity.turn_created);
        records.put(wire.ref_turn_last_ref, |entity| &mut entity.turn_last_ref);
        records.put(wire.ref_source_step, |entity| &mut entity.source_step);
        records.put(wire.ref_turn_promoted, |entity| &mut entity.turn_promoted);
        records.put(wire.ref_active_reason, |entity| &mut entity.reason);
        records.put(wire.ref_turn_demoted, |entity| &mut entity.turn_demoted);
        records.put(wire.ref_data, |entity| &mut entity.data);
        Self {
            session_id: wire.session_id,
            current_turn: wire.current_turn,
            entities: records.0,
            ref_by_row: wire.uuid_to_ref.0,
            counters: wire.counters.0,
            gen_counters: wire.gen_counters.0,
            other: wire.other,
        }
    }
}

/// Entities by ref, while their attributes are read.
#[derive(Default)]
struct Records(BTreeMap<String, Entity>);

impl Records {
    fn put<T>(&mut self, values: ByKey<T>, field: impl Fn(&mut Entity) -> &mut Option<T>) {
        for (reference, value) in values.0 {
            // A ref that stands in one map alone makes a record too, which `Entity::is_live`
            // judges.
            *field(self.0.entry(reference).or_default()) = Some(value);
        }
    }
}

impl From<SessionIdRegistry> for WireRegistry {
    fn from(registry: SessionIdRegistry) -> Self {
        let entities = &registry.entities;
        Self {
            ref_to_uuid: collect(entities, |entity| &entity.row_id),
            pending_artifacts: collect(entities, |entity| &entity.content),
            ref_actions: collect(entities, |entity| &entity.status),
            ref_labels: collect(entities, |entity| &entity.label),
            ref_types: collect(entities, |entity| &entity.entity_type),
            ref_turn_created: collect(entities, |entity| &entity.turn_created),
            ref_turn_last_ref: collect(entities, |entity| &entity.turn_last_ref),
            ref_source_step: collect(entities, |entity| &entity.source_step),
            ref_turn_promoted: collect(entities, |entity| &entity.turn_promoted),
            ref_active_reason: collect(entities, |entity| &entity.reason),
            ref_turn_demoted: collect(entities, |entity| &entity.turn_demoted),
            ref_data: collect(entities, |entity| &entity.data),
            session_id: registry.session_id,
            uuid_to_ref: ByKey(registry.ref_by_row),
            counters: ByKey(registry.counters),
            gen_counters: ByKey(registry.gen_counters),
            current_turn: registry.current_turn,
            other: registry.other,
        }
    }
}

fn collect<T: Clone>(
    entities: &BTreeMap<String, Entity>,
    field: impl Fn(&Entity) -> &Option<T>,
) -> ByKey<T> {
    let value = |(key, entity)| Some((String::clone(key), field(entity).clone()?));
    ByKey(entities.iter().filter_map(value).collect())
}
