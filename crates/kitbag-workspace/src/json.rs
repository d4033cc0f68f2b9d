//! Reads values by JSON pointers. What is there with another type counts as missing.

use serde_json::Value;

/// The string at a pointer.
pub(crate) fn text<'v>(value: &'v Value, pointer: &str) -> Option<&'v str> {
    value.pointer(pointer)?.as_str()
}

/// Tells if there is `true` at a pointer.
pub(crate) fn is_true(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer) == Some(&Value::Bool(true))
}

/// The items of the list at a pointer.
pub(crate) fn items<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> {
    let list = value.pointer(pointer).and_then(Value::as_array);
    list.into_iter().flatten()
}

/// The strings of the list at a pointer.
pub(crate) fn texts<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = &'v str> {
    items(value, pointer).filter_map(Value::as_str)
}

/// The names and values of the object at a pointer.
pub(crate) fn entries<'v>(
    value: &'v Value,
    pointer: &str,
) -> impl Iterator<Item = (&'v String, &'v Value)> {
    let object = value.pointer(pointer).and_then(Value::as_object);
    object.into_iter().flatten()
}
