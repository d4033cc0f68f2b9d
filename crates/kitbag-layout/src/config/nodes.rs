//! The nodes of a project: views over the state of a conversation, its own or changed built-in
//! ones.

use indexmap::IndexMap;
use kitbag_core::view::{View, ViewError};
use serde_json::Value;

use super::Config;
use crate::yaml::Field;

impl Config {
    /// The view of a node: the project's, or else the built-in one. None if the project's view has
    /// errors, which are reported: the built-in view in its place would show something else.
    ///
    /// ```
    /// use kitbag_layout::Config;
    ///
    /// let text = "nodes: {critic: {conversation: {depth: full}}, act: {entity: {active: all}}}";
    /// let (config, problems) = Config::read("kitbag.yaml", text);
    /// assert_eq!(config.node("critic").unwrap().name, "critic");
    /// assert_eq!(config.node("think").unwrap().name, "think");
    /// assert!(config.node("act").is_none());
    /// assert!(problems[0].to_string().starts_with("kitbag.yaml:1:71: nodes.act.entity.active: "));
    /// ```
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&View> {
        match self.nodes.get(name) {
            Some(view) => view.as_ref(),
            None => View::builtin(name),
        }
    }
}

/// Reads a map from names to views. A view with errors is none.
pub(super) fn read_map(field: &Field<'_>) -> Option<IndexMap<String, Option<View>>> {
    field.read_entries(|entry| Some(read(entry)))
}

fn read(field: &Field<'_>) -> Option<View> {
    if !field.is_null() {
        field.map()?;
    }
    let mut value = match serde_json::to_value(field.node.to_value()) {
        Ok(value) => value,
        Err(error) => return field.error(error.to_string()),
    };
    let mut is_whole = true;
    loop {
        match View::read(field.name(), value.clone()) {
            Ok(view) => return is_whole.then_some(view),
            Err(error) => {
                is_whole = false;
                report(field, &error);
                // The rest is read again without the wrong field, so that its errors are reported
                // too. Each round removes a field, so this ends.
                remove(&mut value, &error.field)?;
            }
        }
    }
}

fn report(field: &Field<'_>, error: &ViewError) {
    let mut at = field.clone();
    for name in error.field.split('.') {
        let entry = at.entries().find(|entry| entry.name() == name);
        let Some(entry) = entry else { break };
        at = entry;
    }
    at.error::<()>(error.problem.clone());
}

/// Removes the value at a path. Returns none if there is no such value.
fn remove(value: &mut Value, path: &str) -> Option<Value> {
    match path.split_once('.') {
        Some((name, rest)) => remove(value.get_mut(name)?, rest),
        None => value.as_object_mut()?.remove(path),
    }
}
