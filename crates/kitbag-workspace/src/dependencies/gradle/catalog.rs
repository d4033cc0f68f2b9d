//! Version catalogs: `gradle/libs.versions.toml`.

use std::collections::BTreeMap;

use toml::{Table, Value};

use crate::dependencies::cargo::get;
use crate::dependencies::sources::Sources;
use crate::relative::folder_of;

/// The module and version of each library, by the name that scripts use (`junit.jupiter`).
pub(super) type Catalog = BTreeMap<String, (String, String)>;

/// The catalogs, by the folder of the build that they belong to.
pub(super) fn catalogs(sources: &Sources<'_>) -> BTreeMap<String, Catalog> {
    let mut catalogs = BTreeMap::new();
    for (path, text) in sources.named(|name| name == "libs.versions.toml") {
        let table = text
            .parse::<Table>()
            .map_err(|error| error.message().to_owned());
        if let Some(table) = sources.parsed(path, table) {
            // It stands in a folder `gradle` beside the scripts.
            let build = folder_of(folder_of(path)).to_owned();
            catalogs.insert(build, read(&table));
        }
    }
    catalogs
}

fn read(table: &Table) -> Catalog {
    let libraries = get(table, &["libraries"]).and_then(Value::as_table);
    let mut catalog = Catalog::new();
    for (alias, library) in libraries.into_iter().flatten() {
        let text = |key: &str| library.get(key).and_then(Value::as_str);
        let parts = || Some(format!("{}:{}", text("group")?, text("name")?));
        let (module, version) = match library.as_str() {
            Some(coordinates) => match coordinates.rsplit_once(':') {
                Some((module, version)) => (module.to_owned(), version.to_owned()),
                None => continue,
            },
            None => match text("module").map(str::to_owned).or_else(parts) {
                Some(module) => (module, version(table, library)),
                None => continue,
            },
        };
        catalog.insert(alias.replace(['-', '_'], "."), (module, version));
    }
    catalog
}

fn version(table: &Table, library: &Value) -> String {
    let version = library.get("version");
    let named = version.and_then(|version| version.get("ref")?.as_str());
    let named = named.and_then(|name| get(table, &["versions", name])?.as_str());
    let own = version.and_then(Value::as_str);
    own.or(named).unwrap_or_default().to_owned()
}
