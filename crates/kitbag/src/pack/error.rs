//! Why there is no pack.

use kitbag_core::assembly::AssembleError;
use kitbag_workspace::workspace::OpenError;

use crate::gather::GatherError;

/// Why there is no pack.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// The folder cannot be read.
    #[error(transparent)]
    Open(#[from] OpenError),
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
            Self::Assemble(error) => Some(error.hint().to_string()),
            Self::Survey(_) => None,
        }
    }
}
