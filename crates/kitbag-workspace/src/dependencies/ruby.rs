//! `Gemfile` and `*.gemspec`.

use super::DependencyKind::{Dev, Normal};
use super::sources::Sources;
use super::written::{first_string, first_word, joined, string_after, strings};
use super::{Dependency, Ecosystem, Manifest};
use crate::relative::join;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let is_manifest = |name: &str| name == "Gemfile" || name.ends_with(".gemspec");
    sources.manifests(Ecosystem::Ruby, is_manifest, |manifest, text| {
        match manifest.path.ends_with(".gemspec") {
            true => read_gemspec(manifest, text),
            false => read_gemfile(manifest, text),
        }
        Some(())
    })
}

fn read_gemspec(manifest: &mut Manifest, text: &str) {
    for line in joined(text, "#") {
        let (call, rest) = first_word(&line);
        let values = strings(rest);
        let Some((&first, versions)) = values.split_first() else {
            continue;
        };
        let kind = match call.rsplit('.').next().unwrap_or(call) {
            "name" => {
                manifest.name.get_or_insert_with(|| first.to_owned());
                continue;
            }
            "version" => {
                manifest.version.get_or_insert_with(|| first.to_owned());
                continue;
            }
            "add_dependency" | "add_runtime_dependency" => Normal,
            "add_development_dependency" => Dev,
            _ => continue,
        };
        let dependency = Dependency::new(first, kind).requiring(versions.join(", "));
        manifest.dependencies.push(dependency);
    }
}

fn read_gemfile(manifest: &mut Manifest, text: &str) {
    // The blocks that are open; true for those for development.
    let mut blocks: Vec<bool> = Vec::new();
    for line in joined(text, "#") {
        let (call, rest) = first_word(&line);
        let opens = line.trim_end().ends_with(" do") || line.contains(" do |");
        match call {
            "end" => drop(blocks.pop()),
            "group" if opens => blocks.push(is_for_development(rest)),
            // They end with `end` too, and would close a group in its place.
            "if" | "unless" | "case" => blocks.push(false),
            "gem" => {
                let found = gem(rest, blocks.contains(&true), manifest.folder());
                manifest.dependencies.extend(found);
            }
            _ if opens => blocks.push(false),
            _ => {}
        }
    }
}

fn gem(rest: &str, in_development: bool, folder: &str) -> Option<Dependency> {
    let (call, _) = rest.split_once(" do").unwrap_or((rest, ""));
    let name = first_string(call)?;
    let is_version = |text: &&str| {
        let version = text.trim_start_matches(['~', '>', '<', '=', '!', ' ']);
        version.starts_with(|c: char| c.is_ascii_digit())
    };
    // Options come after the versions, and have strings of their own.
    let versions = call.split_once(':').map_or(call, |(versions, _)| versions);
    // The first string is the name.
    let versions = strings(versions).into_iter().skip(1).filter(is_version);
    let group = call.split_once("group").map_or("", |(_, group)| group);
    let is_dev = in_development || is_for_development(group);
    let local = string_after(call, "path").and_then(|path| join(folder, path));
    let dependency = Dependency::new(name, if is_dev { Dev } else { Normal });
    Some(
        dependency
            .requiring(versions.collect::<Vec<_>>().join(", "))
            .at(local),
    )
}

fn is_for_development(groups: &str) -> bool {
    [":test", ":development", ":ci", ":lint", ":doc"]
        .iter()
        .any(|group| groups.contains(group))
}
