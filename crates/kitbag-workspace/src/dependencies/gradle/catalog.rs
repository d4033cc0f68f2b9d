//! Version catalogs: `gradle/libs.versions.toml`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::dependencies::sources::Sources;
use crate::json::{entries, text};
use crate::relative::folder_of;

/// The module and version of each library, by the name that scripts use (`junit.jupiter`).
pub(super) type Catalog = BTreeMap<String, (String, String)>;

/// The catalogs, by the folder of the build that they belong to.
pub(super) fn catalogs(sources: &Sources<'_>) -> BTreeMap<String, Catalog> {
    let mut catalogs = BTreeMap::new();
    for (path, text) in sources.named(|name| name == "libs.versions.toml") {
        if let Some(table) = sources.toml(path, &text) {
            // It is in a folder `gradle` next to the scripts.
            let build = folder_of(folder_of(path)).to_owned();
            catalogs.insert(build, read(&table));
        }
    }
    catalogs
}

fn read(table: &Value) -> Catalog {
    let entry = |(alias, library): (&String, &Value)| {
        let (module, version) = match library.as_str() {
            Some(coordinates) => coordinates.rsplit_once(':')?,
            None => ("", version(table, library).unwrap_or_default()),
        };
        let module = match text(library, "/module").unwrap_or(module) {
            "" => format!("{}:{}", text(library, "/group")?, text(library, "/name")?),
            module => module.to_owned(),
        };
        Some((alias.replace(['-', '_'], "."), (module, version.to_owned())))
    };
    entries(table, "/libraries").filter_map(entry).collect()
}

fn version<'t>(table: &'t Value, library: &'t Value) -> Option<&'t str> {
    let version = library.get("version")?;
    let named = || table.get("versions")?.get(text(version, "/ref")?)?.as_str();
    version.as_str().or_else(named)
}
