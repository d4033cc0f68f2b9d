//! Counts public items of the core that nobody uses: no other crate, no example, no document.
//!
//! It looks for words, as a reader with `grep` would: an item counts as used where its name stands in
//! the code of another crate, in a document, in an example of the core's own documentation, or in the
//! declaration of another public item, which could not be public without it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;
use regex::{Captures, Regex};

use super::Problem;
use super::sources::{Source, code_words, words};

/// A limit above zero, because a library offers some things before a program needs them.
const MOST: usize = 20;

const CORE: &str = "crates/kitbag-core/src/";

/// The line that declares a public item: its indent, its kind and its name.
const DECLARED: &str =
    r"(?m)^( *)pub ((?:const |async |unsafe )*fn|struct|enum|trait|const|static|type) (\w+).*$";

/// Prints the number, and fails where it is too large.
pub(super) fn check(sources: &[Source], root: &Path) -> Result<Vec<Problem>> {
    let documents = ["README.md", "docs"].map(|name| read_all(&root.join(name)));
    let unused = unused(sources, &documents.concat())?;
    let count = unused.len();
    println!("{count} public items of the core are used by nobody");
    if count < MOST {
        return Ok(Vec::new());
    }
    let named = |item: &Item<'_>| {
        let file = item.path.strip_prefix(CORE).unwrap_or(item.path);
        format!("{} ({file})", item.name)
    };
    let names: Vec<String> = unused.iter().map(named).collect();
    Ok(vec![Problem::new(
        CORE,
        format!("{count} public items are used by nobody, {MOST} or more"),
        format!("make them private or use them: {}", names.join(", ")),
    )])
}

/// A public declaration.
#[derive(Debug, Clone, Copy)]
struct Item<'a> {
    path: &'a str,
    name: &'a str,
    /// The text that others can see: a signature, or the fields and variants.
    declaration: &'a str,
}

fn unused<'a>(sources: &'a [Source], documents: &str) -> Result<Vec<Item<'a>>> {
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("tests.rs");
    let is_code = |source: &&Source| source.path.starts_with("crates/") && !is_test(&source.path);
    let code = sources.iter().filter(is_code);
    let (core, others): (Vec<_>, Vec<_>) = code.partition(|source| source.path.starts_with(CORE));
    let mut used: BTreeSet<&str> = words(documents).collect();
    for source in others {
        // An item that only tests use is used by nobody.
        used.extend(code_words(without_tests(&source.text)));
    }
    for source in &core {
        used.extend(documented_calls(&source.text).flat_map(words));
    }
    let declared = Regex::new(DECLARED)?;
    let items = core.iter().flat_map(|source| items_of(source, &declared));
    let items: Vec<Item<'_>> = items.collect();
    let is_declared_with = |name: &str| {
        let mut others = items.iter().filter(|item| item.name != name);
        others.any(|other| words(other.declaration).any(|word| word == name))
    };
    let is_unused = |item: &&Item<'_>| !used.contains(item.name) && !is_declared_with(item.name);
    Ok(items.iter().filter(is_unused).copied().collect())
}

/// The public items of a file, methods among them.
fn items_of<'a>(source: &'a Source, declared: &Regex) -> Vec<Item<'a>> {
    let text = without_tests(&source.text);
    let item = |captures: Captures<'a>| {
        let (line, [indent, kind, name]) = captures.extract();
        let following = text.get(captures.get_match().start()..).unwrap_or(line);
        let is_block = matches!(kind, "struct" | "enum" | "trait") && line.ends_with('{');
        let end = match is_block {
            // rustfmt puts the closing brace at the indent of the declaration.
            true => following.find(&format!("\n{indent}}}")),
            false => following.find(['{', ';']),
        };
        let declaration = following.get(..end.unwrap_or(line.len())).unwrap_or(line);
        Item {
            path: &source.path,
            name,
            declaration,
        }
    };
    declared.captures_iter(text).map(item).collect()
}

fn without_tests(text: &str) -> &str {
    // Tests inside a file stand at its end.
    let tests = text.find("\n#[cfg(test)]\nmod ");
    tests.and_then(|end| text.get(..end)).unwrap_or(text)
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
        let unused = unused(sources, documents).unwrap();
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
    fn functions_of_every_kind_are_seen() {
        let text = "pub async fn one() {}\npub unsafe fn two() {}\npub const unsafe fn three() {}\n\
                    pub const FOUR: u8 = 4;\n";
        let core = source("crates/kitbag-core/src/a.rs", text);
        assert_eq!(names(&[core], ""), ["one", "two", "three", "FOUR"]);
    }

    #[test]
    fn tests_use_nothing() {
        let core = source("crates/kitbag-core/src/a.rs", "pub fn lonely() {}\n");
        let test = source("crates/kitbag/tests/a.rs", "lonely();\n");
        assert_eq!(names(&[core, test], ""), ["lonely"]);
    }
}
