//! Opens the workspace of a request, and takes the change from it that is to be packed.

use std::sync::Arc;

use kitbag_workspace::workspace::{Workspace, WorkspaceOptions};

use super::change::Change;
use super::{PackError, SurveyRequest};
use crate::gather::pooled;

/// Lists the files, and asks git, on a thread of its own.
pub(super) async fn open(
    request: &SurveyRequest,
) -> Result<(Arc<Workspace>, Option<Change>), PackError> {
    let mut options = WorkspaceOptions::default();
    options.include.clone_from(&request.include);
    options.exclude.clone_from(&request.exclude);
    options.named.clone_from(&request.pins);
    options.use_git = request.use_git;
    let (root, changes) = (request.root.clone(), request.changes.clone());
    let resident = request.resident.clone();
    let work = move || {
        let workspace = match resident {
            Some(resident) => resident.open(&root, &options)?,
            None => Arc::new(Workspace::open(&root, &options)?),
        };
        for pin in &options.named {
            if !workspace.files().iter().any(|file| file.path == *pin) {
                return Err(PackError::NoSuchPin { path: pin.clone() });
            }
        }
        let change = match changes {
            Some(_) if !options.use_git => return Err(PackError::NoRepository),
            Some(changes) => Some(Change::of(&workspace, &changes)?),
            None => None,
        };
        Ok((workspace, change))
    };
    pooled(move || Ok(work())).await?
}
