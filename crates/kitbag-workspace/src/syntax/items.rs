//! Reads a parse tree into items: definitions with what stands inside them, imports, statements.
//!
//! It knows only roles; which node kind has which role stands in the grammars' tables. How items
//! become units or folds is decided elsewhere.

use tree_sitter::Node;

use super::grammar::{Grammar, Role};
use super::name::{self, Name};
use super::{Definition, Import, Lines, imports};

/// Something that stands in a file on lines of its own.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    pub(super) name: String,
    /// The type that it belongs to, where that is not around it.
    pub(super) owner: String,
    /// The first line, with leading comments.
    pub(super) lead: u32,
    /// The first line, with attributes, without comments.
    pub(super) first: u32,
    /// The last line of the signature.
    pub(super) signature: u32,
    /// The last line.
    pub(super) last: u32,
    /// The lines inside its body that can be left out together.
    pub(super) body: Option<(u32, u32)>,
    /// What stands inside, in order.
    pub(super) items: Vec<Self>,
}

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Function,
    Lambda,
    Type,
    Scope,
    Value,
    Macro,
    Import,
    Statement,
    Comment,
}

impl Item {
    /// How many lines it has.
    pub(super) const fn len(&self) -> u32 {
        self.last + 1 - self.lead
    }

    fn leaf(kind: ItemKind, (first, last): (u32, u32)) -> Self {
        Self {
            kind,
            name: String::new(),
            owner: String::new(),
            lead: first,
            first,
            signature: first,
            last,
            body: None,
            items: Vec::new(),
        }
    }

    /// Whether its members count more than itself: what is inside it makes units, and an outline
    /// goes on inside.
    pub(super) fn is_container(&self) -> bool {
        let length = self.last + 1 - self.first;
        match self.kind {
            ItemKind::Function | ItemKind::Lambda => length > CONTAINER_FROM && self.is_filled(),
            ItemKind::Type | ItemKind::Scope => true,
            ItemKind::Value | ItemKind::Macro => self.is_filled(),
            ItemKind::Import | ItemKind::Statement | ItemKind::Comment => false,
        }
    }

    /// Whether it can make units of its own.
    pub(super) const fn is_unit(&self) -> bool {
        match self.kind {
            ItemKind::Function | ItemKind::Type | ItemKind::Scope => self.len() >= 2,
            ItemKind::Value | ItemKind::Macro | ItemKind::Lambda => self.len() >= SHORTEST_VALUE,
            ItemKind::Import | ItemKind::Statement | ItemKind::Comment => false,
        }
    }

    /// Whether inner definitions fill more than four tenths of it.
    fn is_filled(&self) -> bool {
        let inner = self.items.iter().filter(|item| item.is_unit());
        let inner: u64 = inner.map(|item| u64::from(item.len())).sum();
        inner * 10 > u64::from(self.last + 1 - self.first) * 4
    }

    const fn is_leaf(&self) -> bool {
        matches!(
            self.kind,
            ItemKind::Import | ItemKind::Statement | ItemKind::Comment
        )
    }
}

/// Walks a tree; gathers definitions and imports on the way.
pub(super) struct Reader<'t> {
    grammar: &'t Grammar,
    lines: &'t Lines<'t>,
    pub(super) definitions: Vec<Definition>,
    pub(super) imports: Vec<Import>,
}

/// Where in the file the walk is.
#[derive(Clone, Copy)]
struct Place<'p> {
    parent: &'p str,
    /// Local names are no definitions.
    in_function: bool,
    /// Whether plain statements are wanted as items.
    statements: bool,
    depth: u32,
}

/// No program that a person wrote nests deeper; a deeper tree is read down to here.
const DEEPEST: u32 = 250;
/// A function longer than this may turn out to be a container, so its statements are kept.
const CONTAINER_FROM: u32 = 120;
/// The shortest constant, and function without a name, that is a unit of its own.
const SHORTEST_VALUE: u32 = 8;
/// How far a statement may reach beyond the one definition in it to be taken for that definition.
const SLACK: u32 = 3;

/// The comments and attributes that stand before a node.
#[derive(Clone, Copy)]
struct Lead {
    first: u32,
    attribute: Option<u32>,
    last: u32,
}

impl<'t> Reader<'t> {
    pub(super) const fn new(grammar: &'t Grammar, lines: &'t Lines<'t>) -> Self {
        Self {
            grammar,
            lines,
            definitions: Vec::new(),
            imports: Vec::new(),
        }
    }

    /// The items of a whole file.
    pub(super) fn file(&mut self, root: Node<'_>) -> Vec<Item> {
        let place = Place {
            parent: "",
            in_function: false,
            statements: true,
            depth: 0,
        };
        self.inside(root, place)
    }

