//! `build.gradle` and `build.gradle.kts`, with `settings.gradle` and version catalogs.

mod catalog;

use std::collections::BTreeMap;

use self::catalog::Catalog;
use super::link::Members;
use super::sources::Sources;
use super::written::{first_string, first_word, lines, string_after, strings};
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join, name_of, upwards};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut roots: BTreeMap<&str, Option<String>> = BTreeMap::new();
    let mut members = Members::default();
    for (path, text) in sources.named(|name| is_script(name, "settings")) {
        let folder = folder_of(path);
        let mut name = None;
        for line in lines(&text, "//") {
            match first_word(line) {
                ("include", rest) => {
                    let projects: Vec<String> = strings(rest).into_iter().map(as_folder).collect();
                    members.add_folders(folder, projects.iter().map(String::as_str));
                }
                ("rootProject.name", rest) => name = first_string(rest).map(str::to_owned),
                _ => {}
            }
        }
        roots.insert(folder, name);
    }
    let catalogs = catalog::catalogs(sources);
    let is_manifest = |name: &str| is_script(name, "build");
    let mut manifests = sources.manifests(Ecosystem::Gradle, is_manifest, |manifest, text| {
        let folder = manifest.folder();
        let root = upwards(folder).find_map(|folder| roots.get_key_value(folder));
        let catalog = upwards(folder).find_map(|folder| catalogs.get(folder));
        manifest.name = match root {
            Some((root, name)) if *root == folder => name.clone(),
            // Gradle names such a project after the folder of the checkout, which is another one
            // for everybody.
            _ if folder.is_empty() => None,
            _ => Some(name_of(folder).to_owned()),
        };
        let root = root.map_or("", |(root, _)| root);
        for line in lines(text, "//") {
            if let (None, ("version", value)) = (&manifest.version, first_word(line)) {
                manifest.version = first_string(value).map(str::to_owned);
            }
            manifest
                .dependencies
                .extend(dependency(line, root, catalog));
        }
        Some(())
    });
    members.mark(&mut manifests);
    manifests
}

fn is_script(name: &str, stem: &str) -> bool {
    let end = name.strip_prefix(stem);
    end.is_some_and(|end| matches!(end, ".gradle" | ".gradle.kts"))
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
    let first = first_string(rest);
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
            // Without its catalog the alias is still worth showing.
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
        let name = format!("org.jetbrains.kotlin:kotlin-{}", first?);
        return Some(Dependency::new(name, kind));
    }
    // Without quotes it is a variable.
    let coordinates = first.filter(|_| rest.starts_with(['"', '\'']))?;
    let mut parts = coordinates.split(':');
    let (group, name) = (parts.next()?, parts.next()?);
    let version = parts.next().unwrap_or_default();
    Some(Dependency::new(format!("{group}:{name}"), kind).requiring(version))
}

/// The purpose of a configuration, if it is one.
fn kind_of(configuration: &str) -> Option<DependencyKind> {
    let lower = configuration.to_ascii_lowercase();
    let ends = "implementation api compileonly runtimeonly compile runtime annotationprocessor kapt ksp \
                classpath";
    let is_one = ends.split(' ').any(|end| lower.ends_with(end));
    let kind = match lower.as_str() {
        // First, since `testImplementation` ends like a plain one.
        test if test.contains("test") => DependencyKind::Dev,
        "annotationprocessor" | "kapt" | "ksp" | "classpath" => DependencyKind::Build,
        other if other.ends_with("compileonly") => DependencyKind::Peer,
        _ => DependencyKind::Normal,
    };
    is_one.then_some(kind)
}

/// The folder of a project: `:core:util` is in `core/util`.
fn as_folder(project: &str) -> String {
    project.trim_matches(':').replace(':', "/")
}
