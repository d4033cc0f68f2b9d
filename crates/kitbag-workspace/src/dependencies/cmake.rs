//! `CMakeLists.txt`.

use super::sources::Sources;
use super::written::joined;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    for (path, text) in sources.named(|name| name == "CMakeLists.txt") {
        let mut manifest = Manifest::new(path, Ecosystem::CMake);
        for line in joined(&text, "#") {
            let Some((command, arguments)) = line.split_once('(') else {
                continue;
            };
            let arguments: Vec<&str> = arguments
                .split([' ', '\t', ')', '"'])
                .filter(|word| !word.is_empty())
                .collect();
            let Some(first) = arguments.first().filter(|name| !name.contains("${")) else {
                continue;
            };
            let after = |key: &str| {
                let mut words = arguments
                    .iter()
                    .skip_while(|word| !word.eq_ignore_ascii_case(key));
                words.nth(1).copied().unwrap_or_default()
            };
            match command.trim().to_ascii_lowercase().as_str() {
                "project" if manifest.name.is_none() => {
                    manifest.name = Some((*first).to_owned());
                    manifest.version =
                        Some(after("VERSION").to_owned()).filter(|version| !version.is_empty());
                }
                "find_package" => {
                    let is_version = |word: &&&str| word.starts_with(|c: char| c.is_ascii_digit());
                    let version = arguments
                        .get(1)
                        .filter(is_version)
                        .copied()
                        .unwrap_or_default();
                    push(&mut manifest, first, version);
                }
                "fetchcontent_declare" => push(&mut manifest, first, after("GIT_TAG")),
                _ => {}
            }
        }
        // Folders of a build have a list each. Those that need nothing of their own say nothing.
        if !manifest.dependencies.is_empty() || !path.contains('/') {
            manifests.push(sources.bounded(manifest));
        }
    }
    manifests
}

fn push(manifest: &mut Manifest, name: &str, requirement: &str) {
    if !manifest.dependencies.iter().any(|known| known.name == name) {
        let dependency = Dependency::new(name, DependencyKind::Normal).requiring(requirement);
        manifest.dependencies.push(dependency);
    }
}
