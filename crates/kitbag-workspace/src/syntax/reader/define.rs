//! Reads definitions: functions, types, constants, macros.

use tree_sitter::Node;

use super::{Place, Reader, statement};
use crate::syntax::grammar::Role;
use crate::syntax::items::{CONTAINER_FROM, Item, ItemKind, span};
use crate::syntax::name::{self, Name, TestBlock};
use crate::syntax::{Definition, body};

impl<'t> Reader<'t> {
    pub(super) fn function(&mut self, node: Node<'t>, place: Place<'_>, out: &mut Vec<Item>) {
        let name = name::of(node, self.lines.text());
        self.define(&name, node, place);
        let item = self.callable(node, node, ItemKind::Function, name, place);
        out.extend(item);
    }

    /// A function `node` that stands in `whole`; none if it has no body.
    pub(super) fn callable(
        &mut self,
        whole: Node<'t>,
        node: Node<'t>,
        kind: ItemKind,
        name: Name,
        place: Place<'_>,
    ) -> Option<Item> {
        let body = body::of(node, self.grammar).or((kind == ItemKind::Lambda).then_some(node))?;
        let (first, last) = span(whole);
        let inner = Place {
            parent: &name.name,
            within: Some((first, last)),
            in_function: true,
            is_local: true,
            statements: last - first >= CONTAINER_FROM,
            ..place.deeper()
        };
        let mut items = Vec::new();
        match self.grammar.role(body) {
            // Nothing in the body counts, so the walk saves itself the way in.
            _ if !inner.statements && self.is_simple(body) => {}
            role if !role.is_block() && body != node => self.read(body, role, inner, &mut items),
            _ => items = self.inside(body, inner),
        }
        Some(Item {
            signature: body::signature_end(body).clamp(first, last),
            body: self.foldable(body),
            items,
            ..Item::named(kind, (first, last), name)
        })
    }

    /// A test, which is a function, or a group of tests, whose members matter and not itself.
    pub(super) fn test_block(
        &mut self,
        node: Node<'t>,
        block: TestBlock,
        name: Name,
        place: Place<'_>,
        out: &mut Vec<Item>,
    ) {
        if block == TestBlock::Case {
            let item = self.callable(node, node, ItemKind::Lambda, name, place);
            out.extend(item.map(|item| Item {
                kind: ItemKind::Function,
                ..item
            }));
            return;
        }
        let (first, last) = span(node);
        let body = body::of(node, self.grammar).unwrap_or(node);
        let inner = Place {
            within: Some((first, last)),
            statements: true,
            is_local: true,
            in_function: true,
            ..place.deeper()
        };
        let items = self.inside(body, inner);
        out.push(Item {
            signature: body::signature_end(body).clamp(first, last),
            items,
            ..Item::named(ItemKind::Scope, (first, last), name)
        });
    }

    /// A type or a namespace.
    pub(super) fn holder(
        &mut self,
        node: Node<'t>,
        role: Role,
        place: Place<'_>,
        out: &mut Vec<Item>,
    ) {
        let name = name::of(node, self.lines.text());
        let (first, last) = span(node);
        let body = body::of(node, self.grammar);
        if role == Role::Scope && body.is_none() {
            if !self.import_if_any(node, place, out) {
                out.push(Item::leaf(ItemKind::Import, (first, last)));
            }
            return;
        }
        // An `impl` only adds to a type that is defined elsewhere.
        if role != Role::Scope && node.kind() != "impl_item" {
            self.define(&name, node, place);
        }
        let inner = Place {
            parent: match name.name.as_str() {
                "" => place.parent,
                name => name,
            },
            within: Some((first, last)),
            in_type: role != Role::Scope,
            statements: true,
            depth: place.depth + 1,
            ..Place::default()
        };
        let items = body.map_or_else(Vec::new, |body| self.inside(body, inner));
        let kind = match role {
            Role::Scope => ItemKind::Scope,
            _ => ItemKind::Type,
        };
        out.push(Item {
            signature: body.map_or(first, body::signature_end).clamp(first, last),
            items,
            ..Item::named(kind, (first, last), name)
        });
    }

