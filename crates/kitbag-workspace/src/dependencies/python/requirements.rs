//! `requirements.txt` and its relatives.

use super::requirement;
use crate::dependencies::sources::Sources;
use crate::dependencies::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join, name_of};

/// The most files in a row that include the next.
const MAX_DEPTH: usize = 5;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    sources.manifests(Ecosystem::Python, is_requirements, |manifest, text| {
        let path = manifest.path.clone();
        read(sources, manifest, &path, text, MAX_DEPTH);
        Some(())
    })
}

fn is_requirements(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_text = name.ends_with(".txt") || name.ends_with(".in");
    is_text && name.contains("requirements")
}

fn kind_of(path: &str) -> DependencyKind {
    let name = name_of(path).to_ascii_lowercase();
    let is_dev = |part: &str| {
        let signs = ["dev", "test", "doc", "lint", "ci"];
        signs.iter().any(|sign| part.starts_with(sign))
    };
    match name.split(['-', '_', '.']).any(is_dev) {
        true => DependencyKind::Dev,
        false => DependencyKind::Normal,
    }
}

/// Adds what the text of the file at `path` requires, which the manifest is or includes.
fn read(sources: &Sources<'_>, manifest: &mut Manifest, path: &str, text: &str, depth: usize) {
    let kind = kind_of(&manifest.path);
    let folder = folder_of(path);
    // A backslash at its end continues a line.
    for line in text.replace("\\\n", " ").lines() {
        // A hash is part of a URL unless a blank stands before it.
        let line = line.split(" #").next().unwrap_or(line).trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(included) = option(line, &["-r", "--requirement"]) {
            let Some(path) = join(folder, included) else {
                let reason = format!("`{included}` is outside the workspace");
                sources.problem(path, reason);
                continue;
            };
            // What is a manifest of its own is read there.
            let is_part = !is_requirements(name_of(&path)) && sources.contains(&path);
            if is_part
                && depth > 0
                && let Some(text) = sources.text(&path)
            {
                read(sources, manifest, &path, &text, depth - 1);
            }
        } else if let Some(place) = option(line, &["-e", "--editable"]) {
            manifest
                .dependencies
                .extend(join(folder, place).map(|local| {
                    let name = if local.is_empty() {
                        "."
                    } else {
                        name_of(&local)
                    };
                    Dependency::new(name, kind).at(Some(local))
                }));
        } else {
            // Options behind a requirement, such as `--hash`, are for the installer.
            let line = line.split(" --").next().unwrap_or(line);
            let found = requirement::parse(line, kind, folder);
            manifest.dependencies.extend(found);
        }
    }
}

/// The value of an option: `-r x`, `-rx` or `--requirement=x`.
fn option<'l>(line: &'l str, names: &[&str]) -> Option<&'l str> {
    let value = names.iter().find_map(|name| line.strip_prefix(name))?;
    Some(value.trim_start_matches(['=', ' ', '\t']).trim())
}
