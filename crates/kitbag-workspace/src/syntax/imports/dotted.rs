//! Languages that import names by dotted paths: Java, Kotlin, Scala, Swift, C#, and PHP with its
//! backslashes.

use tree_sitter::Node;

use super::{ImportCollector, last_of};

impl ImportCollector<'_> {
    /// `import a.b.C`, `import static a.b.C.d;`, `import a.b.{C, D => E}`, `import a.b.C as D`.
    pub(super) fn dotted(&mut self, node: Node<'_>) {
        let written = self.text(node).trim().trim_end_matches(';');
        let Some((_, list)) = written
            .split_once("import ")
            .or(written.split_once("export "))
        else {
            return;
        };
        let list = without_word(
            list.trim(),
            &["static", "class", "struct", "enum", "func", "protocol"],
        );
        for (path, alias) in entries(list) {
            let wild = [".*", "._", ".given"]
                .iter()
                .find_map(|end| path.strip_suffix(end));
            match wild {
                // The names that a wildcard brings are not in this file.
                Some(package) => self.add(node, package, Vec::new(), false),
                None => {
                    let name = alias.unwrap_or_else(|| last_of(&path, "."));
                    self.add(node, &path, vec![name], false);
                }
            }
        }
    }

    /// `using A.B;`, `using static A.B;`, `using X = A.B;`. A namespace makes no name known.
    pub(super) fn csharp(&mut self, node: Node<'_>) {
        let written = self.text(node).trim().trim_end_matches(';');
        let Some((_, path)) = written.split_once("using ") else {
            return;
        };
        let path = without_word(path.trim(), &["static", "unsafe"]);
        match path.split_once('=') {
            Some((alias, path)) => self.add(node, path, vec![alias.trim().to_owned()], false),
            None => self.add(node, path, Vec::new(), false),
        }
    }

    /// `use A\\B`, `use A\\{B, C as D}`, `use function a\\b`, `require "x.php"`.
    pub(super) fn php(&mut self, node: Node<'_>) {
        let written = self.text(node);
        if node.kind() != "namespace_use_declaration" {
            // `require __DIR__ . '/x.php'`: the string is the path.
            if let Some(path) = written.split(['\'', '"']).nth(1) {
                self.add(node, path.trim_start_matches('/'), Vec::new(), true);
            }
            return;
        }
        let list = written.trim_start_matches("use").trim();
        let list = without_word(list.trim_end_matches(';').trim(), &["function", "const"]);
        for (path, alias) in entries(list) {
            let path = path.trim_start_matches('\\');
            let name = alias.unwrap_or_else(|| last_of(path, "\\"));
            self.add(node, path, vec![name], false);
        }
    }
}

fn without_word<'t>(text: &'t str, words: &[&str]) -> &'t str {
    words
        .iter()
        .find_map(|word| text.strip_prefix(word)?.strip_prefix(' '))
        .map_or(text, str::trim_start)
}

/// The paths of a list with their other names; a group in braces shares what stands before it.
fn entries(list: &str) -> Vec<(String, Option<String>)> {
    let (before, list) = match list.split_once('{') {
        Some((before, group)) => (before.trim(), group.trim_end().trim_end_matches('}')),
        None => ("", list),
    };
    let entry = |entry: &str| {
        let (path, alias) = entry
            .split_once(" as ")
            .or_else(|| entry.split_once("=>"))
            .unwrap_or((entry, ""));
        let alias = Some(alias.trim().to_owned()).filter(|alias| !alias.is_empty());
        (format!("{before}{}", path.trim()), alias)
    };
    list.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(entry)
        .collect()
}
