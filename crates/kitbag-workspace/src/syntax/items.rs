//! The items of a file, as far as units and outlines care: definitions, imports, statements.

use tree_sitter::Node;

use super::name::Name;

/// Something that stands in a file on lines of its own.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    pub(super) name: String,
    /// The type that it belongs to, if it is defined outside of that type.
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
    /// The items inside, in order.
    pub(super) items: Vec<Self>,
}

/// The kind of an item.
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
    /// The number of its lines.
    pub(super) const fn len(&self) -> u32 {
        self.last + 1 - self.lead
    }

    /// Something with nothing inside.
    pub(super) const fn leaf(kind: ItemKind, (first, last): (u32, u32)) -> Self {
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

    /// Something with a name, and as yet nothing inside.
    pub(super) fn named(kind: ItemKind, lines: (u32, u32), name: Name) -> Self {
        Self {
            name: name.name,
            owner: name.owner,
            ..Self::leaf(kind, lines)
        }
    }

    /// Tells if its members count more than itself: they make the units, and an outline
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

    /// Tells if it can make units of its own.
    pub(super) const fn is_unit(&self) -> bool {
        match self.kind {
            ItemKind::Function | ItemKind::Type | ItemKind::Scope => self.len() >= 2,
            ItemKind::Value | ItemKind::Macro | ItemKind::Lambda => self.len() >= SHORTEST_VALUE,
            ItemKind::Import | ItemKind::Statement | ItemKind::Comment => false,
        }
    }

    /// Tells if inner definitions fill more than four tenths of it.
    fn is_filled(&self) -> bool {
        let inner = self.items.iter().filter(|item| item.is_unit());
        let inner: u64 = inner.map(|item| u64::from(item.len())).sum();
        inner * 10 > u64::from(self.last + 1 - self.first) * 4
    }

    /// Takes the lines of the statement that it fills, and returns true if it fills it.
    pub(super) fn widen(&mut self, (first, last): (u32, u32)) -> bool {
        // A constant inside an `if` is not the whole of it.
        let is_value = self.kind == ItemKind::Value;
        let slack = if is_value { 0 } else { SLACK };
        let fills = self.first <= first + slack && last <= self.last + SLACK && !self.is_leaf();
        if fills {
            self.lead = self.lead.min(first);
            self.first = self.first.min(first);
            self.last = self.last.max(last);
        }
        fills
    }

    /// Tells if an outline should show it, or the items inside it.
    pub(super) const fn is_named(&self) -> bool {
        use ItemKind::{Function, Import, Macro, Scope, Type};

        matches!(self.kind, Function | Type | Scope | Macro | Import)
    }

    /// Tells if it defines nothing.
    pub(super) const fn is_leaf(&self) -> bool {
        use ItemKind::{Comment, Import, Statement};

        matches!(self.kind, Import | Statement | Comment)
    }
}

/// A function longer than this may turn out to be a container, so its statements are kept.
pub(super) const CONTAINER_FROM: u32 = 120;
/// The shortest constant, and function without a name, that is a unit of its own.
const SHORTEST_VALUE: u32 = 8;
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

/// The lines that a statement may have beyond the one definition in it to be taken for that definition.
const SLACK: u32 = 3;
