//! A change to review: its patches as chunks, and the lines that it touches.
//!
//! A file that git does not track yet belongs to what the work tree changed, as if it were added.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use kitbag_core::assembly::{Assembly, Kept};
use kitbag_core::chunk::{ChunkType, ContextChunk, ContextPriority, Coverage, Detail, Level};
use kitbag_core::neutral::one_line;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_secrets::is_secret_file;
use kitbag_workspace::git::{Changes, FileDiff, FileStatus, Repository};
use kitbag_workspace::survey::Changed;
use kitbag_workspace::walk::FileRole;
use kitbag_workspace::workspace::Workspace;
use serde_json::Value;

use super::PackError;
use crate::engine::{Contribution, clean_as};

/// More untracked files than this are no change that somebody reviews.
const MOST_UNTRACKED: usize = 200;

/// The text of a larger untracked file is left out.
const MOST_BYTES: u64 = 1 << 20;

/// The request of a review where nothing else is asked.
pub(super) const REQUEST: &str = "Review this change.";

/// As many bytes of a change are searched for what belongs to it.
const MOST_SEARCHED: usize = 8_000;

/// The most names that a problem lists.
const MOST_NAMES: usize = 3;

/// The key under which a chunk names the file that it shows whole.
const SHOWS: &str = "shows";

/// A change of a workspace.
#[derive(Debug)]
pub(super) struct Change {
    diffs: Vec<FileDiff>,
    /// What is not in it.
    problems: Vec<Problem>,
}

impl Change {
    /// Asks git, and leaves out what the patterns of the caller do.
    pub(super) fn of(workspace: &Workspace, changes: &Changes) -> Result<Self, PackError> {
        let Some(repository) = workspace.repository() else {
            // A repository that git does not trust is there all the same.
            Repository::discover(workspace.root()).map_err(PackError::Git)?;
            return Err(PackError::NoRepository);
        };
        let mut diffs = repository.diff(changes).map_err(PackError::Git)?;
        let mut problems = Vec::new();
        if changes.has_work_tree() {
            let untracked = repository.untracked().map_err(PackError::Git)?;
            diffs.extend(added(workspace, untracked, &mut problems));
            diffs.sort_by(|a, b| a.path.cmp(&b.path));
        }
        let all = diffs.len();
        diffs.retain(|diff| workspace.selects(&diff.path));
        if diffs.is_empty() {
            return Err(PackError::NoChange {
                changes: changes.clone(),
                left_out: all,
            });
        }
        Ok(Self { diffs, problems })
    }

    /// The changed files and lines, for the survey.
    pub(super) fn touched(&self) -> Vec<Changed> {
        let changed = |diff: &FileDiff| Changed::new(diff.path.as_str(), diff.hunks.clone());
        self.diffs.iter().map(changed).collect()
    }

    /// Adds a chunk for each file's patch, and the problems of the change.
    pub(super) fn contribute(&self, contribution: &mut Contribution) {
        for diff in &self.diffs {
            // The whole patch is cleaned before its levels are cut: the lines that give a key away
            // may be among those that a level leaves out.
            let clean = clean_as(&diff.patch, &source_of(diff), "diff");
            let mut shown = diff.clone();
            shown.patch = clean.text.into_owned();
            let redacted = match holds_secrets(diff) {
                true => Vec::new(),
                false => clean.redacted,
            };
            contribution.add_clean(chunk(&shown).into(), redacted);
        }
        contribution.problems.extend_from_slice(&self.problems);
    }

    /// The code that the change touches, for the search of what belongs to it: what came and went, of
    /// source before all else.
    pub(super) fn searched(&self) -> String {
        let mut diffs: Vec<&FileDiff> = self.diffs.iter().filter(|d| !holds_secrets(d)).collect();
        diffs.sort_by_key(|diff| Reverse(priority(&diff.path).score()));
        let lines = diffs.iter().flat_map(|diff| {
            let lines = diff.patch.lines();
            let changed = lines.filter(|line| !line.starts_with("+++") && !line.starts_with("---"));
            changed.filter_map(|line| line.strip_prefix(['+', '-']))
        });
        let mut text = String::from("```\n");
        for line in lines {
            // One minified line must not keep out all that follow it.
            if text.len() + line.len() > MOST_SEARCHED {
                continue;
            }
            text.push_str(line);
            text.push('\n');
        }
        text + "```\n"
    }

