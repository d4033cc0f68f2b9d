//! The value that a change of a file should lead to. The text that comes out is compared with it.

use serde_json::{Map, Value};

use super::tree::parse;

/// A changed text, if it says what the text before says with the change made to it.
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

pub(super) fn push(whole: &mut Value, path: &[&str], item: Value) {
    match place(whole, path) {
        Some(Value::Array(items)) => items.push(item),
        Some(place) => *place = Value::from(vec![item]),
        None => {}
    }
}

/// The place under these names, with objects on the way to it.
fn place<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, name| {
        if value.is_null() {
            *value = Value::Object(Map::new());
        }
        Some(value.as_object_mut()?.entry(*name).or_insert(Value::Null))
    })
}

/// Takes a member out, and what is empty for that, and says whether it was there.
pub(super) fn remove(value: &mut Value, path: &[&str]) -> bool {
    let (Some(members), [name, deeper @ ..]) = (value.as_object_mut(), path) else {
        return false;
    };
    let Some(member) = members.get_mut(*name) else {
        return false;
    };
    let is_removed = deeper.is_empty() || remove(member, deeper);
    let is_empty = member.as_object().is_some_and(Map::is_empty);
    if deeper.is_empty() || (is_removed && is_empty) {
        members.remove(*name);
    }
    is_removed
}

/// Takes items out of a list, likewise.
pub(super) fn remove_items(whole: &mut Value, path: &[&str], is_meant: impl Fn(&Value) -> bool) {
    let list = path
        .iter()
        .try_fold(&mut *whole, |value, name| value.get_mut(name));
    if let Some(Value::Array(items)) = list {
        items.retain(|item| !is_meant(item));
        if items.is_empty() {
            remove(whole, path);
        }
    }
}
