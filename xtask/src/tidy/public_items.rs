//! Counts public items of the core that nobody uses: no other crate, no example, no document.
//!
//! It looks for words, as a reader with `grep` would: an item counts as used where its name stands in
//! the code of another crate, in a document, in an example of the core's own documentation, or in the
//! declaration of another public item, which could not be public without it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::Problem;
use super::sources::Source;

/// So many may be there: a library offers some things before somebody needs them.
const MOST: usize = 20;

const CORE: &str = "crates/kitbag-core/src/";

/// Prints the number, and fails where it is too large.
pub(super) fn check(sources: &[Source], root: &Path) -> Vec<Problem> {
    let documents = ["README.md", "docs"].map(|name| read_all(&root.join(name)));
    let unused = unused(sources, &documents.concat());
    println!(
        "{} public items of the core are used by nobody",
        unused.len()
    );
    if unused.len() < MOST {
        return Vec::new();
    }
    let names: Vec<String> = unused.iter().map(Item::to_string).collect();
    vec![Problem::new(
        CORE,
        format!(
            "{} public items are used by nobody, {MOST} or more",
            unused.len()
        ),
        format!("make them private or use them: {}", names.join(", ")),
    )]
}

/// A public declaration.
#[derive(Debug, PartialEq, Eq)]
struct Item<'a> {
    path: &'a str,
    name: &'a str,
    /// The text that others can see: a signature, or the fields and variants.
    declaration: &'a str,
}

impl std::fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let file = self.path.strip_prefix(CORE).unwrap_or(self.path);
        write!(f, "{} ({file})", self.name)
    }
}

fn unused<'a>(sources: &'a [Source], documents: &str) -> Vec<Item<'a>> {
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("tests.rs");
    let code = sources.iter().filter(|source| !is_test(&source.path));
    let (core, others): (Vec<_>, Vec<_>) = code.partition(|source| source.path.starts_with(CORE));
    let mut used: BTreeSet<&str> = words(documents).collect();
    for source in others
        .iter()
        .filter(|source| source.path.starts_with("crates/"))
    {
        used.extend(lines_of_code(&source.text).flat_map(words));
    }
    for source in &core {
        used.extend(documented_calls(&source.text).flat_map(words));
    }
    let items: Vec<Item<'_>> = core.iter().flat_map(|source| items(source)).collect();
    let is_declared_with = |name: &str| {
        let others = items.iter().filter(|item| item.name != name);
        others
            .map(|item| item.declaration)
            .any(|text| words(text).any(|word| word == name))
    };
    let is_unused = |item: &&Item<'_>| !used.contains(item.name) && !is_declared_with(item.name);
    let names: Vec<usize> = (0..items.len())
        .filter(|&index| items.get(index).is_some_and(|item| is_unused(&item)))
        .collect();
    let mut items: Vec<Option<Item<'_>>> = items.into_iter().map(Some).collect();
    names
        .into_iter()
        .filter_map(|index| items.get_mut(index)?.take())
        .collect()
}

/// The public items of a file, methods among them.
fn items(source: &Source) -> Vec<Item<'_>> {
    let text = without_tests(&source.text);
    let mut items = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        let Some(rest) = bare.strip_prefix("pub ") else {
            continue;
        };
        let rest = rest
            .trim_start_matches("const fn ")
            .trim_start_matches("fn ");
        let kinds = ["struct ", "enum ", "trait ", "const ", "static ", "type "];
        let is_block = ["struct ", "enum ", "trait "]
            .iter()
            .any(|kind| rest.starts_with(kind));
        let is_function = bare.contains("fn ") && !is_block;
        if !is_function && !kinds.iter().any(|kind| rest.starts_with(kind)) {
            continue;
        }
        let named = kinds
            .iter()
            .find_map(|kind| rest.strip_prefix(kind))
            .unwrap_or(rest);
        let Some(name) = words(named).next() else {
            continue;
        };
        let following = text.get(start..).unwrap_or_default();
        let end = match is_block && line.trim_end().ends_with('{') {
            true => following.find(&format!("\n{}}}", " ".repeat(indent))),
            false => following.find(['{', ';']),
        };
        items.push(Item {
            path: &source.path,
            name,
            declaration: following.get(..end.unwrap_or(line.len())).unwrap_or(line),
        });
    }
    items
}

fn without_tests(text: &str) -> &str {
    let tests = text.find("\n#[cfg(test)]\nmod ");
    tests.and_then(|end| text.get(..end)).unwrap_or(text)
}

fn lines_of_code(text: &str) -> impl Iterator<Item = &str> {
    let lines = without_tests(text).lines();
    lines.filter(|line| !line.trim_start().starts_with("//"))
}

/// The lines of examples in documentation.
fn documented_calls(text: &str) -> impl Iterator<Item = &str> {
    let mut is_example = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        let Some(said) = line
            .strip_prefix("///")
            .or_else(|| line.strip_prefix("//!"))
        else {
            is_example = false;
            return None;
        };
        if said.trim_start().starts_with("```") {
            is_example = !is_example;
            return None;
        }
        is_example.then_some(said)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty())
}

/// A document, or all of a folder.
fn read_all(path: &Path) -> String {
    let Ok(entries) = fs::read_dir(path) else {
        return fs::read_to_string(path).unwrap_or_default();
    };
    let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    files
        .map(|file| fs::read_to_string(file).unwrap_or_default())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str, text: &str) -> Source {
        Source {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    fn names(sources: &[Source], documents: &str) -> Vec<String> {
        let unused = unused(sources, documents);
        unused.iter().map(|item| item.name.to_owned()).collect()
    }

    #[test]
    fn an_item_is_used_by_a_crate_a_document_an_example_or_a_declaration() {
        let core = source(
            "crates/kitbag-core/src/a.rs",
            "/// ```\n/// shown();\n/// ```\npub fn shown() {}\npub struct Held;\npub fn called() -> Held {}\n\
             pub(crate) fn inside() {}\nimpl Held {\n    pub const fn alone(&self) {}\n    pub fn told(&self) {}\n}\n",
        );
        let other = source("crates/kitbag/src/b.rs", "// alone\ncalled();\n");
        assert_eq!(names(&[core, other], "`told`"), ["alone"]);
    }

    #[test]
    fn tests_use_nothing() {
        let core = source("crates/kitbag-core/src/a.rs", "pub fn lonely() {}\n");
        let test = source("crates/kitbag/tests/a.rs", "lonely();\n");
        assert_eq!(names(&[core, test], ""), ["lonely"]);
    }
}