    /// A constant, a field, an entry: a function or a type if its value is one.
    pub(super) fn value(&mut self, node: Node<'t>, place: Place<'_>, out: &mut Vec<Item>) {
        let (first, last) = span(node);
        if place.is_local && self.is_simple(node) {
            return statement(node, place, out);
        }
        let name = name::of(node, self.lines.text());
        let value = body::value(node);
        let role = value.map_or(Role::Other, |value| self.grammar.role(value));
        // A short function that is kept in a variable is no more than an expression.
        let is_function = !place.in_function || first + 1 < last;
        if let Some(value) = value
            && matches!(role, Role::Function | Role::Lambda)
            && is_function
        {
            self.define(&name, node, place);
            out.extend(self.callable(node, value, ItemKind::Function, name, place));
            return;
        }
        let is_declaration = matches!(node.kind(), "declaration" | "type_definition");
        let inner = Place {
            parent: match is_declaration {
                true => place.parent,
                false => &name.name,
            },
            in_function: true,
            statements: false,
            ..place.deeper()
        };
        // The value is defined before what stands inside it, though its kind is known only
        // afterwards.
        let known = self.definitions.len();
        let mut items = self.inside(node, inner);
        if items.iter().any(|item| item.kind == ItemKind::Import) {
            out.append(&mut items);
            return;
        }
        if let [item] = items.as_mut_slice()
            && item.widen((first, last))
        {
            if item.kind == ItemKind::Lambda && is_function {
                item.kind = ItemKind::Function;
            }
            if item.kind == ItemKind::Function || item.name.is_empty() {
                item.owner.clone_from(&name.owner);
                item.name.clone_from(&name.name);
                self.define_at(known, &name, node, place);
            }
            out.append(&mut items);
            return;
        }
        // A prototype: the function is defined elsewhere.
        if node.kind() == "declaration" && value.is_none() && body::declares_a_function(node) {
            return;
        }
        let literal = body::literal(value.unwrap_or(node), self.grammar);
        let computes =
            node.kind() == "property_declaration" && value.is_none() && literal.is_some();
        if is_constant(&name.name, node, place) || (computes && first < last) {
            self.define_at(known, &name, node, place);
        }
        if items.is_empty() && place.in_function {
            return statement(node, place, out);
        }
        out.push(Item {
            body: literal.and_then(|body| self.foldable(body)),
            items,
            ..Item::named(ItemKind::Value, (first, last), name)
        });
    }

    pub(super) fn macro_definition(
        &mut self,
        node: Node<'t>,
        place: Place<'_>,
        out: &mut Vec<Item>,
    ) {
        let name = name::of(node, self.lines.text());
        self.define(&name, node, place);
        let (first, last) = span(node);
        let head = node.child_by_field_name("parameters");
        let head = head.map_or(first, |parameters| span(parameters).1);
        let end = node.child(node.child_count().saturating_sub(1));
        // The line of a closing bracket stays when the body is left out.
        let closed = end.is_some_and(|token| matches!(token.kind(), "}" | ")" | "]" | ";"));
        let end = if closed { last.saturating_sub(1) } else { last };
        out.push(Item {
            body: (head < end).then_some((head + 1, end)),
            ..Item::named(ItemKind::Macro, (first, last), name)
        });
    }

    fn define(&mut self, name: &Name, node: Node<'t>, place: Place<'_>) {
        self.define_at(self.definitions.len(), name, node, place);
    }

    fn define_at(&mut self, index: usize, name: &Name, node: Node<'t>, place: Place<'_>) {
        if name.name.is_empty() {
            return;
        }
        let parents = [name.owner.as_str(), place.parent];
        let parent = parents.into_iter().find(|parent| !parent.is_empty());
        let definition = Definition {
            name: name.name.clone(),
            line: span(node).0,
            parent: parent.unwrap_or_default().to_owned(),
        };
        // `insert` would panic beyond the end.
        let index = index.min(self.definitions.len());
        self.definitions.insert(index, definition);
    }
}

/// Tells if a value is a definition: not a local variable, not a field, not an entry of a table.
fn is_constant(name: &str, node: Node<'_>, place: Place<'_>) -> bool {
    let is_entry = matches!(node.kind(), "pair" | "array_element_initializer" | "field");
    let is_field =
        place.in_type && !node.kind().contains("const") && name.chars().any(char::is_lowercase);
    !place.in_function && !is_entry && !is_field
}
