//! What a file imports, and under which names.
//!
//! The paths stay as they are written; which file they mean is for others to find.

use tree_sitter::Node;

use super::Import;
use super::items::span;

/// How a family of languages writes imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Importer {
    Python,
    Rust,
    JavaScript,
    Go,
    Java,
    C,
    Ruby,
    Php,
}

impl Importer {
    /// Whether an import may stand within a statement: `const x = require("x")`.
    pub(super) const fn hides_in_expressions(self) -> bool {
        matches!(self, Self::JavaScript | Self::Ruby | Self::Php)
    }
}

/// Reads the imports that a node makes; adds none if it makes none.
pub(super) fn read(importer: Importer, node: Node<'_>, text: &str, out: &mut Vec<Import>) {
    let mut found = Found { text, out };
    match importer {
        Importer::Python => found.python(node),
        Importer::Rust => found.rust(node),
        Importer::JavaScript => found.javascript(node),
        Importer::Go => found.go(node),
        Importer::Java => found.java(node),
        Importer::C => found.c(node),
        Importer::Ruby => found.ruby(node),
        Importer::Php => found.php(node),
    }
}

struct Found<'f> {
    text: &'f str,
    out: &'f mut Vec<Import>,
}

impl<'f> Found<'f> {
    fn text(&self, node: Node<'_>) -> &'f str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    fn field(&self, node: Node<'_>, field: &str) -> Option<&'f str> {
        node.child_by_field_name(field).map(|node| self.text(node))
    }

    fn add(&mut self, node: Node<'_>, path: &str, names: Vec<String>, relative: bool) {
        let path = unquoted(path);
        if path.is_empty() || path.len() > 300 {
            return;
        }
        let (first, last) = span(node);
        self.out.push(Import {
            path: path.to_owned(),
            names,
            relative,
            first,
            last,
        });
    }

    fn python(&mut self, node: Node<'_>) {
        let module = match node.kind() {
            "future_import_statement" => Some("__future__"),
            _ => self.field(node, "module_name"),
        };
        let mut names = Vec::new();
        let mut cursor = node.walk();
        for name in node.children_by_field_name("name", &mut cursor) {
            let path = self.field(name, "name").unwrap_or(self.text(name));
            let alias = self.field(name, "alias");
            if module.is_some() {
                names.push(alias.unwrap_or(path).to_owned());
            } else {
                let known = alias.unwrap_or(path.split('.').next().unwrap_or(path));
                self.add(node, path, vec![known.to_owned()], false);
            }
        }
        if let Some(module) = module {
            self.add(node, module, names, false);
        }
    }

    fn rust(&mut self, node: Node<'_>) {
        match node.kind() {
            "use_declaration" => {
                if let Some(tree) = node.child_by_field_name("argument") {
                    self.rust_tree(node, tree, String::new(), 0);
                }
            }
            "mod_item" => {
                if let Some(name) = self.field(node, "name") {
                    self.add(node, &format!("self::{name}"), vec![name.to_owned()], true);
                }
            }
            _ => {
                if let Some(name) = self.field(node, "name") {
                    let known = self.field(node, "alias").unwrap_or(name);
                    self.add(node, name, vec![known.to_owned()], false);
                }
            }
        }
    }

    fn rust_tree(&mut self, whole: Node<'_>, tree: Node<'_>, before: String, depth: u32) {
        if depth > 20 {
            return;
        }
        let join = |path: &str| {
            if before.is_empty() {
                path.to_owned()
            } else {
                format!("{before}::{path}")
            }
        };
        match tree.kind() {
            "scoped_use_list" => {
                let before = self.field(tree, "path").map_or(before.clone(), join);
                if let Some(list) = tree.child_by_field_name("list") {
                    self.rust_tree(whole, list, before, depth + 1);
                }
            }
            "use_list" => {
                let mut cursor = tree.walk();
                for child in tree.named_children(&mut cursor) {
                    self.rust_tree(whole, child, before.clone(), depth + 1);
                }
            }
            "use_as_clause" => {
                let path = join(self.field(tree, "path").unwrap_or(""));
                let alias = self.field(tree, "alias").unwrap_or("").to_owned();
                self.add(whole, &path, vec![alias], false);
            }
            "use_wildcard" => {
                let path = join(self.text(tree).trim_end_matches('*').trim_end_matches("::"));
                self.add(whole, path.trim_end_matches("::"), Vec::new(), false);
            }
            "self" => {
                let name = before.rsplit("::").next().unwrap_or("").to_owned();
                self.add(whole, &before, vec![name], false);
            }
            kind if kind.contains("comment") => {}
            _ => {
                let path = join(self.text(tree));
                let name = path.rsplit("::").next().unwrap_or("").to_owned();
                self.add(whole, &path, vec![name], false);
            }
        }
    }

    fn javascript(&mut self, node: Node<'_>) {
        if node.kind() == "call_expression" {
            let function = self.field(node, "function").unwrap_or("");
            let path = node
                .child_by_field_name("arguments")
                .and_then(|arguments| arguments.named_child(0))
                .filter(|first| first.kind() == "string");
            if let (Some(path), "require" | "import" | "require.resolve" | "jest.mock") =
                (path, function)
            {
                let whole = declaration_around(node);
                let names = whole
                    .child_by_field_name("name")
                    .map_or_else(Vec::new, |name| self.identifiers(name));
                self.add(whole, self.text(path), names, false);
            }
            return;
        }
        if let Some(source) = self.field(node, "source") {
            let mut names = Vec::new();
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                if child.kind() != "string" {
                    names.append(&mut self.identifiers(child));
                }
            }
            self.add(node, source, names, false);
        } else if node.kind() == "import_statement" {
            // `import x = require("y")`
            let mut cursor = node.walk();
            for child in node.named_children(&mut cursor) {
                if let Some(source) = self.field(child, "source") {
                    let names = self.identifiers(child);
                    self.add(node, source, names, false);
                }
            }
        }
    }

    /// The names that a clause or a pattern makes known.
    fn identifiers(&self, node: Node<'_>) -> Vec<String> {
        let mut names = Vec::new();
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            let known = match node.kind() {
                "identifier" | "shorthand_property_identifier_pattern" => Some(node),
                "import_specifier" | "export_specifier" => node
                    .child_by_field_name("alias")
                    .or_else(|| node.child_by_field_name("name")),
                "pair_pattern" => {
                    stack.extend(node.child_by_field_name("value"));
                    continue;
                }
                _ => None,
            };
            if let Some(known) = known {
                names.push(self.text(known).to_owned());
            } else {
                let mut cursor = node.walk();
                let children: Vec<_> = node.named_children(&mut cursor).collect();
                stack.extend(children.into_iter().rev());
            }
        }
        names
    }

