//! `setup.cfg` and `setup.py`.

use super::requirement;
use crate::dependencies::DependencyKind::{Build, Dev, Normal, Optional};
use crate::dependencies::sources::Sources;
use crate::dependencies::written::{string_after, strings};
use crate::dependencies::{Ecosystem, Manifest};

pub(super) fn manifests(sources: &Sources<'_>) -> Vec<Manifest> {
    let is_manifest = |name: &str| matches!(name, "setup.cfg" | "setup.py");
    sources.manifests(Ecosystem::Python, is_manifest, |manifest, text| {
        match manifest.path.ends_with(".cfg") {
            true => read_settings(manifest, text),
            false => read_program(manifest, text),
        }
        Some(())
    })
}

/// Reads sections, keys, and values that go on in indented lines.
fn read_settings(manifest: &mut Manifest, text: &str) {
    let (mut section, mut key) = ("", "");
    for line in text.lines() {
        let line = line.split(" #").next().unwrap_or(line);
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let goes_on = line.starts_with([' ', '\t']);
        if let (false, Some(name)) = (goes_on, trimmed.strip_prefix('[')) {
            (section, key) = (name.trim_end_matches(']'), "");
            continue;
        }
        let mut value = trimmed;
        if let (false, Some((name, rest))) = (goes_on, trimmed.split_once(['=', ':'])) {
            (key, value) = (name.trim(), rest.trim());
        }
        let kind = match (section, key) {
            ("metadata", "name") => {
                manifest.name = Some(value.to_owned());
                continue;
            }
            ("metadata", "version") => {
                // `attr: package.__version__` is no version.
                manifest.version = (!value.contains(':')).then(|| value.to_owned());
                continue;
            }
            ("options", "install_requires") => Normal,
            ("options", "setup_requires") => Build,
            ("options", "tests_require") => Dev,
            ("options.extras_require", _) => Optional,
            _ => continue,
        };
        let found = requirement::parse(value, kind, manifest.folder());
        manifest.dependencies.extend(found);
    }
}

/// Finds the lists of strings that are given to `setup`, if they are given there and then.
fn read_program(manifest: &mut Manifest, text: &str) {
    let Some((_, call)) = text.split_once("setup(") else {
        return;
    };
    manifest.name = string_after(call, "name").map(str::to_owned);
    manifest.version = string_after(call, "version").map(str::to_owned);
    for (key, kind) in [
        ("install_requires", Normal),
        ("setup_requires", Build),
        ("tests_require", Dev),
    ] {
        let list = text.split_once(key).and_then(|(_, after)| {
            let list = after.trim_start_matches([' ', '=', '\n', '\t']);
            let list = list.strip_prefix('[')?;
            // A bracket inside a string, as in `"shop[redis]"`, is followed by a quote.
            let ends = ["]\n", "],", "]"];
            ends.iter().find_map(|end| Some(list.split_once(end)?.0))
        });
        let lines = list.into_iter().flat_map(str::lines);
        let lines = lines.filter(|line| !line.trim_start().starts_with('#'));
        for text in lines.flat_map(strings) {
            let found = requirement::parse(text, kind, manifest.folder());
            manifest.dependencies.extend(found);
        }
    }
}
