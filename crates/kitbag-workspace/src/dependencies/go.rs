//! `go.mod` and `go.work`.

use std::collections::BTreeMap;

use super::link::Members;
use super::sources::Sources;
use super::written::without_comment;
use super::{Dependency, DependencyKind, Ecosystem, Manifest};
use crate::relative::{folder_of, join, upwards};

/// The folders that stand in for modules; none for a module that another stands in for.
type Replacements = BTreeMap<String, Option<String>>;

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let mut members = Members::default();
    let mut workspaces = BTreeMap::new();
    for (path, text) in sources.named(|name| name == "go.work") {
        let directives = directives(&text);
        let used = directives.iter().filter(|(verb, _)| *verb == "use");
        members.add_folders(folder_of(path), used.map(|(_, folder)| unquoted(folder)));
        workspaces.insert(folder_of(path), replacements(folder_of(path), &directives));
    }
    let is_manifest = |name: &str| name == "go.mod";
    let mut manifests = sources.manifests(Ecosystem::Go, is_manifest, |manifest, text| {
        let directives = directives(text);
        let mut replaced = replacements(manifest.folder(), &directives);
        // What the workspace says goes before what a module says.
        if let Some(more) = upwards(manifest.folder()).find_map(|folder| workspaces.get(folder)) {
            replaced.extend(more.clone());
        }
        read(manifest, &directives, &replaced);
        Some(())
    });
    members.mark(&mut manifests);
    manifests
}

fn read(manifest: &mut Manifest, directives: &[(&str, &str)], replaced: &Replacements) {
    for (verb, rest) in directives {
        match *verb {
            "module" => manifest.name = Some(unquoted(rest).to_owned()),
            // What is only needed by others is not for people.
            "require" if !rest.contains("// indirect") => {
                let rest = without_comment(rest, "//").trim();
                let (name, version) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                let dependency = Dependency::new(unquoted(name), DependencyKind::Normal);
                let local = replaced.get(&dependency.name).cloned().flatten();
                manifest
                    .dependencies
                    .push(dependency.requiring(version).at(local));
            }
            _ => {}
        }
    }
}

fn replacements(folder: &str, directives: &[(&str, &str)]) -> Replacements {
    let replacement = |(verb, rest): &(&str, &str)| {
        let (from, to) = without_comment(rest, "//").split_once("=>")?;
        let name = unquoted(from.split_whitespace().next()?).to_owned();
        let to = unquoted(to.split_whitespace().next()?);
        // Any other target is a module of others, or a path outside.
        let local = to.starts_with('.').then(|| join(folder, to)).flatten();
        (*verb == "replace").then_some((name, local))
    };
    directives.iter().filter_map(replacement).collect()
}

/// The directives of a file, those in a block one by one.
fn directives(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut block = None;
    for line in text.lines().map(str::trim) {
        let code = without_comment(line, "//").trim();
        match block {
            Some(_) if code == ")" => block = None,
            Some(verb) if !code.is_empty() => found.push((verb, line)),
            Some(_) => {}
            None => match code.split_once(|c: char| c.is_whitespace() || c == '(') {
                Some((verb, _)) if code.ends_with('(') => block = Some(verb),
                Some((verb, _)) => {
                    let rest = line.strip_prefix(verb).unwrap_or(line).trim();
                    found.push((verb, rest));
                }
                None => {}
            },
        }
    }
    found
}

fn unquoted(text: &str) -> &str {
    let text = without_comment(text, "//").trim();
    text.trim_matches(['"', '`'])
}
