//! The errors of a pack.

use kitbag_core::assembly::AssembleError;
use kitbag_workspace::git::{Changes, GitError};
use kitbag_workspace::workspace::OpenError;

use super::expand::ExpandError;
use crate::gather::GatherError;

/// An error while making a pack.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The folder cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A change was asked for where there is no git.
    #[error("there is no git repository here, so there is no change to show")]
    NoRepository,
    /// Git does not give the change.
    #[error("git cannot show the change: {0}")]
    Git(GitError),
    /// There is nothing to review.
    #[error("there is no change to pack: {}", compared(changes, *left_out))]
    NoChange {
        /// The two states that were compared.
        changes: Changes,
        /// The number of changed files that the patterns of the request left out.
        left_out: usize,
    },
    /// A file that must be in is not there.
    #[error("there is no file `{path}` to pin below the root")]
    NoSuchPin {
        /// The path.
        path: String,
    },
    /// A folder or a pattern pins more than anybody would choose.
    #[error("`{path}` pins {files} files, and at most {most} can be pinned at once")]
    TooManyPins {
        /// The folder or the pattern.
        path: String,
        /// The files that it stands for.
        files: usize,
        /// The most files.
        most: usize,
    },
    /// The part of a file that must be in is not there.
    #[error(transparent)]
    PinnedPart(#[from] ExpandError),
    /// The required parts do not fit.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// The survey did not finish.
    #[error("the workspace could not be surveyed: {0}")]
    Survey(#[from] GatherError),
}

impl PackError {
    /// The remedy, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open(_) => Some("name the folder of a project".into()),
            Self::Assemble(AssembleError::CriticalOverBudget { .. }) => {
                Some("raise the budget, or pin fewer or smaller files".into())
            }
            Self::Assemble(AssembleError::FixedOverBudget { fixed, .. }) => Some(format!(
                "give a budget of more than {fixed}, or a shorter task"
            )),
            Self::Assemble(error) => Some(error.hint().to_string()),
            Self::NoRepository => Some("run it inside a git repository, and install git".into()),
            Self::Git(error) => error.hint(),
            Self::NoChange { left_out: 1.., .. } => {
                Some("other patterns would include them".into())
            }
            Self::NoChange { changes, .. } => Some(match changes {
                Changes::Staged => "`git add` stages files".into(),
                Changes::Since(_) => {
                    "name an older revision to compare with; `git log --oneline` lists them".into()
                }
                _ => "name an older revision to compare with".into(),
            }),
            Self::NoSuchPin { .. } => Some(
                "name it relative to the root, as `src/main.rs`; binary files cannot be pinned"
                    .into(),
            ),
            Self::TooManyPins { .. } => {
                Some("name a smaller folder; a pattern to include limits what is looked at".into())
            }
            Self::PinnedPart(error) => error.hint(),
            Self::Survey(_) => None,
        }
    }
}

/// A comparison that found no difference, in words.
fn compared(changes: &Changes, left_out: usize) -> String {
    match changes {
        _ if left_out == 1 => "1 changed file is left out by the patterns".into(),
        _ if left_out > 0 => format!("{left_out} changed files are left out by the patterns"),
        Changes::Staged => "nothing is staged".into(),
        Changes::Since(revision) if changes.has_work_tree() => {
            format!("the files are as they were at `{revision}`")
        }
        Changes::Since(revision) => format!("`{revision}` changes no file below the root"),
        _ => "the files are as they were at the last commit".into(),
    }
}
