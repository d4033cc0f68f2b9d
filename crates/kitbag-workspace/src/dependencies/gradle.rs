//! `build.gradle` and `build.gradle.kts`, with `settings.gradle` and version catalogs.

mod catalog;

use std::collections::BTreeMap;

use self::catalog::Catalog;
use super::link::Members;
use super::sources::Sources;
use super::written::{first_word, string_after, strings, without_comment};
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join, name_of, upwards};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut roots: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut members = Members::default();
    for (path, text) in sources.named(|name| is_script(name, "settings")) {
        let folder = folder_of(path);
        let mut name = None;
        for line in lines(&text) {
            let (word, rest) = first_word(line);
            match word {
                "include" => {
                    for project in strings(rest) {
                        members.add(folder, &globset::escape(&as_folder(project)));
                    }
                }
                "rootProject.name" => name = strings(rest).first().map(|name| (*name).to_owned()),
                _ => {}
            }
        }
        roots.insert(folder, name);
    }
    let catalogs = catalog::catalogs(sources);
    let mut manifests = Vec::new();
    for (path, text) in sources.named(|name| is_script(name, "build")) {
        let folder = folder_of(path);
        let root = upwards(folder).find_map(|folder| roots.get_key_value(folder));
        let catalog = upwards(folder).find_map(|folder| catalogs.get(folder));
        let mut manifest = Manifest::new(path, Ecosystem::Gradle);
        manifest.name = match root {
            Some((root, name)) if *root == folder => name.clone(),
            _ => Some(name_of(folder))
                .filter(|name| !name.is_empty())
                .map(str::to_owned),
        };
        let root = root.map_or("", |(root, _)| root);
        for line in lines(&text) {
            if let (None, ("version", value)) = (&manifest.version, first_word(line)) {
                manifest.version = strings(value).first().map(|value| (*value).to_owned());
            }
            manifest
                .dependencies
                .extend(dependency(line, root, catalog));
        }
        manifests.push(sources.bounded(manifest));
    }
    members.mark(&mut manifests);
    manifests
}

fn is_script(name: &str, stem: &str) -> bool {
    let end = name.strip_prefix(stem);
    end.is_some_and(|end| matches!(end, ".gradle" | ".gradle.kts"))
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| without_comment(line, "//").trim())
}

/// Reads a line such as `implementation("group:name:1.0")` or `api project(':core')`.
fn dependency(line: &str, root: &str, catalog: Option<&Catalog>) -> Option<Dependency> {
    let (configuration, rest) = first_word(line);
    let kind = kind_of(configuration)?;
    let rest = rest.trim_start_matches([' ', '(']);
    let rest = ["platform(", "enforcedPlatform(", "testFixtures("]
        .iter()
        .find_map(|wrapper| rest.strip_prefix(wrapper))
        .unwrap_or(rest);
    let first = strings(rest).first().copied();
    if rest.starts_with("project") {
        let project = string_after(rest, "path").or(first)?;
        let local = join(root, &as_folder(project));
        return Some(Dependency::new(project, kind).at(local));
    }
    if let Some(alias) = rest.strip_prefix("libs.") {
        let alias: String = alias
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '.')
            .collect();
        let (name, version) = match catalog.and_then(|catalog| catalog.get(&alias)) {
            Some((name, version)) => (name.clone(), version.clone()),
            None => (format!("libs.{alias}"), String::new()),
        };
        return Some(Dependency::new(name, kind).requiring(version));
    }
    if let Some(group) = string_after(rest, "group") {
        let name = string_after(rest, "name")?;
        let version = string_after(rest, "version").unwrap_or_default();
        return Some(Dependency::new(format!("{group}:{name}"), kind).requiring(version));
    }
    if rest.starts_with("kotlin(") {
        return Some(Dependency::new(
            format!("org.jetbrains.kotlin:kotlin-{}", first?),
            kind,
        ));
    }
    // Without quotes it is a variable.
    let coordinates = first.filter(|_| rest.starts_with(['"', '\'']))?;
    let mut parts = coordinates.split(':');
    let (group, name) = (parts.next()?, parts.next()?);
    let version = parts.next().unwrap_or_default();
    Some(Dependency::new(format!("{group}:{name}"), kind).requiring(version))
}

/// What a configuration is for, if it is one.
fn kind_of(configuration: &str) -> Option<DependencyKind> {
    let lower = configuration.to_ascii_lowercase();
    let is_one = [
        "implementation",
        "api",
        "compileonly",
        "runtimeonly",
        "compile",
        "runtime",
        "annotationprocessor",
        "kapt",
        "ksp",
        "classpath",
    ]
    .iter()
    .any(|end| lower.ends_with(end));
    let kind = if lower.contains("test") {
        DependencyKind::Dev
    } else if matches!(
        lower.as_str(),
        "annotationprocessor" | "kapt" | "ksp" | "classpath"
    ) {
        DependencyKind::Build
    } else if lower.ends_with("compileonly") {
        DependencyKind::Peer
    } else {
        DependencyKind::Normal
    };
    is_one.then_some(kind)
}

/// The folder of a project: `:core:util` is in `core/util`.
fn as_folder(project: &str) -> String {
    project.trim_matches(':').replace(':', "/")
}
