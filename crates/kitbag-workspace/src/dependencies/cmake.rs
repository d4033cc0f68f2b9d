//! `CMakeLists.txt`.

use super::sources::Sources;
use super::written::joined;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    sources.manifests(Ecosystem::CMake, |name| name == "CMakeLists.txt", read)
}

fn read(manifest: &mut Manifest, text: &str) -> Option<()> {
    for line in joined(text, "#") {
        let Some((command, arguments)) = line.split_once('(') else {
            continue;
        };
        let mut arguments: Vec<&str> = arguments.split([' ', '\t', ')', '"']).collect();
        arguments.retain(|word| !word.is_empty());
        let Some(&name) = arguments.first().filter(|name| !name.contains("${")) else {
            continue;
        };
        let after = |key: &str| {
            let at = arguments
                .iter()
                .position(|word| word.eq_ignore_ascii_case(key));
            at.and_then(|at| arguments.get(at + 1).copied())
        };
        let is_version = |word: &&str| word.starts_with(|c: char| c.is_ascii_digit());
        let requirement = match command.trim().to_ascii_lowercase().as_str() {
            "project" if manifest.name.is_none() => {
                manifest.name = Some(name.to_owned());
                manifest.version = after("VERSION").map(str::to_owned);
                continue;
            }
            "find_package" => arguments.get(1).copied().filter(is_version),
            "fetchcontent_declare" => after("GIT_TAG"),
            _ => continue,
        };
        if !manifest.has(name) {
            let dependency = Dependency::new(name, DependencyKind::Normal);
            manifest
                .dependencies
                .push(dependency.requiring(requirement.unwrap_or_default()));
        }
    }
    // Folders of a build have a list each. Those that need nothing of their own say nothing.
    (!manifest.dependencies.is_empty() || !manifest.path.contains('/')).then_some(())
}
