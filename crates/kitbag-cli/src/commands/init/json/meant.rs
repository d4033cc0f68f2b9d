//! The expected value of a changed file. The changed text is compared with it.

use serde_json::{Map, Value};

use super::tree::parse;

/// The changed text, if its value is that of the former text with the change.
///
/// # Errors
/// When it does not. A name that stands twice in an object can lead to that.
pub(super) fn checked(
    before: &str,
    changed: String,
    change: impl FnOnce(&mut Value),
) -> Result<String, String> {
    let mut expected = whole(before)?;
    change(&mut expected);
    match whole(&changed) {
        Ok(value) if value == expected => Ok(changed),
        // The file belongs to another program: rather no change than one that was not meant.
        _ => Err("the change would damage it; a name that stands twice leads to that".to_owned()),
    }
}

/// Returns the value of a whole text; an empty one is an empty object.
fn whole(text: &str) -> Result<Value, String> {
    match text.trim().is_empty() {
        true => Ok(Value::Object(Map::new())),
        false => parse(text)?.value(text),
    }
}

pub(super) fn set(whole: &mut Value, path: &[&str], value: Value) {
    if let Some(place) = place(whole, path) {
        *place = value;
    }
}

pub(super) fn push(
    whole: &mut Value,
    path: &[&str],
    item: Value,
    is_same: impl Fn(&Value) -> bool,
) {
    match place(whole, path) {
        Some(Value::Array(items)) => {
            let first = items.iter().position(&is_same);
            let at = first.unwrap_or(items.len());
            items.retain(|item| !is_same(item));
            items.insert(at, item);
        }
        Some(place) => *place = Value::from(vec![item]),
        None => {}
    }
}

/// The place under these names, with objects on the way to it.
fn place<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, name| {
        // A missing or null value on the way becomes an object, as the edit of the text makes it.
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        Some(value.as_object_mut()?.entry(*name).or_insert(Value::Null))
    })
}

/// Removes a member of an object; with no names, all members.
pub(super) fn remove(whole: &mut Value, path: &[&str]) {
    let Some((name, above)) = path.split_last() else {
        *whole = Value::Object(Map::new());
        return;
    };
    let above = above
        .iter()
        .try_fold(whole, |value, name| value.get_mut(name));
    if let Some(Value::Object(members)) = above {
        members.remove(*name);
    }
}

/// Removes items from a list.
pub(super) fn remove_items(whole: &mut Value, path: &[&str], is_meant: impl Fn(&Value) -> bool) {
    let list = path
        .iter()
        .try_fold(whole, |value, name| value.get_mut(name));
    if let Some(Value::Array(items)) = list {
        items.retain(|item| !is_meant(item));
    }
}
