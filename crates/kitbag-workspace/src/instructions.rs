//! The instructions that a project has for agents.
//!
//! `AGENTS.md`, `CLAUDE.md` and `GEMINI.md` apply to the folder that they stand in and to all below
//! it, and so do `.github/copilot-instructions.md`, `.github/instructions`, `.cursorrules` and
//! `.cursor/rules` of that folder. What stands in the root applies to every task, what stands further
//! down only when a target is beneath it.
//!
//! They are files of the repository. How far to trust them is the caller's decision, not made here.

mod pointer;
mod rule;

use std::cmp::Reverse;

use crate::shown::counted;

/// A longer file is cut at the end of a line.
const FILE_BYTES: usize = 16 * 1024;

/// All of them together are no longer than this.
const TOTAL_BYTES: usize = 48 * 1024;

/// The room for the note that lines are left out.
const NOTE_BYTES: usize = 40;

/// The most files in a row that only point to the next.
const MAX_HOPS: usize = 4;

/// The files that instruct agents, in the order in which one of a folder stands before another.
/// A star stands for any file of the folder with that ending.
const FILES: [&str; 7] = [
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
    ".github/instructions/*.instructions.md",
    ".cursorrules",
    ".cursor/rules/*.mdc",
];

/// Instructions from a file of the project.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Instruction {
    /// The file.
    pub path: String,
    /// Its text without settings at its head, cut if it is very long.
    pub content: String,
}

/// Finds the instructions that apply to `targets`, which are files or folders, the most relevant
/// first.
///
/// The order is from the root to the targets: where two disagree the later one is the nearer one,
/// and is meant to win. Texts that are the same stand once, and a file that only points to another
/// gives way to it. If all are too long, those of the root and of the first targets stay whole, and
/// of the others it is said that they are there.
///
/// ```
/// use kitbag_workspace::instructions::instructions;
///
/// let paths = ["AGENTS.md", "CLAUDE.md", "web/AGENTS.md", "web/app.ts"];
/// let read = |path: &str| {
///     Some(if path == "CLAUDE.md" { "@AGENTS.md\n".into() } else { format!("rules of {path}\n") })
/// };
/// let found = instructions(&paths, &["web/app.ts"], &read);
/// let files: Vec<&str> = found.iter().map(|found| found.path.as_str()).collect();
/// assert_eq!(files, ["AGENTS.md", "web/AGENTS.md"]);
/// ```
#[must_use]
pub fn instructions(
    paths: &[&str],
    targets: &[&str],
    read: &dyn Fn(&str) -> Option<String>,
) -> Vec<Instruction> {
    let candidates = paths.iter().filter_map(|path| Candidate::of(path, targets));
    let mut candidates: Vec<Candidate> = candidates.collect();
    // In this order they are read, so of two equal texts the more urgent one stays.
    candidates.sort_by_key(|candidate| (candidate.urgency, candidate.rank, candidate.path));

    let mut found: Vec<(Candidate, Instruction)> = Vec::new();
    for candidate in candidates {
        let Some(instruction) = candidate.read(targets, paths, read) else {
            continue;
        };
        let is_known = |(_, other): &(Candidate<'_>, Instruction)| {
            other.path == instruction.path || is_same(&other.content, &instruction.content)
        };
        if !found.iter().any(is_known) {
            found.push((candidate, instruction));
        }
    }

    // The room is given by urgency; only then the files get the order in which they are shown.
    let mut room = TOTAL_BYTES;
    for (_, instruction) in &mut found {
        cut(&mut instruction.content, FILE_BYTES.min(room));
        room = room.saturating_sub(instruction.content.len());
    }
    found.sort_by_key(
        |(
            Candidate {
                folder, rank, path, ..
            },
            _,
        )| { (depth(folder), *folder, *rank, *path) },
    );
    found
        .into_iter()
        .map(|(_, instruction)| instruction)
        .collect()
}

/// A file that instructs agents, in a folder that some target is beneath.
#[derive(Clone, Copy)]
struct Candidate<'p> {
    path: &'p str,
    /// The folder that it applies to; the root is empty.
    folder: &'p str,
    /// Its place in [`FILES`].
    rank: usize,
    /// The order in which files get the room: the root, then the first target, from near to far.
    urgency: (usize, Reverse<usize>),
}

impl<'p> Candidate<'p> {
    fn of(path: &'p str, targets: &[&str]) -> Option<Self> {
        let mut names = FILES.iter().enumerate();
        let (rank, folder) = names.find_map(|(rank, name)| Some((rank, folder_of(path, name)?)))?;
        let urgency = if folder.is_empty() {
            (0, Reverse(0))
        } else {
            let mut targets = targets.iter();
            let first = targets.position(|target| is_within(target, folder))?;
            (first + 1, Reverse(depth(folder)))
        };
        Some(Self {
            path,
            folder,
            rank,
            urgency,
        })
    }

    /// Its own text, or that of the file that it points to; nothing if it does not apply.
    fn read(
        &self,
        targets: &[&str],
        paths: &[&str],
        read: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Instruction> {
        let mut path = self.path;
        // Files may point at each other in a circle, which then says nothing.
        for _ in 0..MAX_HOPS {
            let text = read(path)?;
            let content = rule::content(path, &text, self.folder, targets)?;
            let target = pointer::target(path, content);
            match target.and_then(|target| paths.iter().find(|path| **path == target)) {
                Some(next) => path = next,
                None if content.trim().is_empty() => return None,
                None => {
                    return Some(Instruction {
                        path: path.to_owned(),
                        content: content.to_owned(),
                    });
                }
            }
        }
        None
    }
}

/// The folder that a file applies to, if it is one of that name.
fn folder_of<'p>(path: &'p str, name: &str) -> Option<&'p str> {
    let Some((start, end)) = name.split_once('*') else {
        let folder = path.strip_suffix(name)?;
        return match folder.strip_suffix('/') {
            None if !folder.is_empty() => None,
            folder => folder.or(Some("")),
        };
    };
    let rest = path.strip_suffix(end)?;
    let matches = |from: &str| from.starts_with(start);
    if matches(rest) {
        return Some("");
    }
    let mut slashes = rest.match_indices('/');
    let (at, _) = slashes.find(|(at, _)| rest.get(at + 1..).is_some_and(matches))?;
    path.get(..at)
}

fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The number of folders from the root down to a folder; the root has none.
fn depth(folder: &str) -> usize {
    folder.split('/').filter(|part| !part.is_empty()).count()
}

fn is_same(a: &str, b: &str) -> bool {
    a.split_whitespace().eq(b.split_whitespace())
}

/// Keeps whole lines of at most `limit` bytes, and says how many more there are.
fn cut(content: &mut String, limit: usize) {
    if content.len() <= limit {
        return;
    }
    let room = limit.saturating_sub(NOTE_BYTES);
    let mut kept = 0;
    let mut left_out = 0;
    for line in content.split_inclusive('\n') {
        // After the first line that is left out no shorter one is taken: the text must not have
        // gaps.
        if left_out == 0 && kept + line.len() <= room {
            kept += line.len();
        } else {
            left_out += 1;
        }
    }
    content.truncate(kept);
    content.push_str(&format!("… ({})\n", counted(left_out, "more line")));
}

#[cfg(test)]
mod tests;
