//! Reads a parse tree into items: definitions with their contents, imports, statements.
//!
//! It knows only roles; which node kind has which role stands in the grammars' tables. How items
//! become units or folds is decided elsewhere.

mod define;

use tree_sitter::{Node, TreeCursor};

use super::grammar::{Grammar, Role};
use super::items::{Item, ItemKind, span};
use super::lines::indentation;
use super::name;
use super::{Definition, Import, Lines, body, imports};

/// Walks a tree; gathers definitions and imports on the way.
pub(super) struct Reader<'t> {
    grammar: &'t Grammar,
    lines: &'t Lines<'t>,
    /// The bytes at which something starts that counts inside a function too, in order.
    counting: &'t [usize],
    pub(super) definitions: Vec<Definition>,
    pub(super) imports: Vec<Import>,
    /// Those that are not in use: making one costs more than using it.
    cursors: Vec<TreeCursor<'t>>,
}

/// The place of the walk in the file.
#[derive(Clone, Copy, Default)]
struct Place<'p> {
    parent: &'p str,
    /// The lines of the innermost definition around it.
    within: Option<(u32, u32)>,
    /// Local names are no definitions, nor are entries of a table.
    in_function: bool,
    /// True if there is a function around it indeed.
    is_local: bool,
    /// Fields are no definitions.
    in_type: bool,
    /// True if plain statements are wanted as items.
    statements: bool,
    depth: u32,
}

/// No program that a person wrote nests deeper; a deeper tree is read down to here.
const DEEPEST: u32 = 250;

/// The comments and attributes that stand before a node.
#[derive(Clone, Copy)]
struct Lead {
    first: u32,
    attribute: Option<u32>,
    last: u32,
}

impl<'t> Reader<'t> {
    pub(super) const fn new(
        grammar: &'t Grammar,
        lines: &'t Lines<'t>,
        counting: &'t [usize],
    ) -> Self {
        Self {
            grammar,
            lines,
            counting,
            definitions: Vec::new(),
            imports: Vec::new(),
            cursors: Vec::new(),
        }
    }

    /// The items of a whole file.
    pub(super) fn file(&mut self, root: Node<'t>) -> Vec<Item> {
        let place = Place {
            statements: true,
            ..Place::default()
        };
        self.inside(root, place)
    }

