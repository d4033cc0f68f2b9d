//! Changes a file of JSON in place: what is there keeps its bytes, with comments, blanks and commas at the ends of
//! lists, which several agents allow.
//!
//! Adding and removing are each other's inverse: the file is the same afterwards, unless it had an empty
//! object or list in the place. What comes out is read again, and is an error unless it says exactly what was
//! meant.

mod edit;
mod meant;
mod tree;

use serde::{Serialize, Serializer};
use serde_json::Value;

use edit::{added, emptied, taken_out};
use meant::checked;
use tree::{Node, parse};

/// The value of a member; none where there is none.
pub(super) fn get(text: &str, path: &[&str]) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let tree = parse(text)?;
    tree.at(path).map(|node| node.value(text)).transpose()
}

/// Sets a member of an object, which is made where it is missing; an empty text is an empty object.
pub(super) fn set(text: &str, path: &[&str], value: &impl Serialize) -> Result<String, String> {
    let tree = parse(text)?;
    let changed = match tree.at(path) {
        Some(node) if node.value(text)? == read(value)? => return Ok(text.to_owned()),
        // Taken out and added, so that there is one way of writing a member.
        Some(_) => set_missing(&remove(text, path)?, path, value)?,
        None => set_missing(text, path, value)?,
    };
    let value = read(value)?;
    checked(text, changed, |whole| meant::set(whole, path, value))
}

/// Adds an item to a list, which is made where it is missing, unless the list has it. Others that it
/// stands for are taken out.
pub(super) fn push(
    text: &str,
    path: &[&str],
    item: &impl Serialize,
    is_same: impl Fn(&Value) -> bool + Copy,
) -> Result<String, String> {
    let tree = parse(text)?;
    if let Some(list) = tree.at(path) {
        let items = list.value(text)?;
        let items = items.as_array().into_iter().flatten();
        let ours: Vec<&Value> = items.filter(|item| is_same(item)).collect();
        // Unchanged bytes for a file that is set up already.
        if ours == [&read(item)?] {
            return Ok(text.to_owned());
        }
    }
    // An older entry of ours would run the hook twice.
    let text = remove_items(text, path, is_same)?;
    let tree = parse(&text)?;
    let changed = match tree.at(path) {
        Some(list @ Node::Array { .. }) => added(&text, list, None, item)?,
        Some(_) => return Err(format!("`{}` is no list", path.join("."))),
        None => set_missing(&text, path, &[item])?,
    };
    let item = read(item)?;
    checked(&text, changed, |whole| meant::push(whole, path, item))
}

/// Takes a member out of an object, and what is empty for that; nothing of a file that is empty for that.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, String> {
    let tree = parse(text)?;
    let changed = match tree.way_to(path) {
        Some(way) => without(text, &way),
        None => text.to_owned(),
    };
    checked(text, changed, |whole| {
        meant::remove(whole, path);
    })
}

/// Takes items out of a list, likewise.
pub(super) fn remove_items(
    text: &str,
    path: &[&str],
    is_meant: impl Fn(&Value) -> bool + Copy,
) -> Result<String, String> {
    // One at a time: each change moves the places of the others.
    let mut changed = text.to_owned();
    loop {
        let tree = parse(&changed)?;
        let (Some(mut way), Some(list @ Node::Array { .. })) = (tree.way_to(path), tree.at(path))
        else {
            break;
        };
        let mut meant = None;
        for (place, item) in list.children().enumerate() {
            if meant.is_none() && is_meant(&item.value(&changed)?) {
                meant = Some(place);
            }
        }
        let Some(place) = meant else {
            break;
        };
        way.push(place);
        changed = without(&changed, &way);
    }
    match changed == text {
        true => Ok(changed),
        false => checked(text, changed, |whole| {
            meant::remove_items(whole, path, is_meant);
        }),
    }
}

/// Adds a member that is not there.
fn set_missing(text: &str, path: &[&str], value: &impl Serialize) -> Result<String, String> {
    // An agent may have made the file and left it empty.
    let text = match text.trim().is_empty() {
        true => "{}\n",
        false => text,
    };
    let tree = parse(text)?;
    // As much of the way as there is.
    let known = (0..path.len()).rev().find_map(|length| {
        let (known, missing) = path.split_at_checked(length)?;
        Some((tree.at(known)?, missing))
    });
    let Some((node @ Node::Object { .. }, [key, deeper @ ..])) = known else {
        let place = path
            .split_last()
            .map_or("", |(_, before)| before.last().unwrap_or(&""));
        return Err(format!("`{place}` is no object"));
    };
    added(
        text,
        node,
        Some(key),
        &Below {
            path: deeper,
            value,
        },
    )
}

/// A value in objects of one member each, on the way to it.
struct Below<'a, T> {
    path: &'a [&'a str],
    value: &'a T,
}

impl<T: Serialize> Serialize for Below<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.path {
            [] => self.value.serialize(to),
            [key, path @ ..] => {
                let value = self.value;
                to.collect_map([(key, Below { path, value })])
            }
        }
    }
}

/// The text without the node at the end of the way, and without those on the way that hold nothing else.
fn without(text: &str, way: &[usize]) -> String {
    let Ok(tree) = parse(text) else {
        return text.to_owned();
    };
    for length in (0..way.len()).rev() {
        let above = way.get(..length).and_then(|above| tree.child(above));
        if let (Some(parent), Some(place)) = (above, way.get(length))
            && parent.children().count() > 1
        {
            return taken_out(text, parent, *place);
        }
    }
    emptied(text, &tree)
}

fn read(value: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
