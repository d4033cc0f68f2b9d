//! JavaScript and TypeScript: `import`, `export … from`, `require`.

use tree_sitter::Node;

use super::{ImportCollector, around};

impl ImportCollector<'_> {
    pub(super) fn javascript(&mut self, node: Node<'_>) {
        if node.kind() == "call_expression" {
            let function = self.field(node, "function").unwrap_or("");
            let path = node
                .child_by_field_name("arguments")
                .and_then(|arguments| arguments.named_child(0))
                .filter(|first| first.kind() == "string");
            if let (Some(path), "require" | "import" | "require.resolve" | "jest.mock") =
                (path, function)
            {
                // The names stand left of the call, in the declaration around it.
                let whole = around(node, "variable_declarator").unwrap_or(node);
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
                // In `{ a: b }` only `b` becomes known.
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
                // Turned around, so the stack gives them back in the order of the text.
                stack.extend(children.into_iter().rev());
            }
        }
        names
    }
}
