//! Every declared dependency must be named in the code that it was declared for.
//!
//! It looks for the word, so that it needs neither a compiler nor a build; a name that appears only
//! in a comment line does not count.

use std::path::Path;

use super::Problem;
use super::sources::{Source, code_words};
use crate::metadata::{Kind, Metadata};

pub(super) fn check(metadata: &Metadata, sources: &[Source], root: &Path) -> Vec<Problem> {
    let mut problems = Vec::new();
    for member in metadata.members() {
        let manifest = Path::new(&member.manifest_path);
        let folder = manifest.parent().unwrap_or(manifest);
        let folder = folder.strip_prefix(root).unwrap_or(folder);
        let code: Vec<(&str, &str)> = sources
            .iter()
            .filter_map(|source| {
                let path = Path::new(&source.path).strip_prefix(folder).ok()?;
                Some((path.to_str()?, source.text.as_str()))
            })
            .collect();
        for (dependency, kind) in metadata.dependencies_of(member) {
            if !is_used(&dependency.identifier, kind, &code) {
                let manifest = folder.join("Cargo.toml").display().to_string();
                problems.push(unused(manifest, metadata.package_name(dependency), kind));
            }
        }
    }
    problems
}

fn unused(manifest: String, dependency: &str, kind: Kind) -> Problem {
    let (section, place) = match kind {
        Kind::Normal => ("dependency", "src"),
        Kind::Development => ("dev-dependency", "src, tests, benches or examples"),
        Kind::Build => ("build-dependency", "build.rs"),
    };
    Problem::new(
        manifest,
        format!("{section} `{dependency}` is not named in {place}"),
        "remove it; if only its features are wanted, say so with `use … as _;` and a reason",
    )
}

/// Returns true if some file of the package that the kind of dependency reaches names it.
fn is_used(identifier: &str, kind: Kind, code: &[(&str, &str)]) -> bool {
    let names = |text| code_words(text).any(|word| word == identifier);
    code.iter()
        .any(|(path, text)| reaches(kind, path) && names(text))
}

fn reaches(kind: Kind, path: &str) -> bool {
    match kind {
        Kind::Normal => path.starts_with("src/"),
        Kind::Development => path != "build.rs",
        Kind::Build => path == "build.rs",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &[(&str, &str)] = &[
        ("src/lib.rs", "//! uses in_comment\nuse some_crate::X;\n"),
        ("tests/all.rs", "#[case::test_only]\n"),
        ("build.rs", "for_build::run();\n"),
    ];

    #[test]
    fn a_dependency_is_used_where_its_kind_reaches() {
        assert!(is_used("some_crate", Kind::Normal, CODE));
        assert!(is_used("test_only", Kind::Development, CODE));
        assert!(is_used("some_crate", Kind::Development, CODE));
        assert!(is_used("for_build", Kind::Build, CODE));
        assert!(!is_used("test_only", Kind::Normal, CODE));
        assert!(!is_used("for_build", Kind::Normal, CODE));
    }

    #[test]
    fn part_of_a_word_or_a_comment_is_no_use() {
        assert!(!is_used("some", Kind::Normal, CODE));
        assert!(!is_used("in_comment", Kind::Normal, CODE));
    }
}
