//! `build.sbt`.

use std::collections::BTreeMap;

use super::sources::Sources;
use super::written::{first_word, strings, without_comment};
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut manifests = Vec::new();
    for (path, text) in sources.named(|name| name == "build.sbt") {
        let folder = folder_of(path);
        let mut manifest = Manifest::new(path, Ecosystem::Sbt);
        let lines: Vec<&str> = text
            .lines()
            .map(|line| without_comment(line, "//").trim())
            .collect();
        let projects = projects(&lines, folder);
        for line in &lines {
            let set = |key: &str| {
                let (place, value) = line.split_once(":=")?;
                let is_key = place.split([' ', '/']).rfind(|word| !word.is_empty())? == key;
                strings(value)
                    .first()
                    .filter(|_| is_key)
                    .map(|value| (*value).to_owned())
            };
            // The first of them is the whole build's.
            manifest.name = manifest.name.take().or_else(|| set("name"));
            manifest.version = manifest.version.take().or_else(|| set("version"));
            manifest.dependencies.extend(library(line));
            let used = line.split_once(".dependsOn(").map_or("", |(_, used)| used);
            for name in used
                .split([',', '(', ')', ' ', '%'])
                .filter(|name| !name.is_empty())
            {
                if let Some(local) = projects.get(name) {
                    let known = manifest.dependencies.iter().any(|known| known.name == name);
                    let dependency = Dependency::new(name, DependencyKind::Normal);
                    manifest
                        .dependencies
                        .extend((!known).then(|| dependency.at(local.clone())));
                }
            }
        }
        manifests.push(sources.bounded(manifest));
    }
    manifests
}

/// The projects of a build and their folders: `lazy val core = (project in file("core"))`.
fn projects<'t>(lines: &[&'t str], folder: &str) -> BTreeMap<&'t str, Option<String>> {
    let mut projects = BTreeMap::new();
    for line in lines {
        let Some((name, rest)) = line
            .strip_prefix("lazy val ")
            .and_then(|rest| rest.split_once('='))
        else {
            continue;
        };
        let name = name.split(':').next().unwrap_or(name).trim();
        if rest.contains("project") || rest.contains("Project") {
            let place = rest
                .split_once("file(")
                .and_then(|(_, rest)| strings(rest).first().copied());
            projects.insert(name, join(folder, place.unwrap_or(name)));
        }
    }
    projects
}

/// Reads `"group" %% "name" % "version" % Test`, wherever it stands in a line.
fn library(line: &str) -> Option<Dependency> {
    let (before, after) = line
        .split_once("%%%")
        .or_else(|| line.split_once("%%"))
        .or_else(|| line.split_once('%'))?;
    let group = strings(before).last().copied()?;
    let name = strings(after).first().copied()?;
    let (_, rest) = after.split_once('%').unwrap_or_default();
    let mut rest = rest.split('%');
    let version = rest.next().unwrap_or_default();
    let version = strings(version)
        .first()
        .copied()
        .unwrap_or_else(|| first_word(version).0);
    let is_test = rest.any(|scope| scope.to_ascii_lowercase().contains("test"));
    let kind = if is_test {
        DependencyKind::Dev
    } else {
        DependencyKind::Normal
    };
    Some(Dependency::new(format!("{group}:{name}"), kind).requiring(version))
}
