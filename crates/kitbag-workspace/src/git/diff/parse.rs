//! Reads the output of `git diff --raw --patch`.
//!
//! First one line for each file, then a blank line, then the patches. Names with special characters
//! are quoted in both, so no name can pose as a line of its own; and each line of a file's content
//! has a mark in front, so no content can pose as a header.

use std::collections::HashMap;

use super::terse::{Part, lines, starts};
use super::{FileDiff, FileStatus};

/// The files of a diff, in git's order. Of a cut answer the last patch is left out.
pub(super) fn parse(answer: &[u8], complete: bool) -> Vec<FileDiff> {
    let answer = String::from_utf8_lossy(answer);
    let mut files = Vec::new();
    let mut by_header = HashMap::new();
    let mut rest = &*answer;
    while let Some((line, after)) = rest.split_once('\n') {
        let Some(record) = line.strip_prefix(':') else {
            break;
        };
        rest = after;
        if let Some((file, header)) = record_of(record) {
            // Patches are matched by their headers, not by order: some files have none and some
            // have two.
            by_header.insert(header, files.len());
            files.push(file);
        }
    }
    let mut patches = patches(rest);
    // It may be cut within a line, and would count too few changes.
    if !complete {
        patches.pop();
    }
    for patch in patches {
        let header = patch.lines().next().unwrap_or_default();
        let index = by_header.get(header);
        if let Some(file) = index.and_then(|index| files.get_mut(*index)) {
            let mut head = patch.lines().take_while(|line| !line.starts_with("@@"));
            file.binary = head.any(|line| line.starts_with("Binary files "));
            file.hunks = new_lines(patch);
            // A file that becomes a link comes as two patches.
            file.patch.push_str(patch);
        }
    }
    files
}

/// Reads `100644 100644 1234 5678 M\tpath`, and tells how the file's patch begins.
fn record_of(record: &str) -> Option<(FileDiff, String)> {
    let (facts, names) = record.split_once('\t')?;
    let letter = facts.rsplit(' ').next()?.chars().next()?;
    let (old, new) = names.split_once('\t').unwrap_or((names, names));
    let status = match letter {
        'A' => FileStatus::Added,
        'D' => FileStatus::Deleted,
        'R' => FileStatus::Renamed {
            from: unquoted(old),
        },
        'T' => FileStatus::TypeChanged,
        'U' => FileStatus::Unmerged,
        _ => FileStatus::Modified,
    };
    let file = FileDiff {
        path: unquoted(new),
        status,
        binary: false,
        hunks: Vec::new(),
        patch: String::new(),
    };
    let (old, new) = (with_prefix(old, "a/"), with_prefix(new, "b/"));
    Some((file, format!("diff --git {old} {new}")))
}

fn with_prefix(name: &str, prefix: &str) -> String {
    match name.strip_prefix('"') {
        Some(quoted) => format!("\"{prefix}{quoted}"),
        None => format!("{prefix}{name}"),
    }
}

/// Undoes the quoting that git gives to names with special characters.
fn unquoted(name: &str) -> String {
    let inner = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'));
    let Some(inner) = inner else {
        return name.to_owned();
    };
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => b'\t',
            Some(b'n') => b'\n',
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => b'\r',
            // Bytes that are not printable have three octal digits, of which the first is at most
            // 3.
            Some(digit @ b'0'..=b'3') => {
                let digits = [digit].into_iter().chain(rest.by_ref().take(2));
                digits.fold(0_u8, |value, digit| {
                    value.wrapping_mul(8).wrapping_add(digit.wrapping_sub(b'0'))
                })
            }
            Some(other) => other,
            None => break,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Splits at the lines that begin a patch.
fn patches(text: &str) -> Vec<&str> {
    let line_starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1);
    let begins = |start: &usize| {
        text.get(*start..)
            .is_some_and(|line| line.starts_with("diff --"))
    };
    let starts: Vec<usize> = [0].into_iter().chain(line_starts).filter(begins).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let patches = starts.iter().zip(ends);
    patches
        .filter_map(|(start, end)| text.get(*start..end))
        .collect()
}

/// The runs of new lines, by their numbers in the new file.
fn new_lines(patch: &str) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    let mut next = 0_u32;
    let mut removed_before = None;
    for (line, part) in lines(patch) {
        match part {
            Part::Hunk => {
                runs.extend(removed_before.take());
                next = starts(line).1;
            }
            Part::Change if line.starts_with('+') => {
                removed_before = None;
                match runs.last_mut() {
                    Some((_, last)) if *last + 1 == next => *last = next,
                    _ => runs.push((next, next)),
                }
                next += 1;
            }
            Part::Change => {
                let adjoins = runs.last().is_some_and(|(_, last)| *last + 1 == next);
                // A file without lines now begins at zero.
                removed_before = (!adjoins && next > 0).then_some((next, next));
            }
            Part::Context => {
                runs.extend(removed_before.take());
                next += 1;
            }
            Part::Header | Part::Remark => {}
        }
    }
    runs.extend(removed_before);
    runs
}
