//! The imports of a file, and the names that they make known.
//!
//! The paths stay as they are written; which file they mean is for others to find.

mod dotted;
mod javascript;
mod rust;

use tree_sitter::Node;

use super::Import;
use super::items::span;

/// The form in which a family of languages writes imports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Importer {
    Python,
    Rust,
    JavaScript,
    Go,
    /// Java, Kotlin, Scala and Swift.
    Dotted,
    CSharp,
    C,
    Ruby,
    Php,
    Bash,
    Lua,
}

impl Importer {
    /// Tells if an import may stand within a statement: `const x = require("x")`.
    pub(super) const fn hides_in_expressions(self) -> bool {
        matches!(self, Self::JavaScript | Self::Ruby | Self::Php | Self::Lua)
    }

    /// Tells if an import may stand within this text, or a function that is kept in a variable.
    pub(super) fn may_hide_in(self, text: &str) -> bool {
        let words: &[&str] = match self {
            Self::JavaScript => &["require", "import", "jest.mock", "=>", "function"],
            Self::Ruby => &["require", "load"],
            Self::Php => &["require", "include", "function", "fn"],
            Self::Lua => &["require", "dofile", "function"],
            _ => &[],
        };
        // A search of the text is cheaper than a walk over its nodes.
        words.iter().any(|word| text.contains(word))
    }
}

/// Reads the imports that a node makes; adds none if it makes none.
pub(super) fn read(importer: Importer, node: Node<'_>, text: &str, out: &mut Vec<Import>) {
    let mut found = ImportCollector { text, out };
    match importer {
        Importer::Python => found.python(node),
        Importer::Rust => found.rust(node),
        Importer::JavaScript => found.javascript(node),
        Importer::Go => found.go(node),
        Importer::Dotted => found.dotted(node),
        Importer::CSharp => found.csharp(node),
        Importer::C => found.c(node),
        Importer::Ruby => found.ruby(node),
        Importer::Php => found.php(node),
        Importer::Bash => found.bash(node),
        Importer::Lua => found.lua(node),
    }
}

struct ImportCollector<'f> {
    text: &'f str,
    out: &'f mut Vec<Import>,
}

impl<'f> ImportCollector<'f> {
    fn text(&self, node: Node<'_>) -> &'f str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    fn field(&self, node: Node<'_>, field: &str) -> Option<&'f str> {
        node.child_by_field_name(field).map(|node| self.text(node))
    }

    fn add(&mut self, node: Node<'_>, path: &str, names: Vec<String>, relative: bool) {
        let path = unquoted(path);
        // So long a string is data, not a path.
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
            within: None,
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
                // `import a.b` makes `a` known, not `b`.
                let known = alias.unwrap_or(path.split('.').next().unwrap_or(path));
                self.add(node, path, vec![known.to_owned()], false);
            }
        }
        if let Some(module) = module {
            self.add(node, module, names, false);
        }
    }

    fn go(&mut self, node: Node<'_>) {
        if node.kind() == "import_spec" {
            let path = unquoted(self.field(node, "path").unwrap_or(""));
            let name = self.field(node, "name").unwrap_or_else(|| package(path));
            let names = match name {
                // Neither makes a name known that could be looked for.
                "." | "_" => Vec::new(),
                name => vec![name.to_owned()],
            };
            self.add(node, path, names, false);
            return;
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if matches!(child.kind(), "import_spec" | "import_spec_list") {
                self.go(child);
            }
        }
    }

    fn c(&mut self, node: Node<'_>) {
        if let Some(path) = node.child_by_field_name("path") {
            let written = self.text(path);
            // Quotes begin the search at the including file, brackets do not.
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

    /// `source x`, `. x`
    fn bash(&mut self, node: Node<'_>) {
        let mut words = self.text(node).split_whitespace();
        if let (Some("source" | "."), Some(path)) = (words.next(), words.next()) {
            self.add(node, path, Vec::new(), true);
        }
    }

    /// `require("x")`, also without parentheses.
    fn lua(&mut self, node: Node<'_>) {
        if !matches!(self.field(node, "name"), Some("require" | "dofile")) {
            return;
        }
        let written = self.field(node, "arguments").unwrap_or("");
        let path = written.trim_matches(['(', ')']).trim();
        if path.starts_with(['"', '\'']) {
            // An assignment gives the value its first name.
            let assignment = around(node, "assignment_statement");
            let name = assignment.and_then(|node| node.named_child(0)?.named_child(0));
            let names = name.map(|name| self.text(name).to_owned());
            self.add(node, path, names.into_iter().collect(), false);
        }
    }
}

fn unquoted(path: &str) -> &str {
    path.trim().trim_matches(['"', '\'', '`'])
}

fn last_of(path: &str, separator: &str) -> String {
    let last = path.rsplit(separator).next();
    last.unwrap_or("").trim().to_owned()
}

/// The name of a Go package by its path: the last part that is no version.
fn package(path: &str) -> &str {
    let is_name = |part: &&str| {
        let version = part.strip_prefix('v').map(str::parse::<u32>);
        !matches!(version, Some(Ok(_)))
    };
    let name = path.rsplit('/').find(is_name).unwrap_or(path);
    let name = name.strip_prefix("go-").unwrap_or(name);
    name.split('.').next().unwrap_or(name)
}

/// The nearest of the nodes around a node that is of a kind, if it is near.
fn around<'n>(node: Node<'n>, kind: &str) -> Option<Node<'n>> {
    let mut outer = std::iter::successors(node.parent(), Node::parent).take(3);
    outer.find(|outer| outer.kind() == kind)
}
