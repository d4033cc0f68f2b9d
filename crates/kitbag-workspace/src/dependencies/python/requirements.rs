//! `requirements.txt` and its relatives.

use super::requirement;
use crate::dependencies::sources::Sources;
use crate::dependencies::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join, name_of};

/// How often a file may include one that includes another.
const MAX_DEPTH: usize = 5;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    for (path, text) in sources.named(is_requirements) {
        let mut manifest = Manifest::new(path, Ecosystem::Python);
        let mut reader = Reader {
            sources,
            kind: kind_of(path),
            dependencies: Vec::new(),
        };
        reader.read(path, &text, MAX_DEPTH);
        manifest.dependencies = reader.dependencies;
        manifests.push(sources.bounded(manifest));
    }
    manifests
}

fn is_requirements(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_text = name.ends_with(".txt") || name.ends_with(".in");
    is_text && name.contains("requirements")
}

fn kind_of(path: &str) -> DependencyKind {
    let name = name_of(path).to_ascii_lowercase();
    let is_dev = ["dev", "test", "doc", "lint", "ci"].iter().any(|sign| {
        name.split(['-', '_', '.'])
            .any(|part| part.starts_with(sign))
    });
    if is_dev {
        DependencyKind::Dev
    } else {
        DependencyKind::Normal
    }
}

struct Reader<'a> {
    sources: &'a Sources<'a>,
    kind: DependencyKind,
    dependencies: Vec<Dependency>,
}

impl Reader<'_> {
    fn read(&mut self, path: &str, text: &str, depth: usize) {
        let folder = folder_of(path);
        for line in text.replace("\\\n", " ").lines() {
            // A hash is part of a URL unless a blank stands before it.
            let line = line.split(" #").next().unwrap_or(line).trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(included) = option(line, &["-r", "--requirement"]) {
                self.include(path, included, depth);
            } else if let Some(place) = option(line, &["-e", "--editable"]) {
                if let Some(local) = join(folder, place) {
                    let name = if local.is_empty() {
                        "."
                    } else {
                        name_of(&local)
                    }
                    .to_owned();
                    let dependency = Dependency::new(name, self.kind).at(Some(local));
                    self.dependencies.push(dependency);
                }
            } else {
                let line = line.split(" --").next().unwrap_or(line);
                self.dependencies
                    .extend(requirement::parse(line, self.kind, folder));
            }
        }
    }

    /// Reads what a file includes, unless that is a manifest of its own.
    fn include(&mut self, from: &str, included: &str, depth: usize) {
        let Some(path) = join(folder_of(from), included) else {
            self.sources
                .problem(from, format!("`{included}` is outside the workspace"));
            return;
        };
        if is_requirements(name_of(&path)) || !self.sources.contains(&path) || depth == 0 {
            return;
        }
        if let Some(text) = self.sources.text(&path) {
            self.read(&path, &text, depth - 1);
        }
    }
}

/// The value of an option: `-r x`, `-rx` or `--requirement=x`.
fn option<'l>(line: &'l str, names: &[&str]) -> Option<&'l str> {
    let value = names.iter().find_map(|name| line.strip_prefix(name))?;
    Some(value.trim_start_matches(['=', ' ', '\t']).trim())
}
