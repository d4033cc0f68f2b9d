//! `composer.json`.

use serde_json::Value;

use super::sources::Sources;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::json::{entries, text};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let is_manifest = |name: &str| name == "composer.json";
    sources.manifests(Ecosystem::Composer, is_manifest, |manifest, text| {
        read(manifest, &sources.json(&manifest.path, text)?);
        Some(())
    })
}

fn read(manifest: &mut Manifest, json: &Value) {
    manifest.name = text(json, "/name").map(str::to_owned);
    manifest.version = text(json, "/version").map(str::to_owned);
    for (section, kind) in [
        ("/require", DependencyKind::Normal),
        ("/require-dev", DependencyKind::Dev),
    ] {
        manifest
            .dependencies
            .extend(entries(json, section).map(|(name, requirement)| {
                Dependency::new(name, kind).requiring(requirement.as_str().unwrap_or_default())
            }));
    }
}
