//! Schemas: their types in a few words, and the fields of those that have a name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::json::{entries, is_true, text, texts};
use crate::shown::{first_of, shown};

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
        let schemas = document.pointer("/components/schemas");
        let schema = schemas.and_then(|schemas| schemas.get(&name));
        let schema = schema.or_else(|| document.get("definitions")?.get(&name));
        // Schemas may refer to each other in circles.
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
    let name = text(value, "/$ref")?.rsplit('/').next()?;
    // In this order: `~01` stands for `~1`, not for a slash.
    Some(name.replace("~1", "/").replace("~0", "~"))
}

fn described(schema: &Value, depth: usize) -> String {
    if let Some(name) = name_of_ref(schema) {
        return shown(&name).into_owned();
    }
    let null = if is_true(schema, "/nullable") {
        " | null"
    } else {
        ""
    };
    plain(schema, depth) + null
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
            // Properties next to the alternatives apply to each.
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
        ("array", Some(inner)) => match schema.get("items") {
            Some(items) => format!("[{}]", described(items, inner)),
            None => "[any]".to_owned(),
        },
        ("object", _) => object(schema, depth),
        (name, _) => match text(schema, "/format") {
            Some(format) => format!("{} {}", shown(name), shown(format)),
            None => shown(name).into_owned(),
        },
    }
}

fn object(schema: &Value, depth: usize) -> String {
    let Some(inner) = depth.checked_sub(1) else {
        return "object".to_owned();
    };
    let required: BTreeSet<&str> = texts(schema, "/required").collect();
    let fields = entries(schema, "/properties").map(|(name, field)| {
        let is_required = required.contains(name.as_str());
        let mark = if is_required { "*" } else { "" };
        format!("{}{mark}: {}", shown(name), described(field, inner))
    });
    let mut texts = first_of(fields, MAX_FIELDS);
    let extra = schema
        .get("additionalProperties")
        .filter(|extra| extra.is_object());
    // A map with values of one type has no names to list.
    texts.extend(extra.map(|extra| format!("any key: {}", described(extra, inner))));
    match texts.is_empty() {
        true => "object".to_owned(),
        false => format!("{{{}}}", texts.join(", ")),
    }
}

fn listed(values: &[Value], text: impl Fn(&Value) -> String) -> Vec<String> {
    first_of(values.iter().map(text), MAX_CHOICES)
}