    /// The files of the change of which a prompt has no more than the name; none where it shows all.
    pub(super) fn named_only(&self, assembly: &Assembly) -> Option<NamedOnly<'_>> {
        let kept = assembly.kept.iter();
        // Of a file that stands for its patch no part but the whole is sure to have the change.
        let is_patch = |kept: &&Kept| kept.chunk_type != ChunkType::File;
        let kept = kept.filter(|kept| is_patch(kept) || kept.detail == Detail::Full);
        let shown: BTreeMap<&str, Detail> = kept.map(|kept| (&*kept.source, kept.detail)).collect();
        let mut found = NamedOnly::default();
        for diff in self.diffs.iter().filter(|diff| !diff.patch.is_empty()) {
            let path = diff.path.as_str();
            match shown.get(&*source_of(diff)).or_else(|| shown.get(path)) {
                None => found.unseen.push(path),
                Some(Detail::Line | Detail::Handle) if !holds_secrets(diff) => {
                    found.named.push(path);
                }
                Some(_) => {}
            }
        }
        let is_whole = found.named.is_empty() && found.unseen.is_empty();
        (!is_whole).then_some(found)
    }

    /// The tokens of the patches that a prompt does not show.
    pub(super) fn missing(&self, assembly: &Assembly, counter: &dyn TokenCounter) -> Tokens {
        let missing = self.named_only(assembly).unwrap_or_default();
        let is_missing = |diff: &&FileDiff| {
            let path = diff.path.as_str();
            missing.named.contains(&path) || missing.unseen.contains(&path)
        };
        let diffs = self.diffs.iter().filter(is_missing);
        let tokens = diffs.map(|diff| counter.count(&diff.without_context(usize::MAX)));
        tokens.fold(Tokens::ZERO, Tokens::saturating_add)
    }

    /// The problem that a prompt does not show the whole change, and which budget would.
    pub(super) fn problem(&self, found: &NamedOnly<'_>, budget: Option<Tokens>) -> Problem {
        let all = self.diffs.len();
        let mut told = Vec::new();
        if !found.named.is_empty() {
            let (count, names) = (found.named.len(), named(&found.named));
            told.push(format!(
                "{count} of {all} changed files are only named: {names}"
            ));
        }
        if !found.unseen.is_empty() {
            let (count, names) = (found.unseen.len(), named(&found.unseen));
            told.push(format!(
                "{count} of {all} changed files have no room in the prompt: {names}"
            ));
        }
        if let Some(budget) = budget {
            told.push(format!("a budget of {budget} tokens shows all"));
        }
        Problem::new("", ProblemKind::LeftOut, told.join("; "))
    }
}

/// Files of a change that a prompt does not show.
#[derive(Debug, Default)]
pub(super) struct NamedOnly<'a> {
    /// Those of which it says that they were changed.
    named: Vec<&'a str>,
    /// Those that are not in it at all.
    unseen: Vec<&'a str>,
}

/// The priority of a file's patch: what a reviewer reads first.
fn priority(path: &str) -> ContextPriority {
    match FileRole::of(path) {
        FileRole::Source => ContextPriority::High,
        FileRole::Test | FileRole::Manifest => ContextPriority::Medium,
        FileRole::Example | FileRole::Docs | FileRole::Config => ContextPriority::Low,
        _ => ContextPriority::Minimal,
    }
}

