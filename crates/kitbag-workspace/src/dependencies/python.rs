//! Python: `pyproject.toml`, requirements, `setup.cfg`, `setup.py`, `Pipfile`.

mod pyproject;
mod requirement;
mod requirements;
mod setup;

use super::Manifest;
use super::link::Members;
use super::sources::Sources;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut members = Members::default();
    let mut manifests = pyproject::manifests(sources, &mut members);
    manifests.extend(requirements::manifests(sources));
    manifests.extend(setup::manifests(sources));
    members.mark(&mut manifests);
    manifests
}
