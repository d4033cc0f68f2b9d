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

use edit::{added, emptied, has_comments, replaced, taken_out};
use meant::checked;
use tree::{Node, parse};

/// The value of a member, if it exists.
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
        Some(node) => overwritten(text, node, value)?,
        None => set_missing(text, path, value)?,
    };
    let value = read(value)?;
    checked(text, changed, |whole| meant::set(whole, path, value))
}

/// Writes a value over another. Of an object only the members that differ are written, so that comments between the
/// others stay.
fn overwritten(text: &str, node: &Node, value: &impl Serialize) -> Result<String, String> {
    let (before, after) = (node.value(text)?, read(value)?);
    if before == after {
        return Ok(text.to_owned());
    }
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return replaced(text, node, value);
    };
    if before.keys().any(|key| !after.contains_key(key)) {
        return replaced(text, node, value);
    }
    let mut changed = text.to_owned();
    // The last first, so that those before keep their places.
    for (key, member) in node.members().rev() {
        if let Some(value) = after.get(key) {
            changed = overwritten(&changed, member, value)?;
        }
    }
    for (key, value) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
        let start = node.span().start;
        // The object begins where it did, and ends elsewhere.
        let tree = parse(&changed)?;
        let object = tree.starting_at(start).ok_or("the object has gone")?;
        changed = added(&changed, object, Some(key), value)?;
    }
    Ok(changed)
}

/// Adds an item to a list, which is made where it is missing, unless the list has it. An older one takes its place;
/// others that it stands for are taken out.
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
    let list = match tree.at(path) {
        Some(list @ Node::Array { .. }) => list,
        Some(_) => return Err(format!("`{}` is no list", path.join("."))),
        None => {
            let changed = set_missing(text, path, &[item])?;
            let item = read(item)?;
            return checked(text, changed, |whole| {
                meant::push(whole, path, item, is_same)
            });
        }
    };
    let ours = list.children().enumerate();
    let ours = ours.map(|(place, item)| Ok((place, is_same(&item.value(text)?))));
    let ours: Vec<(usize, bool)> = ours.collect::<Result<_, String>>()?;
    let mut ours = ours.iter().filter(|(_, is_same)| *is_same);
    let first = ours
        .next()
        .and_then(|(place, _)| list.children().nth(*place));
    let mut changed = match first {
        Some(older) => replaced(text, older, item)?,
        None => added(text, list, None, item)?,
    };
    // Further entries of ours would run the hook twice.
    let further: Vec<usize> = ours.map(|(place, _)| *place).collect();
    for place in further.into_iter().rev() {
        let tree = parse(&changed)?;
        let list = tree.at(path).ok_or("the list has gone")?;
        changed = taken_out(&changed, list, place);
    }
    let item = read(item)?;
    checked(text, changed, |whole| {
        meant::push(whole, path, item, is_same)
    })
}

/// Takes a member out of an object, with the objects that this leaves empty; a whole file that is empty then
/// becomes an empty text. An object with a comment is not empty.
pub(super) fn remove(text: &str, path: &[&str]) -> Result<String, String> {
    let tree = parse(text)?;
    let Some(way) = tree.way_to(path) else {
        // Checked all the same: of a name that stands twice, the other object may have the member.
        return checked(text, text.to_owned(), |whole| meant::remove(whole, path));
    };
    let (changed, depth) = without(text, &tree, &way);
    checked(text, changed, |whole| {
        meant::remove(whole, path.get(..depth).unwrap_or(path));
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
    let mut depth = path.len() + 1;
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
        (changed, depth) = without(&changed, &tree, &way);
    }
    match changed == text {
        true => Ok(changed),
        false => checked(text, changed, |whole| match path.get(..depth) {
            // The list has gone with its items.
            Some(gone) => meant::remove(whole, gone),
            None => meant::remove_items(whole, path, is_meant),
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

/// The text without the node at the end of the way, and without those on the way that hold nothing else. Returns also
/// how much of the way led to the node that is gone.
fn without(text: &str, tree: &Node, way: &[usize]) -> (String, usize) {
    for length in (0..way.len()).rev() {
        let above = way.get(..length).and_then(|above| tree.child(above));
        if let (Some(parent), Some(place)) = (above, way.get(length))
            && (parent.children().count() > 1 || has_comments(text, parent))
        {
            return (taken_out(text, parent, *place), length + 1);
        }
    }
    (emptied(text, tree), 0)
}

fn read(value: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
