//! Marks the units that hold a phrase of the task, or a line that it points at.

use aho_corasick::{AhoCorasick, MatchKind};
use kitbag_core::text::inverse_frequency;
use rayon::prelude::*;

use crate::query::Query;
use crate::walk::FileEntry;

use super::Changed;
use super::candidate::Candidate;

/// Marks the units of the candidates.
pub(super) fn mark(
    query: &Query,
    changed: &[Changed],
    files: &[FileEntry],
    candidates: &mut [Candidate],
) {
    for candidate in candidates.iter_mut() {
        let path = files
            .get(candidate.file)
            .map_or("", |file| file.path.as_str());
        let framed = query
            .frames
            .iter()
            .filter(|frame| points_at(&frame.path, path));
        let touched = changed.iter().filter(|changed| changed.path == path);
        let ranges = framed
            .map(|frame| (frame.line, frame.line))
            .chain(touched.flat_map(|changed| changed.lines.iter().copied()));
        for (first, last) in ranges {
            let units = candidate
                .parsed
                .syntax
                .units
                .iter()
                .zip(&mut candidate.units);
            for (_, worth) in units.filter(|(unit, _)| unit.first <= last && first <= unit.last) {
                worth.framed = true;
            }
        }
    }
    let Ok(finder) = AhoCorasick::builder()
        // The only kind that finds overlapping phrases, and one may hold another.
        .match_kind(MatchKind::Standard)
        .build(&query.phrases)
    else {
        return;
    };
    let found: Vec<Vec<(usize, usize)>> = candidates
        .par_iter()
        .map(|candidate| find(&finder, candidate))
        .collect();
    let rarity: Vec<f64> = (0..query.phrases.len())
        .map(|phrase| {
            let holding = found
                .iter()
                .filter(|found| found.iter().any(|(_, known)| *known == phrase))
                .count();
            // A phrase in every candidate says little about which unit is meant.
            inverse_frequency(candidates.len(), holding)
        })
        .collect();
    let all: f64 = rarity.iter().sum();
    for (candidate, found) in candidates.iter_mut().zip(found) {
        for (unit, phrase) in found {
            if let Some(worth) = candidate.units.get_mut(unit) {
                // At least 1, or a single common phrase would count in full.
                worth.phrases += rarity.get(phrase).copied().unwrap_or_default() / all.max(1.0);
            }
        }
    }
}

/// The units and the phrases in them, each pair once, in order.
fn find(finder: &AhoCorasick, candidate: &Candidate) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut newlines = memchr::memchr_iter(b'\n', candidate.text.as_bytes()).peekable();
    let mut hits: Vec<(usize, usize)> = finder
        .find_overlapping_iter(&candidate.text)
        .map(|hit| (hit.start(), hit.pattern().as_usize()))
        .collect();
    hits.sort_unstable();
    for (at, phrase) in hits {
        while newlines.next_if(|&newline| newline < at).is_some() {
            line += 1;
        }
        if let Some(unit) = unit_at(candidate, line) {
            found.push((unit, phrase));
        }
    }
    found.sort_unstable();
    // A phrase that a unit repeats counts once.
    found.dedup();
    found
}

fn unit_at(candidate: &Candidate, line: u32) -> Option<usize> {
    let units = &candidate.parsed.syntax.units;
    let after = units.partition_point(|unit| unit.first <= line);
    let index = after.checked_sub(1)?;
    units
        .get(index)
        .filter(|unit| unit.last >= line)
        .map(|_| index)
}

/// Tells if a path of a task may mean this file: one ends with the other, at a folder.
pub(super) fn points_at(named: &str, path: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(named, path) || ends(path, named)
}
