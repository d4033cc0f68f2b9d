//! The tree of a parsed template.
//!
//! Texts are ranges of the source, so nothing is copied; the whitespace pass only narrows them. The
//! parser limits nesting, so functions that walk or drop a tree may recurse.

use std::ops::Range;

use crate::value::Value;

/// The content of a block, or the whole template.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    pub(super) body: Vec<Node>,
    /// The names in `as |a b|`.
    pub(super) params: Vec<String>,
    /// True for the content of an `{{else if}}`, which is a single block.
    pub(super) chained: bool,
}

#[derive(Debug, Clone)]
pub(super) enum Node {
    Text(Text),
    Comment(Strip),
    Mustache(Box<Mustache>),
    Partial(Box<Partial>),
    Block(Box<Block>),
}

#[derive(Debug, Clone)]
pub(super) struct Text {
    /// The part that is written, after whitespace control.
    pub(super) shown: Range<usize>,
    /// The part in the source.
    pub(super) original: Range<usize>,
}

/// The sides of a tag on which a `~` stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Strip {
    pub(super) open: bool,
    pub(super) close: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Mustache {
    pub(super) call: Call,
    pub(super) escaped: bool,
    pub(super) strip: Strip,
}

#[derive(Debug, Clone)]
pub(super) struct Partial {
    pub(super) name: PartialName,
    pub(super) call: Call,
    /// The whitespace in front of each of its lines.
    pub(super) indent: Range<usize>,
    pub(super) strip: Strip,
}

#[derive(Debug, Clone)]
pub(super) enum PartialName {
    Fixed(String),
    /// Computed by the sub-expression.
    Dynamic(Call),
}

#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    pub(super) call: Call,
    pub(super) program: Option<Program>,
    pub(super) inverse: Option<Program>,
    pub(super) open: Strip,
    pub(super) between: Strip,
    pub(super) close: Strip,
}

#[derive(Debug, Clone)]
pub(super) enum BlockKind {
    /// `{{#if x}}`, `{{#section}}`.
    Section,
    /// `{{#> name}}`.
    Partial(String),
    /// `{{#*inline "name"}}`.
    Inline(String),
}

/// A path with arguments: a look-up, or the call of a helper.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// The byte in the source at which the path starts.
    pub(super) at: usize,
    pub(super) path: Path,
    pub(super) params: Vec<Expression>,
    /// In the order of the source; of two with the same name the first wins.
    pub(super) hash: Vec<(String, Expression)>,
}

#[derive(Debug, Clone)]
pub(super) enum Expression {
    Path(usize, Path),
    Literal(Literal),
    Call(Box<Call>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    Undefined,
    Value(Value),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Path {
    /// True if it starts with `@`.
    pub(super) data: bool,
    /// The number of leading `..`.
    pub(super) depth: usize,
    pub(super) parts: Vec<String>,
    /// The path as written, without brackets.
    pub(super) original: String,
    /// True if it starts at the context explicitly (`this.x`, `./x`), so that it cannot name a
    /// helper.
    pub(super) scoped: bool,
    /// The literal written in place of a path.
    pub(super) literal: Option<Literal>,
}

impl Path {
    /// Returns true for a single name, which may be that of a helper.
    pub(super) fn is_simple(&self) -> bool {
        self.parts.len() == 1 && self.depth == 0 && !self.scoped
    }

    pub(super) fn first(&self) -> &str {
        self.parts.first().map_or("", String::as_str)
    }

    pub(super) fn new(data: bool, depth: usize, parts: Vec<String>, original: String) -> Self {
        // Like Handlebars.js, which takes every name that ends in `this` for an explicit path.
        let scoped = original.starts_with('.')
            || original.match_indices("this").any(|(at, this)| {
                let rest = original.get(at + this.len()..).unwrap_or_default();
                !rest.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_')
            });
        Self {
            data,
            depth,
            parts,
            original,
            scoped,
            literal: None,
        }
    }

    /// The spelling by which the name at the end of a block is compared with that at its beginning.
    pub(super) fn spelled(&self) -> Literal {
        match &self.literal {
            Some(literal) => literal.clone(),
            None => Literal::Value(Value::Text(self.original.clone())),
        }
    }

    /// The context itself.
    pub(super) fn this() -> Self {
        Self::new(false, 0, Vec::new(), "this".to_owned())
    }
}

impl Literal {
    /// The name that it stands for in place of a path.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Undefined => "undefined".to_owned(),
            Self::Value(Value::Text(text)) => text.clone(),
            Self::Value(Value::Number(number)) => number.to_string(),
            Self::Value(Value::Bool(is)) => is.to_string(),
            Self::Value(_) => "null".to_owned(),
        }
    }
}

impl Call {
    /// The literal name of an inline partial.
    pub(super) fn inline_name(&self) -> Option<String> {
        match self.params.first()? {
            Expression::Literal(literal) => Some(literal.name()),
            Expression::Path(..) | Expression::Call(_) => None,
        }
    }
}

impl Text {
    pub(super) fn new(range: Range<usize>) -> Self {
        Self {
            shown: range.clone(),
            original: range,
        }
    }
}

impl Program {
    /// The single block of an `{{else if}}`.
    pub(super) fn chained_block(&mut self) -> Option<&mut Block> {
        match self.body.first_mut() {
            Some(Node::Block(block)) if self.chained => Some(block),
            _ => None,
        }
    }
}
