//! The registration of entities that a step names. What no tool gave is not registered.

use kitbag_core::entity::{DraftMatch, SessionIdRegistry};
use serde_json::Value;

use super::answers::{Action, Named};
use crate::answer::rounds::MadeCall;
use crate::words::beginning;

/// The refs of registered entities, the data to keep of each, and the refused ones with the reason.
pub(super) type Registered = (Vec<String>, Vec<Value>, Vec<String>);

/// Registers the entities of a step.
pub(super) fn register(
    registry: &mut SessionIdRegistry,
    named: &[Named],
    calls: &[MadeCall],
    step: u32,
) -> Registered {
    let (mut refs, mut data, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for entity in named {
        match one(registry, entity, calls, step) {
            Ok(reference) => {
                if let (Some(Value::Object(mut fields)), true) =
                    (entity.data.clone(), entity.action != Action::Generated)
                {
                    fields.insert("ref".to_owned(), reference.as_str().into());
                    data.push(Value::Object(fields));
                }
                if !refs.contains(&reference) {
                    refs.push(reference);
                }
            }
            Err(problem) => problems.push(problem),
        }
    }
    (refs, data, problems)
}

fn one(
    registry: &mut SessionIdRegistry,
    entity: &Named,
    calls: &[MadeCall],
    step: u32,
) -> Result<String, String> {
    let label = beginning(&entity.label, 200);
    let kind = beginning(&entity.kind, 40);
    let id = match &entity.id {
        Some(Value::String(id)) if !id.trim().is_empty() => Some(id.trim().to_owned()),
        Some(Value::Number(id)) => Some(id.to_string()),
        _ => None,
    };
    let known = id.as_deref().and_then(|id| row(registry, id));
    if entity.action == Action::Generated {
        let content = entity.data.clone().unwrap_or_default();
        return match id {
            Some(reference) => {
                let revised = registry.revise_generated(&reference, Some(&label), content);
                revised
                    .map_err(|error| error.to_string())
                    .map(|()| reference)
            }
            None => Ok(registry.register_generated(&kind, &label, content, Some(step))),
        };
    }
    let id = id.ok_or_else(|| format!("the entity `{label}` has no id"))?;
    let row = match known {
        Some(row) => row,
        None if calls.iter().any(|call| call.mentions(&id)) => id,
        None => {
            let id = beginning(&id, 80);
            return Err(format!("no tool gave `{id}`: it is not registered"));
        }
    };
    match entity.action {
        Action::Read => Ok(registry.register_read(&row, &kind, &label)),
        Action::Updated => Ok(registry.register_updated(&row, &kind, &label)),
        Action::Linked => Ok(registry.register_linked(&row, &kind)),
        Action::Deleted => registry
            .register_deleted(&row)
            .ok_or_else(|| format!("no entity has the id `{}`", beginning(&row, 80))),
        Action::Created => {
            let draft = match &entity.draft {
                Some(reference) => DraftMatch::Ref(reference),
                None => DraftMatch::Label,
            };
            let created = registry.register_created(&row, &kind, &label, draft);
            created.map_err(|error| error.to_string())
        }
        Action::Generated => Err("a draft has no row".to_owned()),
    }
}

/// The row of an entity that is registered, by its ref or its id.
fn row(registry: &SessionIdRegistry, id: &str) -> Option<String> {
    if registry.ref_of(id).is_some() {
        return Some(id.to_owned());
    }
    registry.row_id(id).ok().map(str::to_owned)
}