    /// The items among the children of a node.
    fn inside(&mut self, node: Node<'t>, place: Place<'_>) -> Vec<Item> {
        let mut items: Vec<Item> = Vec::new();
        if place.depth > DEEPEST {
            return items;
        }
        let mut lead: Option<Lead> = None;
        let mut cursor = self.cursors.pop().unwrap_or_else(|| node.walk());
        for child in node.named_children(&mut cursor) {
            let role = self.grammar.role(child);
            let (first, last) = span(child);
            if matches!(role, Role::Comment | Role::Attribute) {
                if self.starts_its_line(child) {
                    let attribute = (role == Role::Attribute).then_some(first);
                    lead = match lead {
                        // Comments and attributes without a blank line between them lead together.
                        Some(before) if before.last + 1 >= first => Some(Lead {
                            attribute: before.attribute.or(attribute),
                            last: last.max(before.last),
                            ..before
                        }),
                        before => {
                            if let Some(before) = before {
                                self.add_loose_comment(before, place, &mut items);
                            }
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
            let Some(lead) = lead.take() else { continue };
            match items.get_mut(at) {
                // A blank line between a comment and a definition parts them.
                Some(item) if !item.is_leaf() && lead.last + 1 >= first => {
                    item.lead = item.lead.min(lead.first);
                    item.first = item.first.min(lead.attribute.unwrap_or(item.first));
                }
                _ => {
                    let tail = items.split_off(at);
                    // Before a plain statement stands what a reader should know of the file.
                    if lead.last + 1 < first || self.is_licence(lead) {
                        self.add_loose_comment(lead, place, &mut items);
                    }
                    items.extend(tail);
                }
            }
        }
        self.cursors.push(cursor);
        if let Some(lead) = lead {
            self.add_loose_comment(lead, place, &mut items);
        }
        items
    }

    fn read(&mut self, node: Node<'t>, role: Role, place: Place<'_>, out: &mut Vec<Item>) {
        match role {
            Role::Import => self.import(node, place, out),
            Role::MaybeImport if self.import_if_any(node, place, out) => {}
            Role::Function => self.function(node, place, out),
            Role::Type | Role::Scope => self.holder(node, role, place, out),
            Role::Specifier if node.child_by_field_name("body").is_some() => {
                self.holder(node, role, place, out);
            }
            Role::Value => self.value(node, place, out),
            Role::Macro => self.macro_definition(node, place, out),
            Role::Lambda => {
                let text = self.lines.text();
                let name = match node.child_by_field_name("name") {
                    Some(_) => name::of(node, text),
                    None => name::of_callback(node, text),
                };
                match name::test_block(node, text) {
                    Some(block) => self.test_block(node, block, name, place, out),
                    None => out.extend(self.callable(node, node, ItemKind::Lambda, name, place)),
                }
            }
            Role::Block | Role::Filled | Role::Solid | Role::Tokens | Role::Markup => {
                out.extend(self.inside(node, place.deeper()));
            }
            Role::Text | Role::HereText => statement(node, place, out),
            Role::Other
            | Role::Specifier
            | Role::MaybeImport
            | Role::Comment
            | Role::Attribute
            | Role::Clause
            | Role::Sign
            | Role::Separator => self.plain(node, place, out),
        }
    }

    /// A node without meaning of its own: what stands inside counts.
    fn plain(&mut self, node: Node<'t>, place: Place<'_>, out: &mut Vec<Item>) {
        let (first, last) = span(node);
        let inner = Place {
            statements: false,
            ..place.deeper()
        };
        // A statement on one line of a function holds no definition, so its nodes need no walk.
        let is_line = first == last && place.in_function;
        let is_plain = is_line && !self.grammar.importer.hides_in_expressions();
        let mut items = if is_plain || (place.is_local && self.is_simple(node)) {
            Vec::new()
        } else {
            self.inside(node, inner)
        };
        if items.is_empty() {
            if place.statements && !body::is_text_alone(node, self.grammar) {
                statement(node, place, out);
            }
            return;
        }
        let filled = match items.as_mut_slice() {
            [item] => item.widen((first, last)),
            _ => false,
        };
        if !filled && !items.iter().any(Item::is_named) {
            statement(node, place, out);
        }
        out.append(&mut items);
    }

    /// Tells if a node holds nothing that counts in a function.
    fn is_simple(&self, node: Node<'t>) -> bool {
        // Such nodes are not entered: reading takes 15 to 19 % of the time of the parser, and took
        // 27 to 29 %.
        let bytes = node.byte_range();
        // The starts are sorted, so one search tells if any is inside the node.
        let next = self.counting.partition_point(|&at| at < bytes.start);
        let counts = self.counting.get(next).is_some_and(|&at| at < bytes.end);
        !counts && {
            let text = self.lines.text().get(bytes).unwrap_or_default();
            !self.grammar.importer.may_hide_in(text)
        }
    }

    fn import(&mut self, node: Node<'t>, place: Place<'_>, out: &mut Vec<Item>) {
        // An import of an unknown form is still no plain statement.
        if !self.import_if_any(node, place, out) {
            out.push(Item::leaf(ItemKind::Import, span(node)));
        }
    }

    fn import_if_any(&mut self, node: Node<'t>, place: Place<'_>, out: &mut Vec<Item>) -> bool {
        let known = self.imports.len();
        let (importer, text) = (self.grammar.importer, self.lines.text());
        imports::read(importer, node, text, &mut self.imports);
        let found = self.imports.len() > known;
        for import in self.imports.iter_mut().skip(known) {
            import.within = place.within;
        }
        if found {
            out.push(Item::leaf(ItemKind::Import, span(node)));
        }
        found
    }

    fn foldable(&self, body: Node<'t>) -> Option<(u32, u32)> {
        let (first, last) = body::foldable(body, self.grammar, self.lines.text())?;
        if !body.has_error() {
            return Some((first, last));
        }
        // In broken code a body may swallow what comes after it: it ends where the text steps out.
        let depth = indentation(self.lines.get(first)).len();
        let steps_out = |line: &u32| {
            let text = self.lines.get(*line);
            !text.trim().is_empty()
                && indentation(text).len() < depth
                && text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, ' ' | '\t' | '@'))
        };
        let end = (first..=last).find(steps_out).map_or(last, |line| line - 1);
        (first <= end).then_some((first, end))
    }

    /// A comment that belongs to nothing, unless it documents the file from inside.
    fn add_loose_comment(&self, lead: Lead, place: Place<'_>, out: &mut Vec<Item>) {
        let inner = self.lines.get(lead.first).trim_start().starts_with("//!");
        if place.statements && !inner {
            out.push(Item::leaf(ItemKind::Comment, (lead.first, lead.last)));
        }
    }

    /// Tells if a comment is a notice that says nothing of the code.
    fn is_licence(&self, lead: Lead) -> bool {
        let text = self.lines.span(lead.first, lead.last);
        text.contains("icense") || text.contains("opyright")
    }

    fn starts_its_line(&self, node: Node<'t>) -> bool {
        let line = self.lines.get(span(node).0);
        line.get(..node.start_position().column)
            .is_some_and(|before| before.trim().is_empty())
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

fn statement(node: Node<'_>, place: Place<'_>, out: &mut Vec<Item>) {
    if !place.statements {
        return;
    }
    // What was not understood may be anything, and members are what an outline is for.
    let mut words = "field variant property enum case member signature".split(' ');
    let is_member = place.in_type && words.any(|word| node.kind().contains(word));
    if !node.has_error() && !is_member {
        out.push(Item::leaf(ItemKind::Statement, span(node)));
    }
}