    fn go(&mut self, node: Node<'_>) {
        if node.kind() == "import_spec" {
            let path = unquoted(self.field(node, "path").unwrap_or(""));
            let name = self.field(node, "name").unwrap_or_else(|| package(path));
            self.add(node, path, vec![name.to_owned()], false);
            return;
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if matches!(child.kind(), "import_spec" | "import_spec_list") {
                self.go(child);
            }
        }
    }

    fn java(&mut self, node: Node<'_>) {
        let written = self.text(node).trim_start_matches("import").trim();
        let path = written.trim_start_matches("static ").trim();
        let path = path.trim_end_matches(';').trim();
        let (path, names) = match path.strip_suffix(".*") {
            Some(package) => (package, Vec::new()),
            None => (path, vec![last_of(path, ".")]),
        };
        self.add(node, path, names, false);
    }

    fn c(&mut self, node: Node<'_>) {
        if let Some(path) = node.child_by_field_name("path") {
            let written = self.text(path);
            let relative = written.starts_with('"');
            let path = written.trim_matches(['<', '>']);
            self.add(node, path, Vec::new(), relative);
        }
    }

    fn ruby(&mut self, node: Node<'_>) {
        let method = self.field(node, "method").unwrap_or("");
        if !matches!(method, "require" | "require_relative" | "autoload" | "load") {
            return;
        }
        let Some(arguments) = node.child_by_field_name("arguments") else {
            return;
        };
        let mut cursor = arguments.walk();
        let arguments: Vec<_> = arguments.named_children(&mut cursor).collect();
        let string = arguments.iter().find(|node| node.kind() == "string");
        let names = arguments
            .iter()
            .filter(|node| node.kind() == "simple_symbol")
            .map(|node| self.text(*node).trim_start_matches(':').to_owned())
            .collect();
        if let Some(path) = string {
            let relative = method == "require_relative";
            self.add(node, self.text(*path), names, relative);
        }
    }

    fn php(&mut self, node: Node<'_>) {
        let written = self.text(node);
        if node.kind() != "namespace_use_declaration" {
            // `require __DIR__ . '/x.php'`: the string is the path.
            if let Some(path) = written.split(['\'', '"']).nth(1) {
                self.add(node, path.trim_start_matches('/'), Vec::new(), true);
            }
            return;
        }
        let list = written.trim_start_matches("use").trim();
        let list = list.trim_end_matches(';').trim();
        let list = ["function ", "const "]
            .iter()
            .find_map(|word| list.strip_prefix(word))
            .unwrap_or(list);
        let (before, list) = match list.split_once('{') {
            Some((before, list)) => (before.trim(), list.trim_end_matches('}')),
            None => ("", list),
        };
        for entry in list
            .split(',')
            .map(str::trim)
            .filter(|entry| !entry.is_empty())
        {
            let (path, alias) = entry.split_once(" as ").unwrap_or((entry, ""));
            let path = format!("{before}{}", path.trim());
            let path = path.trim_start_matches('\\');
            let name = if alias.is_empty() {
                last_of(path, "\\")
            } else {
                alias.trim().to_owned()
            };
            self.add(node, path, vec![name], false);
        }
    }
}

/// The declaration that a call of `require` stands in, or the call.
fn declaration_around(call: Node<'_>) -> Node<'_> {
    let mut node = call;
    for _ in 0..3 {
        match node.parent() {
            Some(parent) if parent.kind() == "variable_declarator" => return parent,
            Some(parent) => node = parent,
            None => break,
        }
    }
    call
}

fn unquoted(path: &str) -> &str {
    path.trim()
        .trim_matches(|c: char| matches!(c, '"' | '\'' | '`'))
}

fn last_of(path: &str, separator: &str) -> String {
    path.rsplit(separator)
        .next()
        .unwrap_or("")
        .trim()
        .to_owned()
}

/// The name of a Go package by its path: the last part that is no version.
fn package(path: &str) -> &str {
    let is_version = |part: &&str| {
        part.strip_prefix('v')
            .is_some_and(|v| v.parse::<u32>().is_ok())
    };
    let name = path
        .rsplit('/')
        .find(|part| !is_version(part))
        .unwrap_or(path);
    name.strip_prefix("go-")
        .unwrap_or(name)
        .split('.')
        .next()
        .unwrap_or(name)
}