/// A few names, and how many more there are.
pub(super) fn named(names: &[impl AsRef<str>]) -> String {
    let first = names.iter().take(MOST_NAMES);
    let first: Vec<String> = first
        .map(|name| format!("`{}`", one_line(name.as_ref())))
        .collect();
    let first = first.join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn source_of(diff: &FileDiff) -> String {
    format!("diff of {}", diff.path)
}

/// Returns true if the file is kept for secrets, or was under its former name.
fn holds_secrets(diff: &FileDiff) -> bool {
    let was = matches!(&diff.status, FileStatus::Renamed { from } if is_secret_file(from));
    was || is_secret_file(&diff.path)
}

/// The new file whose patch the chunk is: it says all that the file would. Nothing where there may be
/// no room for it, since the file has more levels.
pub(super) fn shown_whole(chunk: &ContextChunk, budget: Tokens) -> Option<&str> {
    // A token has about four bytes, and a new file should leave room for the rest of the change.
    let most = usize::try_from(budget.0).unwrap_or(usize::MAX);
    let path = chunk.metadata.get(SHOWS).and_then(Value::as_str);
    path.filter(|_| chunk.content().len() <= most)
}

/// The untracked files that the workspace lists, as changes; the others are named.
fn added(
    workspace: &Workspace,
    untracked: Vec<String>,
    problems: &mut Vec<Problem>,
) -> Vec<FileDiff> {
    let file_of = |path: &String| {
        let found = workspace
            .files()
            .binary_search_by(|file| file.path.as_str().cmp(path));
        workspace.files().get(found.ok()?)
    };
    let (listed, mut others): (Vec<String>, Vec<String>) = untracked
        .into_iter()
        .filter(|path| workspace.selects(path))
        .partition(|path| file_of(path).is_some());
    others.extend(listed.iter().skip(MOST_UNTRACKED).cloned());
    if !others.is_empty() {
        let names = named(&others);
        let message = format!("untracked and not in the change: {names}");
        problems.push(Problem::new("", ProblemKind::LeftOut, message));
    }
    let diff = |path: String| {
        let is_small = file_of(&path).is_some_and(|file| file.size <= MOST_BYTES);
        let text = workspace.read(&path).filter(|_| is_small);
        FileDiff::added(path, text.as_deref())
    };
    listed.into_iter().take(MOST_UNTRACKED).map(diff).collect()
}

fn chunk(diff: &FileDiff) -> ContextChunk {
    let status = match &diff.status {
        FileStatus::Added => "added",
        FileStatus::Deleted => "deleted",
        FileStatus::Renamed { from } => &format!("renamed from {from}"),
        FileStatus::TypeChanged => "became another kind of file",
        FileStatus::Unmerged => "unmerged",
        _ => "modified",
    };
    let (came, went) = diff.changed_lines();
    let lines = match came + went {
        0 => String::new(),
        _ => format!(", {came} lines more and {went} less"),
    };
    let line = format!("{}: {status}{lines}", diff.path);
    let source = source_of(diff);
    let kind = ChunkType::Other("diff".into());
    let mut chunk = if diff.patch.is_empty() {
        ContextChunk::new(kind, source, line)
    } else if holds_secrets(diff) {
        let why = "its patch is left out, since it may hold secrets";
        ContextChunk::new(kind, source, format!("{line}; {why}"))
    } else {
        let chunk = ContextChunk::new(kind, source, diff.patch.as_str());
        let terser = terser(diff, came + went).into_iter();
        terser
            .fold(chunk, ContextChunk::with_level)
            .with_level(Level::new(Detail::Line, line))
    };
    chunk.metadata.insert("language".into(), "diff".into());
    if diff.status == FileStatus::Added && chunk.levels.len() > 1 {
        let path = diff.path.as_str().into();
        chunk.metadata.insert(SHOWS.into(), path);
    }
    chunk.with_priority(priority(&diff.path))
}

/// Shorter patches: without context, then with fewer and fewer of the changed lines, then none.
fn terser(diff: &FileDiff, changed: usize) -> Vec<Level> {
    let level = |detail, content, coverage| {
        Level::new(detail, content).with_coverage(Coverage::from_permille(coverage))
    };
    let mut levels = vec![level(Detail::Slice, diff.without_context(usize::MAX), 900)];
    for (part, coverage) in [(2, 550), (4, 320), (8, 180), (16, 100)] {
        if changed / part >= 8 {
            let content = diff.without_context(changed / part);
            levels.push(level(Detail::Slice, content, coverage));
        }
    }
    levels.push(level(Detail::Outline, diff.places(), 60));
    levels.dedup_by(|shorter, longer| shorter.content.len() >= longer.content.len());
    levels.retain(|level| level.content.len() < diff.patch.len());
    levels
}
