//! The branch of a conversation that its user saw last.

use std::collections::{BTreeMap, BTreeSet};

/// The ids from the root to `leaf`, and how many other branches there are. Editing a message or
/// asking again makes a branch; an export holds them all.
pub(in crate::memory) fn branch<'a>(
    parents: &BTreeMap<&'a str, Option<&'a str>>,
    leaf: &'a str,
) -> (Vec<&'a str>, u64) {
    let mut path = Vec::new();
    let mut seen = BTreeSet::new();
    let mut next = Some(leaf);
    // A missing parent ends the path, and so does one that was seen before: a damaged export may have a
    // cycle.
    while let Some(id) = next.filter(|id| parents.contains_key(id) && seen.insert(*id)) {
        path.push(id);
        next = parents.get(id).copied().flatten();
    }
    path.reverse();
    let inner: BTreeSet<&str> = parents.values().copied().flatten().collect();
    let is_other_leaf = |id: &&&str| !inner.contains(**id) && **id != leaf;
    let others = parents.keys().filter(is_other_leaf).count();
    (path, u64::try_from(others).unwrap_or(u64::MAX))
}
