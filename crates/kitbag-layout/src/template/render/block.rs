//! Renders blocks: sections, and the helpers `if`, `unless`, `each` and `with`.

use std::rc::Rc;

use super::super::ast::{Block, Program};
use super::super::error::Halt;
use super::super::js::{Shape, Val, is_loosely_equal};
use super::Renderer;
use super::call::{Arguments, Resolved};
use super::scope::{Closure, Data, Depth, Frame, Round, Scope};

impl<'a> Renderer<'a> {
    /// Renders `{{#name}}…{{/name}}`: a helper, or a value that selects the content.
    pub(super) fn section(&mut self, block: &'a Block, scope: &Scope<'a>) -> Result<(), Halt> {
        let value = match self.resolve(&block.call, scope, Some(block))? {
            Resolved::Helper(value) => return self.write(&value, false),
            Resolved::Value(value) => value,
        };
        // Without a helper the value decides: true shows the block, false the `else` part, a list
        // repeats the block, and anything else becomes the context.
        let (program, inverse) = (block.program.as_ref(), block.inverse.as_ref());
        // A boolean leaves the context as it is.
        let context = scope.context.clone();
        match value.shape() {
            Shape::Bool(true) => self.enter(program, scope, context, None),
            Shape::Bool(false) | Shape::Undefined | Shape::Null => {
                self.enter(inverse, scope, context, None)
            }
            Shape::List if value.items() == 0 => self.enter(inverse, scope, context, None),
            Shape::List => self.each(block, &value, scope),
            _ => self.enter(program, scope, value, Some(Vec::new())),
        }
    }

    pub(in super::super) fn if_(
        &mut self,
        block: &'a Block,
        arguments: &Arguments<'a>,
        scope: &Scope<'a>,
        then: bool,
    ) -> Result<(), Halt> {
        let value = arguments.first();
        let zero_counts = arguments.hash("includeZero").is_truthy();
        // The condition of Handlebars.js in its own form: with `includeZero` the number 0 counts as
        // true.
        let is = !((!zero_counts && !value.is_truthy()) || value.is_empty());
        let program = if is == then {
            &block.program
        } else {
            &block.inverse
        };
        self.enter(program.as_ref(), scope, scope.this(), None)
    }

    pub(in super::super) fn with(
        &mut self,
        block: &'a Block,
        value: Val<'a>,
        scope: &Scope<'a>,
    ) -> Result<(), Halt> {
        if value.is_empty() {
            return self.enter(block.inverse.as_ref(), scope, scope.this(), None);
        }
        // `{{#with x as |y|}}` names the value.
        let params = Some(vec![value.clone()]);
        self.enter(block.program.as_ref(), scope, value, params)
    }

    pub(in super::super) fn each(
        &mut self,
        block: &'a Block,
        value: &Val<'a>,
        scope: &Scope<'a>,
    ) -> Result<(), Halt> {
        // A loop shows the items it goes over, even if the block uses only a part of each.
        self.traced.note(value, self.watched);
        // Collected first: `@last` needs the number of rounds before the first one.
        let entries: Vec<(Val<'a>, Val<'a>)> = match value.shape() {
            Shape::List => (0..value.items())
                .map(|at| (Val::count(at), value.item(at)))
                .collect(),
            Shape::Object => {
                let entries = value.entries(&mut self.budget)?.into_iter();
                entries
                    .map(|(key, item)| (key.into_owned().into(), item))
                    .collect()
            }
            _ => Vec::new(),
        };
        let rounds = entries.len();
        if rounds == 0 {
            return self.enter(block.inverse.as_ref(), scope, scope.this(), None);
        }
        for (index, (key, item)) in entries.into_iter().enumerate() {
            self.budget.spend(1)?;
            // `@key`, `@index`, `@first` and `@last` belong to the round; `@../index` leads to the
            // outer loop.
            let data = Data {
                round: Some(Rc::new(Round {
                    key: key.clone(),
                    index,
                    is_last: index + 1 == rounds,
                })),
                // `@../key` leads to the loop around this one.
                outer: Some(Rc::clone(&scope.data)),
                ..(*scope.data).clone()
            };
            let inner = Scope {
                data: Rc::new(data),
                ..scope.clone()
            };
            let params = Some(vec![item.clone(), key]);
            self.enter(block.program.as_ref(), &inner, item, params)?;
        }
        Ok(())
    }

    /// Renders a part of the current template with a context.
    pub(in super::super) fn enter(
        &mut self,
        program: Option<&'a Program>,
        scope: &Scope<'a>,
        context: Val<'a>,
        params: Option<Vec<Val<'a>>>,
    ) -> Result<(), Halt> {
        match program {
            Some(program) => {
                let closure = scope.closure(program);
                self.run(&closure, context, params, Rc::clone(&scope.data))
            }
            None => Ok(()),
        }
    }

    /// Renders a part of any template with a context.
    pub(super) fn run(
        &mut self,
        closure: &Closure<'a>,
        context: Val<'a>,
        params: Option<Vec<Val<'a>>>,
        data: Rc<Data<'a>>,
    ) -> Result<(), Halt> {
        let around = closure.depths.clone();
        let own = around
            .as_deref()
            .map_or(Val::Undefined, |it| it.context.clone());
        // Handlebars.js adds a level for `..` only if the context changes, by its loose comparison.
        let is_same = is_loosely_equal(&context, &own, &mut self.budget)?;
        // `NoContext` replaces a null context, and must not count as another one.
        let stands_for_null =
            matches!(context, Val::NoContext) && matches!(own.shape(), Shape::Null);
        let depths = if is_same || stands_for_null {
            around.clone()
        } else {
            Some(Rc::new(Depth {
                context: context.clone(),
                outer: around.clone(),
            }))
        };
        let outer = closure.params.clone();
        let names = closure.program.params.as_slice();
        // Without names of its own a block sees those of the blocks around it.
        let params = if names.is_empty() {
            outer
        } else {
            Some(Rc::new(Frame {
                names,
                values: params,
                outer,
            }))
        };
        let scope = Scope {
            context,
            depths,
            around,
            params,
            data,
            home: Rc::clone(&closure.home),
        };
        // Every block passes here, so this one count limits the depth of all of them.
        self.deeper(|renderer| Ok(renderer.program(closure.program, &scope)?))
    }
}
