//! The cases that are written by hand, in `cases/*.yaml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::{Case, reference};

#[test]
#[ignore = "needs Node.js: cargo xtask test"]
fn every_case_renders_as_handlebars_js_does() {
    let cases = all();
    assert!(cases.len() >= 490, "only {} cases", cases.len());
    let bare: Vec<Case> = cases.iter().map(|(_, case)| case.clone()).collect();
    let expected = reference::rendered(&bare);
    let mut different = Vec::new();
    for ((name, case), expected) in cases.iter().zip(expected) {
        let rendered = case.render();
        if rendered.as_ref().ok() != expected.as_ref() {
            different.push(format!(
                "{name}\n  {:?}\n  expected {expected:?}\n  but got  {rendered:?}",
                case.template
            ));
        }
    }
    let count = different.len();
    assert!(count == 0, "{count} differ:\n{}", different.join("\n"));
}

/// All cases with their names.
fn all() -> Vec<(String, Case)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/handlebars/cases");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let yaml = fs::read_to_string(&file).unwrap();
        let topic = file.file_stem().unwrap().to_string_lossy().into_owned();
        let of_topic: BTreeMap<String, Case> =
            serde_saphyr::from_str(&yaml).unwrap_or_else(|error| panic!("{topic}: {error}"));
        let named = |(name, case)| (format!("{topic}: {name}"), case);
        cases.extend(of_topic.into_iter().map(named));
    }
    cases
}
