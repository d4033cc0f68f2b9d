//! Reads the output of `git diff --raw --patch`.
//!
//! First one line for each file, then a blank line, then the patches. Names with special characters
//! are quoted in both, so no name can pose as a line of its own; and each line of a file's content
//! has a mark in front, so no content can pose as a header.

use std::collections::HashMap;

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
            by_header.insert(header, files.len());
            files.push(file);
        }
    }
    let mut patches = patches(rest);
    if !complete {
        patches.pop();
    }
    for patch in patches {
        let header = patch.lines().next().unwrap_or_default();
        let file = by_header
            .get(header)
            .and_then(|index| files.get_mut(*index));
        if let Some(file) = file {
            file.binary = has_line(patch, |line| line.starts_with("Binary files "));
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
    let (old, new) = match names.split_once('\t') {
        Some((old, new)) => (old, new),
        None => (names, names),
    };
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
    let header = format!(
        "diff --git {} {}",
        with_prefix(old, "a/"),
        with_prefix(new, "b/")
    );
    Some((file, header))
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
        match rest.next() {
            Some(b'a') => bytes.push(7),
            Some(b'b') => bytes.push(8),
            Some(b't') => bytes.push(b'\t'),
            Some(b'n') => bytes.push(b'\n'),
            Some(b'v') => bytes.push(11),
            Some(b'f') => bytes.push(12),
            Some(b'r') => bytes.push(b'\r'),
            Some(digit @ b'0'..=b'3') => {
                let (second, third) = (rest.next(), rest.next());
                let value = [Some(digit), second, third]
                    .iter()
                    .flatten()
                    .fold(0_u8, |value, digit| {
                        value.wrapping_mul(8).wrapping_add(digit.wrapping_sub(b'0'))
                    });
                bytes.push(value);
            }
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Splits at the lines that begin a patch.
fn patches(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1))
        .filter(|start| {
            let line = text.get(*start..).unwrap_or_default();
            line.starts_with("diff --")
        })
        .collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| text.get(*start..end))
        .collect()
}

fn has_line(patch: &str, is: impl Fn(&str) -> bool) -> bool {
    patch
        .lines()
        .take_while(|line| !line.starts_with("@@"))
        .any(is)
}

/// The runs of new lines, by their numbers in the new file.
fn new_lines(patch: &str) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    let mut next = 0_u32;
    let mut removed_before = None;
    let mut in_hunk = false;
    for line in patch.lines() {
        if let Some(start) = line.strip_prefix("@@ ").and_then(new_start) {
            runs.extend(removed_before.take());
            next = start;
            in_hunk = true;
            continue;
        }
        if !in_hunk {
            continue;
        }
        match line.as_bytes().first() {
            Some(b'+') => {
                removed_before = None;
                match runs.last_mut() {
                    Some((_, last)) if *last + 1 == next => *last = next,
                    _ => runs.push((next, next)),
                }
                next += 1;
            }
            Some(b'-') => {
                let adjoins = runs.last().is_some_and(|(_, last)| *last + 1 == next);
                // A file without lines now begins at zero.
                removed_before = (!adjoins && next > 0).then_some((next, next));
            }
            // A setting lets git drop the space of a line that is otherwise blank.
            Some(b' ') | None => {
                runs.extend(removed_before.take());
                next += 1;
            }
            _ => {}
        }
    }
    runs.extend(removed_before);
    runs
}

/// The `7` of `@@ -3,2 +7,5 @@`.
fn new_start(hunk: &str) -> Option<u32> {
    let (_, new) = hunk.split_once('+')?;
    let digits = new.split([',', ' ']).next()?;
    digits.parse().ok()
}