    /// The items among the children of a node.
    fn inside(&mut self, node: Node<'_>, place: Place<'_>) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        if place.depth > DEEPEST {
            return items;
        }
        let mut lead: Option<Lead> = None;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            let role = self.grammar.role(child);
            let (first, last) = span(child);
            if matches!(role, Role::Comment | Role::Attribute) {
                if self.starts_its_line(child) {
                    let attribute = (role == Role::Attribute).then_some(first);
                    lead = match lead {
                        Some(before) if before.last + 1 >= first => Some(Lead {
                            attribute: before.attribute.or(attribute),
                            last: last.max(before.last),
                            ..before
                        }),
                        before => {
                            drop_comment(before, place, &mut items);
                            Some(Lead {
                                first,
                                attribute,
                                last,
                            })
                        }
                    };
                }
                continue;
            }
            let at = items.len();
            self.read(child, role, place, &mut items);
            let attached = lead.take().filter(|lead| lead.last + 1 >= first);
            match (items.get_mut(at), attached) {
                (Some(item), Some(lead)) if !item.is_leaf() => {
                    item.lead = item.lead.min(lead.first);
                    item.first = item.first.min(lead.attribute.unwrap_or(item.first));
                }
                (_, lead) => {
                    let tail = items.split_off(at);
                    drop_comment(lead, place, &mut items);
                    items.extend(tail);
                }
            }
        }
        drop_comment(lead, place, &mut items);
        items
    }

    fn read(&mut self, node: Node<'_>, role: Role, place: Place<'_>, out: &mut Vec<Item>) {
        match role {
            Role::Import => self.import(node, out),
            Role::MaybeImport if self.import_if_any(node, out) => {}
            Role::Function => self.function(node, place, out),
            Role::Type | Role::Scope => self.holder(node, role, place, out),
            Role::Specifier if node.child_by_field_name("body").is_some() => {
                self.holder(node, role, place, out);
            }
            Role::Value => self.value(node, place, out),
            Role::Macro => self.macro_definition(node, place, out),
            Role::Lambda => {
                let name = Name {
                    name: name::of_callback(node, self.lines.text()),
                    owner: String::new(),
                };
                let item = self.callable(node, node, ItemKind::Lambda, name, place);
                out.extend(item);
            }
            Role::Block => out.extend(self.inside(node, place.deeper())),
            Role::Text => statement(node, place, out),
            Role::Other | Role::Specifier | Role::MaybeImport | Role::Comment | Role::Attribute => {
                self.plain(node, place, out)
            }
        }
    }

    /// A node without meaning of its own: what stands inside counts.
    fn plain(&mut self, node: Node<'_>, place: Place<'_>, out: &mut Vec<Item>) {
        let (first, last) = span(node);
        if first == last && place.in_function && !self.grammar.importer.hides_in_expressions() {
            return statement(node, place, out);
        }
        let inner = Place {
            statements: false,
            ..place.deeper()
        };
        let mut items = self.inside(node, inner);
        if items.is_empty() {
            if !self.is_text_alone(node) {
                statement(node, place, out);
            }
            return;
        }
        if let [item] = items.as_mut_slice() {
            widen(item, span(node));
        }
        out.append(&mut items);
    }

    fn function(&mut self, node: Node<'_>, place: Place<'_>, out: &mut Vec<Item>) {
        let name = name::of(node, self.lines.text());
        self.define(&name, node, place);
        let item = self.callable(node, node, ItemKind::Function, name, place);
        out.extend(item);
    }

    /// A function `node` that stands in `whole`; none if it has no body.
    fn callable(
        &mut self,
        whole: Node<'_>,
        node: Node<'_>,
        kind: ItemKind,
        name: Name,
        place: Place<'_>,
    ) -> Option<Item> {
        let body = self.body(node)?;
        let (first, last) = span(whole);
        let inner = Place {
            parent: &name.name,
            in_function: true,
            statements: last - first >= CONTAINER_FROM,
            ..place.deeper()
        };
        let items = self.inside(body, inner);
        Some(Item {
            signature: signature_end(body).clamp(first, last),
            body: self.foldable(body),
            items,
            name: name.name,
            owner: name.owner,
            ..Item::leaf(kind, (first, last))
        })
    }

    /// A type or a namespace.
    fn holder(&mut self, node: Node<'_>, role: Role, place: Place<'_>, out: &mut Vec<Item>) {
        let name = name::of(node, self.lines.text());
        let (first, last) = span(node);
        let body = self.body(node);
        if role == Role::Scope && body.is_none() {
            if !self.import_if_any(node, out) {
                out.push(Item::leaf(ItemKind::Import, (first, last)));
            }
            return;
        }
        // An `impl` only adds to a type that is defined elsewhere.
        if role != Role::Scope && node.kind() != "impl_item" {
            self.define(&name, node, place);
        }
        let inner = Place {
            parent: &name.name,
            statements: true,
            ..place.deeper()
        };
        let items = body.map_or_else(Vec::new, |body| self.inside(body, inner));
        let kind = if role == Role::Scope {
            ItemKind::Scope
        } else {
            ItemKind::Type
        };
        out.push(Item {
            signature: body.map_or(first, signature_end).clamp(first, last),
            body: None,
            items,
            name: name.name,
            owner: name.owner,
            ..Item::leaf(kind, (first, last))
        });
    }

    /// A constant, a field, an entry: a function or a type if its value is one.
    fn value(&mut self, node: Node<'_>, place: Place<'_>, out: &mut Vec<Item>) {
        let name = name::of(node, self.lines.text());
        let value = value_of(node);
        let role = value.map_or(Role::Other, |value| self.grammar.role(value));
        if let Some(value) = value
            && matches!(role, Role::Function | Role::Lambda)
        {
            self.define(&name, node, place);
            out.extend(self.callable(node, value, ItemKind::Function, name, place));
            return;
        }
        let inner = Place {
            parent: &name.name,
            statements: false,
            ..place.deeper()
        };
        let known = self.definitions.len();
        let mut items = self.inside(node, inner);
        if items.iter().any(|item| item.kind == ItemKind::Import) {
            out.append(&mut items);
            return;
        }
        let is_entry = matches!(node.kind(), "pair" | "array_element_initializer");
        let is_prototype = value.is_none() && self.declares_a_function(node);
        if let [item] = items.as_mut_slice()
            && widen(item, span(node))
        {
            if item.kind == ItemKind::Lambda || item.name.is_empty() {
                if item.kind == ItemKind::Lambda {
                    item.kind = ItemKind::Function;
                }
                item.owner = name.owner.clone();
                item.name = name.name.clone();
                if !is_entry || item.kind == ItemKind::Function {
                    self.define_at(known, &name, node, place);
                }
            }
            out.append(&mut items);
            return;
        }
        if !place.in_function && !is_entry && !is_prototype {
            self.define_at(known, &name, node, place);
        }
        if items.is_empty() && is_prototype {
            return;
        }
        if items.is_empty() && place.in_function {
            return statement(node, place, out);
        }
        let (first, last) = span(node);
        let body = self.body(value.unwrap_or(node)).or(value);
        out.push(Item {
            signature: first,
            body: body.and_then(|body| self.foldable(body)),
            items,
            name: name.name,
            owner: name.owner,
            ..Item::leaf(ItemKind::Value, (first, last))
        });
    }

    fn macro_definition(&mut self, node: Node<'_>, place: Place<'_>, out: &mut Vec<Item>) {
        let name = name::of(node, self.lines.text());
        self.define(&name, node, place);
        let (first, last) = span(node);
        let braces = node.child(node.child_count().saturating_sub(1));
        let closed = braces.is_some_and(|token| matches!(token.kind(), "}" | ")" | "]" | ";"));
        let end = if closed { last.saturating_sub(1) } else { last };
        out.push(Item {
            body: (first < end).then_some((first + 1, end)),
            name: name.name,
            ..Item::leaf(ItemKind::Macro, (first, last))
        });
    }

    fn import(&mut self, node: Node<'_>, out: &mut Vec<Item>) {
        if !self.import_if_any(node, out) {
            out.push(Item::leaf(ItemKind::Import, span(node)));
        }
    }

    fn import_if_any(&mut self, node: Node<'_>, out: &mut Vec<Item>) -> bool {
        let known = self.imports.len();
        imports::read(
            self.grammar.importer,
            node,
            self.lines.text(),
            &mut self.imports,
        );
        let found = self.imports.len() > known;
        if found {
            out.push(Item::leaf(ItemKind::Import, span(node)));
        }
        found
    }

    fn define(&mut self, name: &Name, node: Node<'_>, place: Place<'_>) {
        self.define_at(self.definitions.len(), name, node, place);
    }

    fn define_at(&mut self, index: usize, name: &Name, node: Node<'_>, place: Place<'_>) {
        if name.name.is_empty() {
            return;
        }
        let parent = if name.owner.is_empty() {
            place.parent
        } else {
            &name.owner
        };
        let definition = Definition {
            name: name.name.clone(),
            line: span(node).0,
            parent: parent.to_owned(),
        };
        self.definitions
            .insert(index.min(self.definitions.len()), definition);
    }

    /// The body of a definition: the field of that name, or the block at its end.
    fn body<'n>(&self, node: Node<'n>) -> Option<Node<'n>> {
        if let Some(body) = node.child_by_field_name("body") {
            return Some(body);
        }
        let mut node = node;
        for _ in 0..4 {
            let count = u32::try_from(node.named_child_count()).ok()?;
            let last = node.named_child(count.checked_sub(1)?)?;
            if self.grammar.role(last) == Role::Block {
                return Some(last);
            }
            node = last;
        }
        None
    }

    /// The lines of a body without its braces and its documentation, cut at whole statements.
    fn foldable(&self, body: Node<'_>) -> Option<(u32, u32)> {
        if self.grammar.role(body) != Role::Block {
            return None;
        }
        let (first, last) = span(body);
        let signature = signature_end(body);
        let braces = self.text(body).starts_with(['{', '(', '[']);
        let (mut from, mut to) = if braces {
            (first + 1, last.checked_sub(1)?)
        } else {
            (signature + 1, last)
        };
        let mut cursor = body.walk();
        for (index, child) in body.named_children(&mut cursor).enumerate() {
            let (first, last) = span(child);
            if first < from || (index == 0 && self.is_text_alone(child)) {
                from = from.max(last + 1);
            } else if last > to {
                to = to.min(first - 1);
            }
        }
        (from <= to).then_some((from, to))
    }

    fn declares_a_function(&self, node: Node<'_>) -> bool {
        let mut next = node.child_by_field_name("declarator");
        for _ in 0..8 {
            let Some(node) = next else { return false };
            if node.kind() == "function_declarator" {
                return true;
            }
            next = node.child_by_field_name("declarator");
        }
        false
    }

    /// A statement that is only a string: documentation.
    fn is_text_alone(&self, node: Node<'_>) -> bool {
        node.kind() == "expression_statement"
            && node.named_child_count() == 1
            && node
                .named_child(0)
                .is_some_and(|child| self.grammar.role(child) == Role::Text)
    }

    fn starts_its_line(&self, node: Node<'_>) -> bool {
        let line = self.lines.get(span(node).0);
        line.get(..node.start_position().column)
            .is_some_and(|before| before.trim().is_empty())
    }

    fn text(&self, node: Node<'_>) -> &'t str {
        self.lines.text().get(node.byte_range()).unwrap_or("")
    }
}

