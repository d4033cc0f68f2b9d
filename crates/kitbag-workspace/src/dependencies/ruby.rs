//! `Gemfile` and `*.gemspec`.

use super::sources::Sources;
use super::written::{first_word, joined, string_after, strings};
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let is_manifest = |name: &str| name == "Gemfile" || name.ends_with(".gemspec");
    let mut manifests = Vec::new();
    for (path, text) in sources.named(is_manifest) {
        let mut manifest = Manifest::new(path, Ecosystem::Ruby);
        if path.ends_with(".gemspec") {
            read_gemspec(&mut manifest, &text);
        } else {
            read_gemfile(&mut manifest, &text);
        }
        manifests.push(sources.bounded(manifest));
    }
    manifests
}

fn read_gemspec(manifest: &mut Manifest, text: &str) {
    for line in joined(text, "#") {
        let (call, rest) = first_word(&line);
        let call = call.rsplit('.').next().unwrap_or(call);
        let values = strings(rest);
        let first = values.first().map(|value| (*value).to_owned());
        let kind = match call {
            "name" if manifest.name.is_none() => {
                manifest.name = first;
                continue;
            }
            "version" if manifest.version.is_none() => {
                manifest.version = first;
                continue;
            }
            "add_dependency" | "add_runtime_dependency" => DependencyKind::Normal,
            "add_development_dependency" => DependencyKind::Dev,
            _ => continue,
        };
        let versions = values.get(1..).unwrap_or_default().join(", ");
        if let Some(name) = first {
            manifest
                .dependencies
                .push(Dependency::new(name, kind).requiring(versions));
        }
    }
}

fn read_gemfile(manifest: &mut Manifest, text: &str) {
    // The blocks that are open, and whether each is for development.
    let mut blocks: Vec<bool> = Vec::new();
    for line in joined(text, "#") {
        let (call, rest) = first_word(&line);
        let opens = line.trim_end().ends_with(" do") || line.contains(" do |");
        match call {
            "end" => {
                blocks.pop();
            }
            "group" if opens => blocks.push(is_for_development(rest)),
            "if" | "unless" | "case" => blocks.push(false),
            "gem" => {
                let in_block = blocks.iter().any(|is_dev| *is_dev);
                manifest
                    .dependencies
                    .extend(gem(rest, in_block, folder_of(&manifest.path)));
            }
            _ if opens => blocks.push(false),
            _ => {}
        }
    }
}

fn gem(rest: &str, in_development: bool, folder: &str) -> Option<Dependency> {
    let (call, _) = rest.split_once(" do").unwrap_or((rest, ""));
    let name = *strings(call).first()?;
    let is_version = |text: &&str| {
        let version = text.trim_start_matches(['~', '>', '<', '=', '!', ' ']);
        version.starts_with(|c: char| c.is_ascii_digit())
    };
    // Options come after the versions, and have strings of their own.
    let versions = call.split_once(':').map_or(call, |(versions, _)| versions);
    let versions: Vec<&str> = strings(versions)
        .into_iter()
        .skip(1)
        .filter(is_version)
        .collect();
    let group = call.split_once("group").map_or("", |(_, group)| group);
    let kind = if in_development || is_for_development(group) {
        DependencyKind::Dev
    } else {
        DependencyKind::Normal
    };
    let local = string_after(call, "path").and_then(|path| join(folder, path));
    Some(
        Dependency::new(name, kind)
            .requiring(versions.join(", "))
            .at(local),
    )
}

fn is_for_development(groups: &str) -> bool {
    ["test", "development", "ci", "lint", "doc"]
        .iter()
        .any(|group| groups.contains(&format!(":{group}")))
}
