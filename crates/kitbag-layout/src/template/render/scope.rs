//! The surroundings of a part of a template while it is rendered: contexts, data, block parameters
//! and partials.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::Template;
use super::super::ast::{BlockKind, Node, Program};
use super::super::error::Place;
use super::super::js::Val;

#[derive(Clone)]
pub(in super::super) struct Scope<'a> {
    pub(super) context: Val<'a>,
    /// The contexts that `..` leads to; the first is the current one.
    pub(super) depths: Option<Rc<Depth<'a>>>,
    /// The same list as it was where the block stands.
    pub(super) around: Option<Rc<Depth<'a>>>,
    pub(super) params: Option<Rc<Frame<'a>>>,
    pub(super) data: Rc<Data<'a>>,
    pub(super) home: Rc<Home<'a>>,
}

pub(super) struct Depth<'a> {
    pub(super) context: Val<'a>,
    pub(super) outer: Option<Rc<Depth<'a>>>,
}

/// The block parameters of one block, and those around it.
pub(super) struct Frame<'a> {
    pub(super) names: &'a [String],
    /// None if the helper passes no values, so that using a parameter is an error.
    pub(super) values: Option<Vec<Val<'a>>>,
    pub(super) outer: Option<Rc<Frame<'a>>>,
}

/// The values of names with `@`.
#[derive(Clone)]
pub(super) struct Data<'a> {
    pub(super) root: Val<'a>,
    pub(super) round: Option<Rc<Round<'a>>>,
    /// The block that `@partial-block` renders.
    pub(super) block: Option<Rc<HandedBlock<'a>>>,
    pub(super) outer: Option<Rc<Data<'a>>>,
}

/// One round of a loop.
pub(super) struct Round<'a> {
    pub(super) key: Val<'a>,
    pub(super) index: usize,
    pub(super) is_last: bool,
}

/// The block passed to a partial, and the one visible inside of it.
pub(super) struct HandedBlock<'a> {
    pub(super) block: Closure<'a>,
    pub(super) outer: Option<Rc<HandedBlock<'a>>>,
}

/// A part of a template that is rendered elsewhere, with the surroundings of its place in the
/// source.
#[derive(Clone)]
pub(super) struct Closure<'a> {
    pub(super) program: &'a Program,
    pub(super) depths: Option<Rc<Depth<'a>>>,
    pub(super) params: Option<Rc<Frame<'a>>>,
    pub(super) home: Rc<Home<'a>>,
}

/// A template that is being rendered, with the inline partials declared in it at the moment.
pub(super) struct Home<'a> {
    pub(super) template: &'a Template,
    pub(super) env: RefCell<Option<Rc<Env<'a>>>>,
}

pub(super) struct Env<'a> {
    inlines: Vec<(&'a str, Closure<'a>)>,
    outer: Option<Rc<Env<'a>>>,
}

impl<'a> Scope<'a> {
    pub(super) fn root(template: &'a Template, context: Val<'a>) -> Self {
        let data = Rc::new(Data {
            root: context.clone(),
            round: None,
            block: None,
            outer: None,
        });
        Self::template(template, context, data, None)
    }

    /// The scope of a partial's template. Of its caller it sees only the data.
    pub(super) fn template(
        template: &'a Template,
        context: Val<'a>,
        data: Rc<Data<'a>>,
        env: Option<Rc<Env<'a>>>,
    ) -> Self {
        Self {
            context: context.clone(),
            depths: Some(Rc::new(Depth {
                context,
                outer: None,
            })),
            // A template starts with no block around it, so `..` leads nowhere.
            around: None,
            params: None,
            data,
            home: Rc::new(Home {
                template,
                env: RefCell::new(env),
            }),
        }
    }

    pub(in super::super) fn place(&self, at: usize) -> Place {
        let template = self.home.template;
        Place::of(&template.name, &template.source, at)
    }

    /// The context that helpers pass on: in Handlebars.js there always is one.
    pub(in super::super) fn this(&self) -> Val<'a> {
        if self.context.is_nothing() {
            Val::NoContext
        } else {
            self.context.clone()
        }
    }

    /// The context this many levels up; undefined above the root.
    pub(super) fn up(&self, depth: usize) -> Val<'a> {
        if depth == 0 {
            return self.context.clone();
        }
        let own = self.depths.as_deref();
        let level = own.and_then(|own| (0..depth).try_fold(own, |level, _| level.outer.as_deref()));
        level.map_or(Val::Undefined, |level| level.context.clone())
    }

    /// The block parameter of a name. `Some(None)` means that the helper passes no value for it.
    pub(super) fn param(&self, name: &str) -> Option<Option<Val<'a>>> {
        // From the innermost block outwards: inner names hide outer ones.
        let mut frame = self.params.as_deref();
        while let Some(Frame {
            names,
            values,
            outer,
        }) = frame
        {
            if let Some(at) = names.iter().position(|param| param == name) {
                let value = |values: &Vec<Val<'a>>| values.get(at).cloned();
                let value = values.as_ref().map(value);
                return Some(value.map(|value| value.unwrap_or(Val::Undefined)));
            }
            frame = outer.as_deref();
        }
        None
    }

    /// A block with its surroundings, to be rendered elsewhere.
    pub(super) fn closure(&self, program: &'a Program) -> Closure<'a> {
        Closure {
            program,
            depths: self.depths.clone(),
            params: self.params.clone(),
            home: Rc::clone(&self.home),
        }
    }

    /// The inline partials declared directly in a program that is entered with this scope.
    pub(super) fn inlines(&self, program: &'a Program) -> Vec<(&'a str, Closure<'a>)> {
        inlines(program, |inline| Closure {
            // Handlebars.js resolves `..` in an inline partial from where the block stands.
            depths: self.around.clone(),
            ..self.closure(inline)
        })
    }
}

impl<'a> Closure<'a> {
    /// The inline partials declared in a block that is passed to a partial.
    pub(super) fn inlines(&self) -> Vec<(&'a str, Closure<'a>)> {
        inlines(self.program, |program| Closure {
            program,
            ..self.clone()
        })
    }
}

fn inlines<'a>(
    program: &'a Program,
    close: impl Fn(&'a Program) -> Closure<'a>,
) -> Vec<(&'a str, Closure<'a>)> {
    let declared = program.body.iter().filter_map(|node| match node {
        Node::Block(block) => match (&block.kind, &block.program) {
            (BlockKind::Inline(name), Some(program)) => Some((name.as_str(), close(program))),
            _ => None,
        },
        _ => None,
    });
    declared.collect()
}

impl<'a> Home<'a> {
    /// Declares inline partials, and returns those declared before.
    pub(super) fn declare(&self, inlines: Vec<(&'a str, Closure<'a>)>) -> Option<Rc<Env<'a>>> {
        let outer = self.env.borrow().clone();
        self.env.replace(Env::with(inlines, outer.clone()));
        outer
    }
}

impl<'a> Env<'a> {
    pub(super) fn with(
        inlines: Vec<(&'a str, Closure<'a>)>,
        outer: Option<Rc<Self>>,
    ) -> Option<Rc<Self>> {
        if inlines.is_empty() {
            return outer;
        }
        Some(Rc::new(Self { inlines, outer }))
    }

    pub(super) fn find(&self, name: &str) -> Option<Closure<'a>> {
        let mut env = Some(self);
        while let Some(Self { inlines, outer }) = env {
            // The last declaration of a name wins.
            let found = inlines.iter().rev().find(|(inline, _)| *inline == name);
            if let Some((_, closure)) = found {
                return Some(closure.clone());
            }
            env = outer.as_deref();
        }
        None
    }
}
