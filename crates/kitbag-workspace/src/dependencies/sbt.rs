//! `build.sbt`.

use std::collections::BTreeMap;

use super::DependencyKind::{Dev, Normal};
use super::sources::Sources;
use super::written::{first_string, first_word, lines, strings};
use super::{Dependency, Ecosystem, Manifest};
use crate::relative::join;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    sources.manifests(Ecosystem::Sbt, |name| name == "build.sbt", read)
}

fn read(manifest: &mut Manifest, text: &str) -> Option<()> {
    let projects: BTreeMap<&str, Option<String>> = lines(text, "//")
        .filter_map(|line| project(line, manifest.folder()))
        .collect();
    for line in lines(text, "//") {
        let set = |key: &str| {
            let (place, value) = line.split_once(":=")?;
            let is_key = place.split([' ', '/']).rfind(|word| !word.is_empty())? == key;
            first_string(value).filter(|_| is_key).map(str::to_owned)
        };
        // The first of them is the whole build's.
        manifest.name = manifest.name.take().or_else(|| set("name"));
        manifest.version = manifest.version.take().or_else(|| set("version"));
        manifest.dependencies.extend(library(line));
        let used = line.split_once(".dependsOn(").map_or("", |(_, used)| used);
        for name in used.split([',', '(', ')', ' ', '%']) {
            if let Some(local) = projects.get(name).filter(|_| !manifest.has(name)) {
                let dependency = Dependency::new(name, Normal);
                manifest.dependencies.push(dependency.at(local.clone()));
            }
        }
    }
    Some(())
}

/// A project of a build and its folder: `lazy val core = (project in file("core"))`.
fn project<'t>(line: &'t str, folder: &str) -> Option<(&'t str, Option<String>)> {
    let (name, rest) = line.strip_prefix("lazy val ")?.split_once('=')?;
    let name = name.split(':').next().unwrap_or(name).trim();
    let place = rest
        .split_once("file(")
        .and_then(|(_, rest)| first_string(rest));
    let is_project = rest.contains("project") || rest.contains("Project");
    is_project.then(|| (name, join(folder, place.unwrap_or(name))))
}

/// Reads `"group" %% "name" % "version" % Test`, wherever it stands in a line.
fn library(line: &str) -> Option<Dependency> {
    let (before, after) = line
        // The longest sign first, since it holds the shorter ones.
        .split_once("%%%")
        .or_else(|| line.split_once("%%"))
        .or_else(|| line.split_once('%'))?;
    let group = strings(before).last().copied()?;
    let name = first_string(after)?;
    let mut rest = after.split('%').skip(1);
    let version = rest.next().unwrap_or_default();
    let version = first_string(version).unwrap_or_else(|| first_word(version).0);
    let is_test = rest.any(|scope| scope.to_ascii_lowercase().contains("test"));
    let kind = if is_test { Dev } else { Normal };
    Some(Dependency::new(format!("{group}:{name}"), kind).requiring(version))
}
