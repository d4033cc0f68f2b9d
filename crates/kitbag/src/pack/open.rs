//! Opens the workspace of a request, and takes the change from it that is to be packed.

use std::sync::Arc;

use kitbag_workspace::workspace::{Workspace, WorkspaceOptions};

use super::change::Change;
use super::pins::Pins;
use super::{PackError, SurveyRequest};
use crate::gather::pooled;

/// Lists the files, and asks git, on a thread of its own.
pub(super) async fn open(
    request: &SurveyRequest,
) -> Result<(Arc<Workspace>, Option<Change>, Pins), PackError> {
    let mut options = WorkspaceOptions::default();
    options.include.clone_from(&request.include);
    options.exclude.clone_from(&request.exclude);
    options.named = Pins::named(&request.root, &request.pins);
    options.use_git = request.use_git;
    let (root, changes) = (request.root.clone(), request.changes.clone());
    let (resident, pins) = (request.resident.clone(), request.pins.clone());
    let work = move || {
        let workspace = match resident {
            Some(resident) => resident.open(&root, &options)?,
            None => Arc::new(Workspace::open(&root, &options)?),
        };
        let pins = Pins::of(&workspace, &pins)?;
        let change = match changes {
            Some(_) if !options.use_git => return Err(PackError::NoRepository),
            Some(changes) => Some(Change::of(&workspace, &changes)?),
            None => None,
        };
        Ok((workspace, change, pins))
    };
    pooled(move || Ok(work())).await?
}