impl Place<'_> {
    const fn deeper(self) -> Self {
        Self {
            depth: self.depth + 1,
            ..self
        }
    }
}

/// The lines of a node. A line break at its end opens no further line.
pub(super) fn span(node: Node<'_>) -> (u32, u32) {
    let (start, end) = (node.start_position(), node.end_position());
    let last = if end.column == 0 && end.row > start.row {
        end.row
    } else {
        end.row + 1
    };
    let line = |row: usize| u32::try_from(row).unwrap_or(u32::MAX);
    (line(start.row + 1), line(last))
}

/// What a constant or entry is set to.
fn value_of(node: Node<'_>) -> Option<Node<'_>> {
    let direct = ["value", "right"]
        .into_iter()
        .find_map(|field| node.child_by_field_name(field));
    direct.or_else(|| {
        let declarator = node.child_by_field_name("declarator")?;
        declarator.child_by_field_name("value")
    })
}

/// The last line of what stands before a body; a brace that opens it belongs to the signature.
fn signature_end(body: Node<'_>) -> u32 {
    let first = span(body).0;
    let mut before = body.prev_sibling();
    while before.is_some_and(|node| node.is_extra()) {
        before = before.and_then(|node| node.prev_sibling());
    }
    let opens = body
        .child(0)
        .is_some_and(|token| !token.is_named() && matches!(token.kind(), "{" | "(" | "[" | "do"));
    match before {
        _ if opens => first,
        Some(node) => span(node).1,
        None => first,
    }
}

/// Lets a definition take the lines of the statement that it fills. Says whether it does.
fn widen(item: &mut Item, (first, last): (u32, u32)) -> bool {
    let fills = item.first <= first + SLACK && last <= item.last + SLACK;
    if fills && !item.is_leaf() {
        item.lead = item.lead.min(first);
        item.first = item.first.min(first);
        item.last = item.last.max(last);
    }
    fills && !item.is_leaf()
}

fn statement(node: Node<'_>, place: Place<'_>, out: &mut Vec<Item>) {
    if place.statements {
        out.push(Item::leaf(ItemKind::Statement, span(node)));
    }
}

fn drop_comment(lead: Option<Lead>, place: Place<'_>, out: &mut Vec<Item>) {
    if let Some(lead) = lead.filter(|_| place.statements) {
        out.push(Item::leaf(ItemKind::Comment, (lead.first, lead.last)));
    }
}
