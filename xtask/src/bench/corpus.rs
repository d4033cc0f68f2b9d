//! The source code that is counted: the project's own, then its dependencies', up to 20 MB.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::root;
use crate::metadata::Metadata;

const BYTES: usize = 20_000_000;

/// Writes the paths of the files, one a line, in an order that depends on the lock file alone.
pub(super) fn write_list(metadata: &Metadata, folder: &Path) -> Result<PathBuf> {
    let mut packages: Vec<_> = metadata.foreign().collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    let manifests = packages.iter().map(|p| Path::new(&p.manifest_path));
    let foreign = manifests.filter_map(|manifest| Some(manifest.parent()?.to_path_buf()));
    let own = ["crates", "xtask"].map(|name| root().join(name));

    let mut list = String::new();
    let mut bytes = 0;
    for start in own.into_iter().chain(foreign) {
        for file in rust_files(&start)? {
            // A file that is no UTF-8 cannot be counted.
            let Ok(text) = fs::read_to_string(&file) else {
                continue;
            };
            bytes += text.len();
            if bytes > BYTES {
                break;
            }
            list.push_str(&file.to_string_lossy());
            list.push('\n');
        }
    }
    let path = folder.join("files");
    fs::write(&path, list).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let reading = || format!("reading {}", folder.display());
    let mut entries = fs::read_dir(folder)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .with_context(reading)?;
    // File systems list a folder in different orders.
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}
