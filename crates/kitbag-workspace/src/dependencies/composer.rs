//! `composer.json`.

use serde_json::{Map, Value};

use super::sources::Sources;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    for (path, text) in sources.named(|name| name == "composer.json") {
        if let Some(json) = sources.parsed(path, serde_json::from_str::<Map<String, Value>>(&text))
        {
            manifests.push(sources.bounded(manifest(path, &json)));
        }
    }
    manifests
}

fn manifest(path: &str, json: &Map<String, Value>) -> Manifest {
    let mut manifest = Manifest::new(path, Ecosystem::Composer);
    let text = |key: &str| json.get(key).and_then(Value::as_str).map(str::to_owned);
    manifest.name = text("name");
    manifest.version = text("version");
    for (section, kind) in [
        ("require", DependencyKind::Normal),
        ("require-dev", DependencyKind::Dev),
    ] {
        let entries = json.get(section).and_then(Value::as_object);
        for (name, requirement) in entries.into_iter().flatten() {
            let requirement = requirement.as_str().unwrap_or_default();
            let dependency = Dependency::new(name, kind).requiring(requirement);
            manifest.dependencies.push(dependency);
        }
    }
    manifest
}
