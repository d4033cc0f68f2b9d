//! Why there is no pack.

use kitbag_core::assembly::AssembleError;
use kitbag_workspace::git::GitError;
use kitbag_workspace::workspace::OpenError;

use crate::gather::GatherError;

/// Why there is no pack.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The folder cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A change was asked for where there is no git.
    #[error("there is no git repository here to take a change from")]
    NoRepository,
    /// Git does not give the change.
    #[error("git does not give the change: {0}")]
    Git(GitError),
    /// A file that must be in is not there.
    #[error("there is no file `{path}` to pin below the root")]
    NoSuchPin {
        /// The path.
        path: String,
    },
    /// What must be in does not fit.
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    /// The survey did not finish.
    #[error("the workspace could not be surveyed: {0}")]
    Survey(#[from] GatherError),
}

impl PackError {
    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open(_) => Some("name the folder of a project with `--root`".into()),
            Self::Assemble(AssembleError::CriticalOverBudget { .. }) => {
                Some("raise the budget, or pin fewer or smaller files".into())
            }
            Self::Assemble(error) => Some(error.hint().to_string()),
            Self::NoRepository => Some("leave out `--diff` and `--staged`, and `--no-git`".into()),
            Self::Git(error) => error.hint(),
            Self::NoSuchPin { .. } => Some(
                "name it relative to the root, as `src/main.rs`; binary files cannot be pinned"
                    .into(),
            ),
            Self::Survey(_) => None,
        }
    }
}
