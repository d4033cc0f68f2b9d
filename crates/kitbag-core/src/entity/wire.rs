//! The JSON form of an [`SessionIdRegistry`]: one map per attribute, keyed by ref.
//!
//! In memory an entity is one record, so that dropping it cannot leave an attribute behind. Every
//! attribute is optional there, as it is here, and fields that this version does not know are
//! kept, so that a registry loads and saves without loss.

use alloc::collections::BTreeMap;
use alloc::string::String;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::registry::{Entity, SessionIdRegistry};
use super::status::EntityStatus;
use crate::stored::null_as_default;

type ByRef<T> = BTreeMap<String, T>;

/// The fields of the JSON form, in the order in which they are written.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct WireRegistry {
    #[serde(deserialize_with = "null_as_default")]
    session_id: String,
    #[serde(deserialize_with = "without_nulls")]
    ref_to_uuid: ByRef<String>,
    #[serde(deserialize_with = "without_nulls")]
    uuid_to_ref: BTreeMap<String, String>,
    #[serde(deserialize_with = "without_nulls")]
    counters: BTreeMap<String, u64>,
    #[serde(deserialize_with = "without_nulls")]
    gen_counters: BTreeMap<String, u64>,
    #[serde(deserialize_with = "null_as_default")]
    pending_artifacts: ByRef<Value>,
    #[serde(deserialize_with = "without_nulls")]
    ref_actions: ByRef<EntityStatus>,
    #[serde(deserialize_with = "without_nulls")]
    ref_labels: ByRef<String>,
    #[serde(deserialize_with = "without_nulls")]
    ref_types: ByRef<String>,
    #[serde(deserialize_with = "null_as_default")]
    ref_detail_tracking: ByRef<Value>,
    #[serde(deserialize_with = "without_nulls")]
    ref_turn_created: ByRef<u32>,
    #[serde(deserialize_with = "without_nulls")]
    ref_turn_last_ref: ByRef<u32>,
    #[serde(deserialize_with = "null_as_default")]
    ref_source_step: ByRef<Value>,
    #[serde(deserialize_with = "without_nulls")]
    ref_turn_promoted: ByRef<u32>,
    #[serde(deserialize_with = "null_as_default")]
    current_turn: u32,
    #[serde(deserialize_with = "without_nulls")]
    ref_active_reason: ByRef<String>,
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "without_nulls"
    )]
    ref_turn_demoted: ByRef<u32>,
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "without_nulls"
    )]
    ref_data: ByRef<Value>,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Reads a map in which `null` says what a missing entry does.
fn without_nulls<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let entries: BTreeMap<String, Option<T>> = null_as_default(deserializer)?;
    let known = entries.into_iter();
    Ok(known
        .filter_map(|(key, value)| Some((key, value?)))
        .collect())
}

impl From<WireRegistry> for SessionIdRegistry {
    fn from(wire: WireRegistry) -> Self {
        let mut entities = BTreeMap::new();
        spread(&mut entities, wire.ref_to_uuid, |entity| &mut entity.row_id);
        spread(&mut entities, wire.pending_artifacts, |entity| {
            &mut entity.content
        });
        spread(&mut entities, wire.ref_actions, |entity| &mut entity.status);
        spread(&mut entities, wire.ref_labels, |entity| &mut entity.label);
        spread(&mut entities, wire.ref_types, |entity| {
            &mut entity.entity_type
        });
        spread(&mut entities, wire.ref_detail_tracking, |entity| {
            &mut entity.detail
        });
        spread(&mut entities, wire.ref_turn_created, |entity| {
            &mut entity.turn_created
        });
        spread(&mut entities, wire.ref_turn_last_ref, |entity| {
            &mut entity.turn_last_ref
        });
        spread(&mut entities, wire.ref_source_step, |entity| {
            &mut entity.source_step
        });
        spread(&mut entities, wire.ref_turn_promoted, |entity| {
            &mut entity.turn_promoted
        });
        spread(&mut entities, wire.ref_active_reason, |entity| {
            &mut entity.reason
        });
        spread(&mut entities, wire.ref_turn_demoted, |entity| {
            &mut entity.turn_demoted
        });
        spread(&mut entities, wire.ref_data, |entity| &mut entity.data);
        Self {
            session_id: wire.session_id,
            current_turn: wire.current_turn,
            entities,
            ref_by_row: wire.uuid_to_ref,
            counters: wire.counters,
            gen_counters: wire.gen_counters,
            other: wire.other,
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
            ref_detail_tracking: collect(entities, |entity| &entity.detail),
            ref_turn_created: collect(entities, |entity| &entity.turn_created),
            ref_turn_last_ref: collect(entities, |entity| &entity.turn_last_ref),
            ref_source_step: collect(entities, |entity| &entity.source_step),
            ref_turn_promoted: collect(entities, |entity| &entity.turn_promoted),
            ref_active_reason: collect(entities, |entity| &entity.reason),
            ref_turn_demoted: collect(entities, |entity| &entity.turn_demoted),
            ref_data: collect(entities, |entity| &entity.data),
            session_id: registry.session_id,
            uuid_to_ref: registry.ref_by_row,
            counters: registry.counters,
            gen_counters: registry.gen_counters,
            current_turn: registry.current_turn,
            other: registry.other,
        }
    }
}

fn spread<T>(
    entities: &mut ByRef<Entity>,
    values: ByRef<T>,
    field: impl Fn(&mut Entity) -> &mut Option<T>,
) {
    for (reference, value) in values {
        *field(entities.entry(reference).or_default()) = Some(value);
    }
}

fn collect<T: Clone>(entities: &ByRef<Entity>, field: impl Fn(&Entity) -> &Option<T>) -> ByRef<T> {
    let value = |(reference, entity): (&String, &Entity)| {
        field(entity)
            .clone()
            .map(|value| (reference.clone(), value))
    };
    entities.iter().filter_map(value).collect()
}
