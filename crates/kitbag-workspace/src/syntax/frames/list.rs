//! One list of a parse tree: which of its lines can be left out.

use tree_sitter::Node;

use super::{frame, merged};
use crate::syntax::grammar::Role;
use crate::syntax::items::span;
use crate::syntax::{Frame, FrameKind, Lines};

/// A list of statements, members or entries while its children are seen one by one.
#[derive(Default)]
pub(super) struct List {
    kind: ListKind,
    first: u32,
    last: u32,
    bytes: std::ops::Range<usize>,
    /// The lines of its members; members that share a line are one.
    members: Vec<(u32, u32)>,
    /// The lines that hold the list together.
    pins: Vec<(u32, u32)>,
    /// True if the next member belongs to the one before.
    is_open: bool,
    /// True if something must stay in it, or in the list around it.
    is_filled: bool,
    fills: bool,
    /// The lines that what could stay then starts on.
    code: Vec<u32>,
    /// True if commas part the members, and if signs enclose them.
    has_commas: bool,
    has_signs: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum ListKind {
    /// Members and what parts them; every other sign holds the list together.
    #[default]
    Members,
    /// Signs of any kind: what ends with a comma, a semicolon or a brace is a member.
    Signs,
    /// Markup, where a comment needs braces around it.
    Markup,
}

impl List {
    /// The root of a file, which is a list whatever its kind.
    pub(super) fn root(node: Node<'_>, lines: &Lines<'_>) -> Self {
        Self::new(ListKind::Members, node, (1, lines.count()))
    }

    /// The list that a node is, if it is one. Its parent may be a list as well.
    pub(super) fn of(
        node: Node<'_>,
        role: Role,
        parent: Option<&Self>,
        lines: &Lines<'_>,
    ) -> Option<Self> {
        let kind = match role {
            Role::Block | Role::Filled | Role::Clause => ListKind::Members,
            Role::Tokens => ListKind::Signs,
            Role::Markup => ListKind::Markup,
            _ => return None,
        };
        let (first, last) = span(node);
        let mut list = Self::new(kind, node, (first, last));
        let opens = lines.text().as_bytes().get(node.start_byte());
        // A body that opens with a colon, as in Scala without braces, may not become empty.
        list.is_filled = role == Role::Filled || opens == Some(&b':');
        list.fills = parent.is_some_and(|list| list.is_filled);
        let column = node.start_position().column;
        let before = lines.get(first).get(..column).unwrap_or_default();
        let after = lines.text().get(node.end_byte()..).unwrap_or_default();
        let after = after.split('\n').next().unwrap_or_default();
        // Something else stands on its first line, which has to stay.
        if !before.trim().is_empty() {
            list.pins.push((first, first));
        }
        if !after.trim().is_empty() {
            list.pins.push((last, last));
        }
        Some(list)
    }

    fn new(kind: ListKind, node: Node<'_>, (first, last): (u32, u32)) -> Self {
        Self {
            kind,
            first,
            last,
            bytes: node.byte_range(),
            ..Self::default()
        }
    }

    /// Takes the next child.
    pub(super) fn child(
        &mut self,
        node: Node<'_>,
        role: Role,
        (mut first, mut last): (u32, u32),
        lines: &Lines<'_>,
    ) {
        if self.kind == ListKind::Markup && role == Role::Text {
            // As far as the grammar goes, the blanks around a text in markup belong to it.
            let text = lines.text().get(node.byte_range()).unwrap_or_default();
            let (after, before) = (text.trim_start(), text.trim_end());
            if after.is_empty() {
                return;
            }
            let breaks = |text: Option<&str>| {
                let count = text.unwrap_or_default().matches('\n').count();
                u32::try_from(count).unwrap_or_default()
            };
            first += breaks(text.get(..text.len() - after.len()));
            last -= breaks(text.get(before.len()..));
        }
        let holds_together = match self.kind {
            ListKind::Members => role == Role::Sign,
            ListKind::Signs | ListKind::Markup => {
                node.start_byte() == self.bytes.start || node.end_byte() == self.bytes.end
            }
        };
        if holds_together {
            self.has_signs = true;
            self.pins.push((first, last));
            return;
        }
        let starts_with = |sign| lines.text().as_bytes().get(node.start_byte()) == Some(&sign);
        match role {
            Role::Separator => self.has_commas = self.has_commas || starts_with(b','),
            Role::Comment | Role::Attribute => {}
            _ if self.is_filled || self.fills => self.code.push(first),
            _ => {}
        }
        let before = self.members.last_mut();
        match (role, before) {
            // The text of a here-document belongs to the statement that announces it.
            (Role::HereText, Some(member)) => member.1 = member.1.max(last),
            (Role::Separator, Some(member)) => member.1 = member.1.max(first),
            (Role::HereText | Role::Separator, None) => self.pins.push((first, last)),
            (_, Some(member)) if self.is_open || first <= member.1 => member.1 = member.1.max(last),
            _ => self.members.push((first, last)),
        }
        self.is_open = match self.kind {
            ListKind::Members | ListKind::Markup => role == Role::Attribute,
            ListKind::Signs => role != Role::Separator && !starts_with(b'{'),
        };
    }

    /// Gives the holes of the list, and what is shown as one in them.
    pub(super) fn close(mut self, mut give: impl FnMut(Frame)) {
        if self.has_commas && !self.has_signs {
            // Nothing would tell where the list ends.
            return;
        }
        self.pins.sort_unstable();
        if self.is_filled || (self.fills && !self.has_signs) {
            let pins = self.pins.as_slice();
            let is_free = |line: &&u32| !pins.iter().any(|pin| (pin.0..=pin.1).contains(line));
            // The first member outside the pinned lines is the one that stays.
            let stays = self.code.iter().find(is_free).map(|&line| (line, line));
            self.pins.extend(stays);
            self.pins.sort_unstable();
        }
        let is_pinned = |member: &(u32, u32)| {
            let next = self.pins.partition_point(|pin| pin.1 < member.0);
            self.pins.get(next).is_some_and(|pin| pin.0 <= member.1)
        };
        let (mut kept, free): (Vec<_>, Vec<_>) = self.members.iter().partition(|m| is_pinned(m));
        kept.append(&mut self.pins);
        let kind = match self.kind {
            ListKind::Members | ListKind::Signs => FrameKind::Hole,
            ListKind::Markup => FrameKind::Markup,
        };
        let mut free = free.into_iter().peekable();
        let mut from = self.first;
        for (first, last) in merged(kept)
            .into_iter()
            .chain([(self.last + 1, self.last + 1)])
        {
            let mut is_filled = false;
            while let Some((first, last)) = free.next_if(|member| member.1 < first) {
                is_filled = true;
                if first < last {
                    // A member over several lines is left out or shown as one.
                    give(frame(first, last, FrameKind::Whole));
                }
            }
            if is_filled {
                give(frame(from, first - 1, kind));
            }
            from = last + 1;
        }
    }
}
