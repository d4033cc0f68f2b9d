//! Rust: `use` trees, `extern crate`, and modules in files of their own.

use tree_sitter::Node;

use super::ImportCollector;

impl ImportCollector<'_> {
    pub(super) fn rust(&mut self, node: Node<'_>) {
        match node.kind() {
            "use_declaration" => {
                if let Some(tree) = node.child_by_field_name("argument") {
                    self.rust_tree(node, tree, String::new(), 0);
                }
            }
            "mod_item" => {
                if let Some(name) = self.field(node, "name") {
                    // A module in a file of its own counts as an import of that file.
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
        // The walk calls itself, and a hostile file could nest beyond the stack.
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
                // The names that a wildcard brings are not in this file.
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
}
