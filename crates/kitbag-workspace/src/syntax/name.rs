//! The name of a definition, and its owner where that is not around it.

use tree_sitter::Node;

/// A name and the type that it is said to belong to: a receiver, a class before `::` or `.`.
#[derive(Debug, Default)]
pub(super) struct Name {
    pub(super) name: String,
    pub(super) owner: String,
}

impl Name {
    fn new(name: &str, owner: &str) -> Self {
        Self {
            name: name.to_owned(),
            owner: owner.to_owned(),
        }
    }
}

/// The name of a definition; empty if it has none.
pub(super) fn of(node: Node<'_>, text: &str) -> Name {
    let field = |field: &str| node.child_by_field_name(field);
    if let Some(name) = field("name") {
        let mut found = split(name, text);
        if let Some(receiver) = field("receiver") {
            found.owner = type_in(receiver, text);
        }
        return found;
    }
    if let Some(declarator) = field("declarator") {
        return split(declared(declarator), text);
    }
    let fields: &[&str] = match node.kind() {
        // Its trait is a name too, but the methods belong to the type.
        "impl_item" => &["type"],
        _ => &["left", "key", "pattern"],
    };
    if let Some(found) = fields.iter().find_map(|name| field(name)) {
        return split(found, text);
    }
    // A struct without a name has members with names.
    if node.kind().ends_with("_specifier") {
        return Name::default();
    }
    first_name(node, 0).map_or_else(Name::default, |name| split(name, text))
}

/// The first name inside a node, where the grammar has no field for it.
fn first_name(node: Node<'_>, depth: u32) -> Option<Node<'_>> {
    if let Some(name) = node.child_by_field_name("name") {
        return Some(name);
    }
    let mut cursor = node.walk();
    // A name stands near the beginning; a long list of children is a body.
    let children: Vec<_> = node.named_children(&mut cursor).take(6).collect();
    children.into_iter().find_map(|child| {
        let kind = child.kind();
        if kind.ends_with("identifier") || matches!(kind, "name" | "constant" | "word") {
            return Some(child);
        }
        let mut beside = "modifier annotation attribute type parameter body block".split(' ');
        let is_beside = beside.any(|word| kind.contains(word));
        if depth < 3 && !is_beside {
            return first_name(child, depth + 1);
        }
        None
    })
}

/// The first string in the call that a function without a name is passed to: `it("works", …)`.
pub(super) fn of_callback(lambda: Node<'_>, text: &str) -> Name {
    let mut around = lambda.parent();
    for _ in 0..2 {
        let Some(node) = around else { break };
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if child.start_byte() >= lambda.start_byte() {
                break;
            }
            let first = child
                .named_child(0)
                .filter(|_| child.kind().contains("argument"));
            let within = first.unwrap_or(child);
            if within.kind().contains("string") || within.kind().contains("symbol") {
                let name = line_of(within, text).trim_matches(['"', '\'', '`', ':']);
                return Name::new(name, "");
            }
        }
        around = node.parent();
    }
    Name::default()
}

/// A block of a test framework.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestBlock {
    /// One test: `it "works" do`.
    Case,
    /// A group of tests: `describe("Cart", () => {`.
    Group,
}

/// The test, or the group of tests, that a function without a name is passed to.
pub(super) fn test_block(lambda: Node<'_>, text: &str) -> Option<TestBlock> {
    let mut around = lambda.parent();
    for _ in 0..2 {
        let node = around?;
        if node.kind().contains("call") {
            let call = line_of(node, text);
            let call = call.strip_prefix("RSpec.").unwrap_or(call);
            let name = call
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()?;
            // `context.on("x", …)` calls a method of something that merely has such a name.
            if !begins_block(call.strip_prefix(name)?) {
                return None;
            }
            return match name {
                "it" | "test" | "specify" | "scenario" | "example" | "fit" | "xit" => {
                    Some(TestBlock::Case)
                }
                "describe" | "context" | "suite" | "feature" | "fdescribe" | "xdescribe" => {
                    Some(TestBlock::Group)
                }
                _ => None,
            };
        }
        around = node.parent();
    }
    None
}

/// Tells whether what stands behind the name of a test block passes it something: at once, or by a variant of it.
fn begins_block(behind: &str) -> bool {
    let mut behind = behind;
    while let Some(variant) = behind.strip_prefix('.') {
        let mut known = "only skip each concurrent failing serial parallel describe".split(' ');
        let rest = known.find_map(|known| variant.strip_prefix(known));
        match rest {
            Some(rest) => behind = rest,
            None => return false,
        }
    }
    behind.starts_with(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '\'' | '`' | '{'))
}

/// The innermost declarator of a C declaration.
fn declared(declarator: Node<'_>) -> Node<'_> {
    let mut node = declarator;
    // Each pointer and each pair of parentheses is a declarator around the next one.
    for _ in 0..16 {
        if let Some(name) = node.child_by_field_name("name")
            && !matches!(node.kind(), "qualified_identifier" | "template_function")
        {
            return name;
        }
        let next = node.child_by_field_name("declarator").or_else(|| {
            node.named_child(0)
                .filter(|_| node.kind().ends_with("declarator"))
        });
        match next {
            Some(next) => node = next,
            None => break,
        }
    }
    node
}

/// The first type that is named in a node.
fn type_in(node: Node<'_>, text: &str) -> String {
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        if node.kind() == "type_identifier" {
            return line_of(node, text).to_owned();
        }
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        stack.extend(children.into_iter().rev());
    }
    String::new()
}

/// Parts a written name into the name and what stands before it.
fn split(node: Node<'_>, text: &str) -> Name {
    let written = line_of(node, text).trim_matches(['"', '\'', '`', '$']);
    let operator = written.contains("operator");
    let plain = match written.split(['<', '(', '{', '[', ' ', ',']).next() {
        _ if operator => written,
        // A name of signs alone is an operator.
        None | Some("") => written.split(['(', ' ']).next().unwrap_or(""),
        Some(plain) => plain,
    };
    let parts = plain
        .rsplit_once("::")
        .or_else(|| plain.rsplit_once("->"))
        .or_else(|| plain.rsplit_once(['.', '\\', ':']).filter(|_| !operator));
    let Some((before, name)) = parts else {
        return Name::new(plain, "");
    };
    // `A.prototype.run = …` defines a method of `A`.
    let before = before.trim_end_matches(".prototype");
    let owner = before.rsplit(['.', ':', '\\', '>']).next().unwrap_or("");
    let owner = match owner {
        "this" | "self" | "$this" | "exports" | "module" | "window" => "",
        other => other,
    };
    Name::new(name, owner)
}

/// The text of a node up to the end of its first line, or to a bound that no sane name passes.
fn line_of<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    let whole = text.get(node.byte_range()).unwrap_or("");
    let line = whole.lines().next().unwrap_or("");
    let end = line
        .char_indices()
        .nth(100)
        .map_or(line.len(), |(at, _)| at);
    line.get(..end).unwrap_or("").trim()
}
