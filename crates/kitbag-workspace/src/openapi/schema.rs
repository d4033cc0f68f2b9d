//! Schemas: their types in a few words, and the fields of those that have a name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::text_at;
use crate::structure::shown;

/// More fields of one schema than this are left out.
const MAX_FIELDS: usize = 40;

/// More values or alternatives than this are left out.
const MAX_CHOICES: usize = 8;

/// Objects within objects are opened this far.
const MAX_DEPTH: usize = 2;

/// The type of a value: `integer`, `[Pet]`, `Cat | Dog`, `{name*: string}`.
pub(super) fn type_of(schema: &Value) -> String {
    described(schema, MAX_DEPTH)
}

/// A schema that has a name, as a line.
pub(super) fn definition(name: &str, schema: &Value) -> String {
    format!("{} = {}\n", shown(name), described(schema, MAX_DEPTH + 1))
}

/// The schemas that are used, and those that these use in turn, by name.
pub(super) fn reachable(document: &Value, used: BTreeSet<String>) -> BTreeMap<String, &Value> {
    let mut found = BTreeMap::new();
    let mut waiting: Vec<String> = used.into_iter().collect();
    while let Some(name) = waiting.pop() {
        let places = [
            document.pointer("/components/schemas"),
            document.get("definitions"),
        ];
        let schema = places
            .into_iter()
            .flatten()
            .find_map(|schemas| schemas.get(&name));
        if let Some(schema) = schema.filter(|_| !found.contains_key(&name)) {
            let mut inner = BTreeSet::new();
            collect(schema, &mut inner);
            waiting.extend(inner);
            found.insert(name, schema);
        }
    }
    found
}

/// Adds the names of all schemas that a schema refers to.
pub(super) fn collect(schema: &Value, names: &mut BTreeSet<String>) {
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        names.extend(name_of_ref(value));
        match value {
            Value::Object(fields) => waiting.extend(fields.values()),
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
}

/// The last part of what a value refers to, if it is a reference.
pub(super) fn name_of_ref(value: &Value) -> Option<String> {
    let target = text_at(value, "/$ref")?;
    let name = target.rsplit('/').next()?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

fn described(schema: &Value, depth: usize) -> String {
    if let Some(name) = name_of_ref(schema) {
        return shown(&name).into_owned();
    }
    let mut text = plain(schema, depth);
    if schema.get("nullable").and_then(Value::as_bool) == Some(true) {
        text.push_str(" | null");
    }
    text
}

fn plain(schema: &Value, depth: usize) -> String {
    for (key, mark) in [("allOf", " & "), ("oneOf", " | "), ("anyOf", " | ")] {
        if let Some(parts) = schema.get(key).and_then(Value::as_array) {
            let Some(inner) = depth.checked_sub(1) else {
                return "…".to_owned();
            };
            let mut texts = listed(parts, |part| match described(part, inner) {
                choice if key == "allOf" && choice.contains(" | ") => format!("({choice})"),
                part => part,
            });
            // What stands beside the alternatives applies to each.
            texts.extend(schema.get("properties").map(|_| object(schema, inner)));
            return texts.join(mark);
        }
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return listed(values, |value| shown(&value.to_string()).into_owned()).join(" | ");
    }
    if let Some(value) = schema.get("const") {
        return shown(&value.to_string()).into_owned();
    }
    match schema.get("type") {
        Some(Value::String(name)) => named(name, schema, depth),
        Some(Value::Array(names)) => listed(names, |name| {
            named(name.as_str().unwrap_or("?"), schema, depth)
        })
        .join(" | "),
        _ if schema.get("properties").is_some() => object(schema, depth),
        _ if schema.get("items").is_some() => named("array", schema, depth),
        _ => "any".to_owned(),
    }
}

fn named(name: &str, schema: &Value, depth: usize) -> String {
    match (name, depth.checked_sub(1)) {
        ("array", Some(inner)) => {
            let items = schema.get("items");
            format!(
                "[{}]",
                items.map_or("any".to_owned(), |items| described(items, inner))
            )
        }
        ("object", _) => object(schema, depth),
        (name, _) => match text_at(schema, "/format") {
            Some(format) => format!("{} {}", shown(name), shown(format)),
            None => shown(name).into_owned(),
        },
    }
}

fn object(schema: &Value, depth: usize) -> String {
    let Some(inner) = depth.checked_sub(1) else {
        return "object".to_owned();
    };
    let required: BTreeSet<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let fields = schema.get("properties").and_then(Value::as_object);
    let mut texts: Vec<String> = fields
        .into_iter()
        .flatten()
        .take(MAX_FIELDS)
        .map(|(name, field)| {
            let mark = if required.contains(name.as_str()) {
                "*"
            } else {
                ""
            };
            format!("{}{mark}: {}", shown(name), described(field, inner))
        })
        .collect();
    let more = fields.map_or(0, |fields| fields.len().saturating_sub(MAX_FIELDS));
    if more > 0 {
        texts.push(format!("… {more} more"));
    }
    match schema
        .get("additionalProperties")
        .filter(|extra| extra.is_object())
    {
        Some(extra) => texts.push(format!("any key: {}", described(extra, inner))),
        None if texts.is_empty() => return "object".to_owned(),
        None => {}
    }
    format!("{{{}}}", texts.join(", "))
}

fn listed(values: &[Value], text: impl Fn(&Value) -> String) -> Vec<String> {
    let mut texts: Vec<String> = values.iter().take(MAX_CHOICES).map(text).collect();
    if values.len() > MAX_CHOICES {
        texts.push(format!("… {} more", values.len() - MAX_CHOICES));
    }
    texts
}
