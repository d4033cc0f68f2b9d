//! Finds the body of a definition, and which of its lines can be left out.

use tree_sitter::Node;

use super::grammar::{Grammar, Role};
use super::items::span;

/// The body of a definition: the field of that name, or the block at its end.
pub(super) fn of<'n>(node: Node<'n>, grammar: &Grammar) -> Option<Node<'n>> {
    if let Some(body) = node.child_by_field_name("body") {
        return Some(body);
    }
    let mut node = node;
    // Some grammars give a body no field, and wrap its block in a node or two.
    for _ in 0..4 {
        let last = last_child(node)?;
        if grammar.role(last).is_block() {
            return Some(last);
        }
        node = last;
    }
    None
}

/// The value of a constant or entry.
pub(super) fn value(node: Node<'_>) -> Option<Node<'_>> {
    ["value", "right"]
        .into_iter()
        .find_map(|field| node.child_by_field_name(field))
        .or_else(|| {
            let declarator = node.child_by_field_name("declarator")?;
            declarator.child_by_field_name("value")
        })
        .or_else(|| {
            let last = last_child(node).filter(|last| last.kind() == "expression_list")?;
            last.child_by_field_name("value")
        })
}

fn last_child(node: Node<'_>) -> Option<Node<'_>> {
    let count = u32::try_from(node.named_child_count()).ok()?;
    node.named_child(count.checked_sub(1)?)
}

/// The list or table that fills a value.
pub(super) fn literal<'n>(value: Node<'n>, grammar: &Grammar) -> Option<Node<'n>> {
    let (first, last) = span(value);
    let mut nodes = vec![(value, 0)];
    while let Some((node, depth)) = nodes.pop() {
        let (from, to) = span(node);
        // A list that fills less than half of the value is not what makes it long.
        if (to - from) * 2 < last - first {
            continue;
        }
        if grammar.role(node).is_block() && opens(node) {
            return Some(node);
        }
        if depth < 6 {
            let mut cursor = node.walk();
            nodes.extend(
                node.named_children(&mut cursor)
                    .map(|node| (node, depth + 1)),
            );
        }
    }
    None
}

/// The lines of a body without its braces and its documentation, cut at whole statements.
pub(super) fn foldable(body: Node<'_>, grammar: &Grammar, text: &str) -> Option<(u32, u32)> {
    let mut body = body;
    // A body may be only the husk of a block.
    while let Some(child) = body.named_child(0)
        && child.start_byte() == body.start_byte()
        && grammar.role(child).is_block()
        && body.named_child_count() == 1
        && opens(child)
    {
        body = child;
    }
    if !(grammar.role(body).is_block() || grammar.role(body) == Role::Lambda) {
        return None;
    }
    let (first, last) = span(body);
    let signature = signature_end(body);
    let (mut from, mut to) = match text.as_bytes().get(body.start_byte()) {
        // The lines of both brackets stay.
        Some(b'{' | b'(' | b'[') => (first + 1, last.checked_sub(1)?),
        // The rest of an expression cannot be left out, nor words in a list of words.
        Some(b'=' | b'%') => return None,
        _ if grammar.role(body) == Role::Lambda => return None,
        _ => (signature + 1, 0),
    };
    let open = to > 0;
    // Statements may stand together in a node whose end is not to be trusted.
    let list = match body.named_child(0) {
        Some(only) if open && body.named_child_count() == 1 && grammar.role(only).is_block() => {
            only
        }
        _ => body,
    };
    let mut cursor = list.walk();
    for (index, child) in list.named_children(&mut cursor).enumerate() {
        let (first, last) = span(child);
        if !open {
            to = to.max(last);
        }
        if first < from || (index == 0 && is_text_alone(child, grammar)) {
            from = from.max(last + 1);
        } else if last > to {
            to = to.min(first - 1);
        }
    }
    (from <= to).then_some((from, to))
}

/// The last line of what stands before a body; a brace that opens it belongs to the signature.
pub(super) fn signature_end(body: Node<'_>) -> u32 {
    let first = span(body).0;
    if opens(body) {
        return first;
    }
    let mut before = body.prev_sibling();
    while before.is_some_and(|node| node.is_extra()) {
        before = before.and_then(|node| node.prev_sibling());
    }
    before.map_or(first, |node| span(node).1)
}

/// Tells if a node starts with the bracket that its end closes.
fn opens(node: Node<'_>) -> bool {
    node.child(0)
        .is_some_and(|token| !token.is_named() && matches!(token.kind(), "{" | "(" | "["))
}

/// Tells if a C declaration only announces a function.
pub(super) fn declares_a_function<'n>(node: Node<'n>) -> bool {
    let declarator = |node: &Node<'n>| node.child_by_field_name("declarator");
    // Pointers to functions and parentheses nest declarators; a bound keeps odd code cheap.
    let mut declarators = std::iter::successors(declarator(&node), declarator).take(8);
    declarators.any(|node| node.kind() == "function_declarator")
}

/// Tells if a statement is only a string: documentation.
pub(super) fn is_text_alone(node: Node<'_>, grammar: &Grammar) -> bool {
    node.kind() == "expression_statement"
        && node.named_child_count() == 1
        && node
            .named_child(0)
            .is_some_and(|child| grammar.role(child) == Role::Text)
}
