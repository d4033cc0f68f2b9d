//! Files that are nearly the same: one of them is shown, and a note names the others.
//!
//! Generated variants (`index.d.ts`, `index.d.cts`), versions of a manual and copied modules have one
//! name and most of their lines in common.

use std::collections::BTreeMap;

use kitbag_workspace::survey::Candidate;

/// Shorter files are alike by chance.
const FEWEST_LINES: usize = 12;

/// The files that others stand for, as pairs of paths: the one that is left out, and the one that is
/// shown. `files` come the best first; `must` says which are shown in any case.
pub(super) fn twins<'a>(
    files: impl Iterator<Item = (&'a str, &'a Candidate)>,
    must: impl Fn(&str) -> bool,
) -> BTreeMap<&'a str, &'a str> {
    let mut by_stem: BTreeMap<&str, Vec<(&str, &[u64])>> = BTreeMap::new();
    let mut found = BTreeMap::new();
    let mut namesakes: BTreeMap<&str, Vec<(&str, &Candidate)>> = BTreeMap::new();
    for (path, candidate) in files {
        namesakes
            .entry(stem(path))
            .or_default()
            .push((path, candidate));
    }
    namesakes.retain(|_, files| files.len() > 1);
    for (stem, files) in namesakes {
        let shown = by_stem.entry(stem).or_default();
        for (path, candidate) in files {
            let lines = candidate.parsed.distinct_lines(&candidate.text);
            let twin = shown.iter().find(|(_, other)| are_alike(lines, other));
            match twin {
                Some((twin, _)) if !must(path) => {
                    found.insert(path, *twin);
                }
                _ => shown.push((path, lines)),
            }
        }
    }
    found
}

/// The name without its extensions.
fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.')
        .find(|part| !part.is_empty())
        .unwrap_or(name)
}

/// Returns true for two files with four fifths of their lines in common.
fn are_alike(one: &[u64], other: &[u64]) -> bool {
    let (fewer, more) = (one.len().min(other.len()), one.len().max(other.len()));
    if fewer < FEWEST_LINES || fewer * 5 < more * 4 {
        return false;
    }
    let is_common = |line: &&u64| other.binary_search(line).is_ok();
    let common = one.iter().filter(is_common).count();
    common * 5 >= (one.len() + other.len() - common) * 4
}
