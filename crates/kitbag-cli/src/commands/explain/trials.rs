//! What would bring a file into a prompt, found by packing again.

use std::collections::BTreeMap;

use kitbag::core::tokens::Tokens;
use kitbag::pack::{Pack, PackRequest, Prepared, budget_to_look_at};
use kitbag::tokens::Counter;
use kitbag::workspace::survey::Candidate;

use super::path::shown;
use crate::commands::pack::{packed, prepared as prepare};

/// The largest budget that is tried.
pub(super) const LARGEST: u32 = 2_000_000;

/// How many of its names are tried.
const MOST_NAMES: usize = 2;

/// What would leave or shrink if the file had to be in: the difference to the pack with it pinned.
pub(super) fn displaced(
    path: &str,
    request: &PackRequest,
    prepared: &Prepared,
    pack: &Pack,
    counter: &Counter,
) -> Vec<String> {
    let mut pinned = request.clone();
    pinned.pins.push(path.to_owned());
    let Ok(other) = prepared.pack(&pinned, counter) else {
        return Vec::new();
    };
    let with: BTreeMap<&str, Tokens> = other
        .chunks
        .iter()
        .map(|chunk| (chunk.source.as_str(), chunk.tokens))
        .collect();
    let mut lost: Vec<(u32, &str)> = pack
        .chunks
        .iter()
        .filter_map(|chunk| {
            let kept = with
                .get(chunk.source.as_str())
                .copied()
                .unwrap_or(Tokens::ZERO);
            let less = chunk
                .tokens
                .0
                .checked_sub(kept.0)
                .filter(|&less| less > 0)?;
            Some((less, chunk.source.as_str()))
        })
        .collect();
    lost.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    lost.into_iter()
        .take(5)
        .map(|(_, source)| source.to_owned())
        .collect()
}

/// The smallest budget that shows a file which was passed over: more files are looked at with more.
pub(super) fn wider_budget(
    path: &str,
    place: usize,
    request: &PackRequest,
    counter: &Counter,
) -> Option<Tokens> {
    let least = budget_to_look_at(place)?.max(request.budget);
    let wider = request.clone().with_budget(least);
    let prepared = prepare(&wider).ok()?;
    let found = budget(path, &wider, &prepared, counter)?;
    Some(found.max(least))
}

/// The smallest budget that shows the file, to a hundredth.
pub(super) fn budget(
    path: &str,
    request: &PackRequest,
    prepared: &Prepared,
    counter: &Counter,
) -> Option<Tokens> {
    let is_shown = |budget: u32| {
        let request = request.clone().with_budget(Tokens(budget));
        prepared
            .pack(&request, counter)
            .is_ok_and(|pack| shown(&pack, path).is_some())
    };
    let mut high = request.budget.0.max(1);
    while !is_shown(high) {
        if high >= LARGEST {
            return None;
        }
        high = high.saturating_mul(2).min(LARGEST);
    }
    let mut low = request.budget.0;
    while high - low > (high / 100).max(1) {
        let middle = low + (high - low) / 2;
        if is_shown(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(Tokens(high))
}

/// Names of the file that bring it in when the task has them too: what it defines, its own name. A
/// trial that fails brings nothing in.
pub(super) fn words(
    path: &str,
    candidate: Option<&Candidate>,
    request: &PackRequest,
    counter: &Counter,
) -> Vec<String> {
    let definitions = candidate.map_or(&[][..], |candidate| &candidate.syntax.definitions);
    let mut names: Vec<String> = definitions
        .iter()
        .map(|definition| definition.name.clone())
        .filter(|name| name.len() >= 6)
        .collect();
    names.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    names.dedup();
    names.truncate(MOST_NAMES);
    names.push(path.to_owned());
    names.retain(|name| {
        let mut other = request.clone();
        other.task = format!("{}\n{name}", request.task);
        let pack = prepare(&other).and_then(|prepared| packed(&prepared, &other, counter));
        pack.is_ok_and(|pack| shown(&pack, path).is_some())
    });
    names
}
