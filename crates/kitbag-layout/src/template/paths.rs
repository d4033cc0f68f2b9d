//! Finds the paths that a template looks up and the partials that it includes, without rendering
//! it.

use super::ast::{Block, BlockKind, Call, Expression, Node, PartialName, Path, Program};
use super::helper::Helper;

/// A path that a template looks up.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct PathUse<'a> {
    /// The names from the context on, such as `documents`, `my-doc`, `content`.
    pub parts: &'a [String],
    /// True if `if`, `unless`, `each` or `with` tests whether it exists.
    pub is_asked: bool,
}

/// The paths and partials of a program.
#[derive(Default)]
pub(super) struct Collector<'a> {
    /// The names of block parameters, which are not looked up.
    params: Vec<&'a [String]>,
    pub(super) paths: Vec<PathUse<'a>>,
    /// The names of partials, except those computed while rendering.
    pub(super) partials: Vec<&'a str>,
    /// The partials that the template defines itself, or has a fallback for.
    pub(super) optional: Vec<&'a str>,
    is_asked: bool,
}

/// The helpers that have another branch for a missing value.
const ASKING: [&str; 4] = ["if", "unless", "each", "with"];

impl<'a> Collector<'a> {
    pub(super) fn of(program: &'a Program) -> Self {
        let mut collector = Self::default();
        collector.program(program);
        collector
    }

    fn program(&mut self, program: &'a Program) {
        // Those of outer blocks stay known inside of inner ones.
        self.params.push(&program.params);
        for node in &program.body {
            match node {
                Node::Text(_) | Node::Comment(_) => {}
                Node::Mustache(mustache) => self.call(&mustache.call),
                Node::Partial(partial) => {
                    match &partial.name {
                        PartialName::Fixed(name) => self.partials.push(name),
                        PartialName::Dynamic(call) => self.arguments(call),
                    }
                    self.arguments(&partial.call);
                }
                Node::Block(block) => self.block(block),
            }
        }
        self.params.pop();
    }

    fn block(&mut self, block: &'a Block) {
        match &block.kind {
            BlockKind::Section => self.call(&block.call),
            BlockKind::Partial(name) => {
                self.partials.push(name);
                // The content of the block is the fallback for a missing partial.
                self.optional.push(name);
                self.arguments(&block.call);
            }
            BlockKind::Inline(name) => self.optional.push(name),
        }
        for program in [&block.program, &block.inverse].into_iter().flatten() {
            self.program(program);
        }
    }

    fn call(&mut self, call: &'a Call) {
        let has_arguments = !call.params.is_empty() || !call.hash.is_empty();
        let is_helper = call.path.is_simple() && Helper::named(call.path.first()).is_some();
        if !has_arguments && !is_helper {
            self.path(&call.path);
        }
        // Restored below: a test says nothing about paths behind it.
        let outer = self.is_asked;
        self.is_asked = is_helper && ASKING.contains(&call.path.first());
        self.arguments(call);
        self.is_asked = outer;
    }

    fn arguments(&mut self, call: &'a Call) {
        let hash = call.hash.iter().map(|(_, value)| value);
        for expression in call.params.iter().chain(hash) {
            match expression {
                Expression::Literal(_) => {}
                Expression::Path(_, path) => self.path(path),
                // With arguments it must be a helper, so its own path is no look-up.
                Expression::Call(call) => self.arguments(call),
            }
        }
    }

    fn path(&mut self, path: &'a Path) {
        let mut names = self.params.iter().copied().flatten();
        let is_param = path.depth == 0 && !path.scoped && names.any(|name| name == path.first());
        if !is_param {
            self.paths.push(PathUse {
                parts: &path.parts,
                is_asked: self.is_asked,
            });
        }
    }
}
