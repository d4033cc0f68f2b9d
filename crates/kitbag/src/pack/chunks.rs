//! The second stage: everything that may be in the prompt, scored and without secrets.

use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::TokenCounter;
use kitbag_workspace::walk::SkipReason;

use super::change::named;
use super::files::{self, FileChunk};
use super::gathered::Others;
use super::report::{self, Excluded, RankedSource};
use super::{PackOptions, Prepared, notes, twins};
use crate::engine::Contribution;
use crate::words::counted;

/// The contribution of a workspace, and what the report says besides.
pub(super) struct Made {
    pub(super) contribution: Contribution,
    /// The files by score.
    pub(super) ranked: Vec<RankedSource>,
    /// Files without a place in an overview. A change may show one all the same.
    pub(super) left_out: Vec<Excluded>,
    /// Files that were read and are no chunk.
    pub(super) excluded: Vec<Excluded>,
}

pub(super) fn make(prepared: &Prepared, options: &PackOptions, counter: &dyn TokenCounter) -> Made {
    let mut contribution = Contribution::default();
    contribution.problems = problems(prepared, options);
    let (mut files, left_out) = files::chunks(prepared, options, counter);
    let ranked = report::ranked(prepared, &files);

    let others = Others::new(prepared, options, counter);
    // Chunks that show a file already, such as a patch or a file of instructions.
    let stand_ins = others.stand_ins(options.budget);
    let mut excluded = Vec::new();
    let mut notes = prepared.notes.clone();
    let twins = twins(prepared, &files);
    let mut others_of: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    files.retain(|file| {
        let Some((path, twin)) = twins.get_key_value(file.ranked.chunk.source.as_str()) else {
            return true;
        };
        // Collected, so that one note names all files that a twin stands for.
        others_of.entry(*twin).or_default().push(*path);
        let reason = format!("`{twin}`, which is nearly the same, stands for it");
        excluded.push(Excluded::new(*path, reason));
        false
    });
    // What is far down is hardly shown, and a note about it would be noise.
    let told = ranked.iter().take(TOLD_OF_TWINS).filter_map(|file| {
        let others = others_of.get(file.source.as_str())?;
        let (twin, others) = (&file.source, named(others));
        Some(format!("`{twin}` stands for {others}, nearly the same."))
    });
    notes.extend(told);
    files.retain(|file| {
        let chunk = &file.ranked.chunk;
        let reason = stand_ins.get(chunk.source.as_str());
        let Some(reason) = reason.filter(|_| !file.is_pinned()) else {
            return true;
        };
        excluded.push(Excluded::new(chunk.source.as_str(), reason.clone()));
        false
    });
    for file in files {
        contribution.add_clean(file.ranked, file.redacted);
    }
    for chunk in others.chunks {
        contribution.add_clean(chunk, Vec::new());
    }
    if let Some(chunk) = notes::chunk(&notes) {
        contribution.add(chunk);
    }
    contribution.redacted.extend(others.redacted);
    excluded.extend(others.excluded);
    Made {
        contribution,
        ranked,
        left_out,
        excluded,
    }
}

/// The best files whose twins are reported.
const TOLD_OF_TWINS: usize = 10;

/// The files that others stand for. What is pinned is shown in any case.
fn twins<'a>(prepared: &'a Prepared, files: &[FileChunk]) -> BTreeMap<&'a str, &'a str> {
    // An overview shows the variety of a project, and whoever asks for everything means copies too.
    if prepared.is_overview || prepared.request.is_all {
        return BTreeMap::new();
    }
    let pinned = files.iter().filter(|file| file.is_pinned());
    let pinned: BTreeSet<&str> = pinned
        .map(|file| file.ranked.chunk.source.as_str())
        .collect();
    let candidates = prepared.survey.candidates.iter().filter_map(|candidate| {
        let file = prepared.workspace.files().get(candidate.file)?;
        Some((file.path.as_str(), candidate))
    });
    twins::twins(candidates, |path| pinned.contains(path))
}

/// The problem that files could not be read, all in one line.
fn unread(prepared: &Prepared) -> Option<Problem> {
    let skipped = prepared
        .workspace
        .skipped()
        .iter()
        .chain(&prepared.survey.skipped);
    let unread = skipped.filter(|skipped| matches!(skipped.reason, SkipReason::Unreadable { .. }));
    let names: Vec<String> = unread.map(|skipped| skipped.path.clone()).collect();
    let count = names.len();
    let message = format!(
        "{} could not be read: {}",
        counted(count as u64, "file", "files"),
        named(&names)
    );
    (count > 0).then(|| Problem::new("", ProblemKind::LeftOut, message))
}

/// The problems of the workspace, the survey and the gatherers.
fn problems(prepared: &Prepared, options: &PackOptions) -> Vec<Problem> {
    let mut problems = Vec::new();
    let (workspace, survey) = (&prepared.workspace, &prepared.survey);
    if workspace.files().is_empty() {
        let message = "there are no files: the folder is empty, or all are left out";
        problems.push(Problem::new("", ProblemKind::NotFound, message));
    }
    problems.extend(unread(prepared));
    for pin in &options.pins {
        let of = |candidate: &kitbag_workspace::survey::Candidate| {
            let file = workspace.files().get(candidate.file);
            file.is_some_and(|file| file.path == *pin)
        };
        if !survey.candidates.iter().any(of) {
            let message = "the survey did not look at it, so it cannot be pinned";
            problems.push(Problem::new(pin.as_str(), ProblemKind::NotFound, message));
        }
    }
    problems.extend_from_slice(workspace.problems());
    problems.extend_from_slice(&survey.problems);
    problems.extend_from_slice(&prepared.ours.problems);
    problems.extend_from_slice(&prepared.others.problems);
    problems
}
