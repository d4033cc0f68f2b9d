//! The paths that a template looks up and the partials that it includes, without rendering it.

use super::Template;
use super::ast::{Block, BlockKind, Call, Expression, Node, PartialName, Path, Program};
use super::error::Place;
use super::helper::Helper;

/// A path in a template, where it is looked up.
#[derive(Debug, Clone, Copy)]
pub struct PathUse<'a> {
    template: &'a Template,
    path: &'a Path,
    at: usize,
    is_asked: bool,
}

impl<'a> PathUse<'a> {
    /// The names from the context on: `documents`, `my-doc`, `content`.
    #[must_use]
    pub fn parts(&self) -> &'a [String] {
        &self.path.parts
    }

    /// How many levels up it starts, by `..`.
    #[must_use]
    pub fn up(&self) -> usize {
        self.path.depth
    }

    /// Whether it starts with `@`.
    #[must_use]
    pub fn is_data(&self) -> bool {
        self.path.data
    }

    /// The path as it is written, without brackets.
    #[must_use]
    pub fn written(&self) -> &'a str {
        &self.path.original
    }

    /// Whether `if`, `unless`, `each` or `with` asks whether it is there.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.is_asked
    }

    /// Where it is.
    #[must_use]
    pub fn place(&self) -> Place {
        Place::of(&self.template.name, &self.template.source, self.at)
    }
}

pub(super) fn paths(template: &Template) -> Vec<PathUse<'_>> {
    Collector::of(template).paths
}

/// The names of the partials that it includes, without those that are made while rendering.
pub(super) fn partials(template: &Template) -> Vec<&str> {
    Collector::of(template).partials
}

/// Those of them that must come from elsewhere.
pub(super) fn required_partials(template: &Template) -> Vec<&str> {
    let Collector {
        mut partials,
        optional,
        ..
    } = Collector::of(template);
    partials.retain(|name| !optional.contains(name) && !name.starts_with('@'));
    partials
}

struct Collector<'a> {
    template: &'a Template,
    /// The names of block parameters, which are not looked up.
    params: Vec<&'a [String]>,
    paths: Vec<PathUse<'a>>,
    partials: Vec<&'a str>,
    /// Partials that the template defines itself, or has a stand-in for.
    optional: Vec<&'a str>,
    is_asked: bool,
}

/// The helpers that do something else where a value is missing.
const ASKING: [&str; 4] = ["if", "unless", "each", "with"];

impl<'a> Collector<'a> {
    fn of(template: &'a Template) -> Self {
        let mut collector = Self {
            template,
            params: Vec::new(),
            paths: Vec::new(),
            partials: Vec::new(),
            optional: Vec::new(),
            is_asked: false,
        };
        collector.program(&template.program);
        collector
    }

    fn program(&mut self, program: &'a Program) {
        self.params.push(&program.params);
        for node in &program.body {
            match node {
                Node::Text(_) | Node::Comment(_) => {}
                Node::Mustache(mustache) => self.call(&mustache.call),
                Node::Partial(partial) => self.partial(&partial.name, &partial.call),
                Node::Block(block) => self.block(block),
            }
        }
        self.params.pop();
    }

    fn block(&mut self, block: &'a Block) {
        match &block.kind {
            BlockKind::Section => self.call(&block.call),
            // Its own content stands in for one that is missing.
            BlockKind::Partial(PartialName::Dynamic(call)) => {
                self.arguments(call);
                self.arguments(&block.call);
            }
            BlockKind::Partial(PartialName::Fixed(name)) => {
                self.partials.push(name);
                self.optional.push(name);
                self.arguments(&block.call);
            }
            BlockKind::Inline(name) => self.optional.push(name),
        }
        for program in [&block.program, &block.inverse].into_iter().flatten() {
            self.program(program);
        }
    }

    fn partial(&mut self, name: &'a PartialName, call: &'a Call) {
        match name {
            PartialName::Fixed(name) => self.partials.push(name),
            PartialName::Dynamic(call) => self.arguments(call),
        }
        self.arguments(call);
    }

    fn call(&mut self, call: &'a Call) {
        let has_arguments = !call.params.is_empty() || !call.hash.is_empty();
        let is_helper = call.path.is_simple() && Helper::named(call.path.first()).is_some();
        if !has_arguments && !is_helper {
            self.path(&call.path, call.at);
        }
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
                Expression::Path(at, path) => self.path(path, *at),
                Expression::Call(call) => self.arguments(call),
            }
        }
    }

    fn path(&mut self, path: &'a Path, at: usize) {
        let is_param = path.depth == 0
            && !path.scoped
            && self
                .params
                .iter()
                .any(|names| names.iter().any(|name| name == path.first()));
        if !is_param {
            self.paths.push(PathUse {
                template: self.template,
                path,
                at,
                is_asked: self.is_asked,
            });
        }
    }
}
