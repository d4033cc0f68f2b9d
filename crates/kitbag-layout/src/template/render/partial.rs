//! Partials: registered ones, inline ones, and the blocks that are handed to them.

use std::borrow::Cow;
use std::rc::Rc;

use super::super::ast::{Block, Call, Partial, PartialName};
use super::super::error::TemplateError;
use super::super::js::{Object, Val, text};
use super::Renderer;
use super::call::Use;
use super::scope::{Closure, Data, Env, HandedBlock, Scope};

const HANDED_BLOCK: &str = "@partial-block";

impl<'a> Renderer<'a> {
    /// `{{> name}}`.
    pub(super) fn partial(
        &mut self,
        partial: &'a Partial,
        scope: &Scope<'a>,
    ) -> Result<(), TemplateError> {
        let start = self.out.len();
        self.call_partial(&partial.name, &partial.call, None, scope)?;
        let source = &scope.home.template.source;
        let indent = source.get(partial.indent.clone()).unwrap_or_default();
        if !indent.is_empty() {
            let rendered = self.out.split_off(start);
            if self.apart == 0 {
                self.traced.indented(start, &rendered, indent.len());
            }
            for line in rendered.split_inclusive('\n') {
                self.out.push_str(indent);
                self.out.push_str(line);
            }
        }
        self.check_output(scope, partial.call.at)
    }

    /// `{{#> name}}…{{/name}}`.
    pub(super) fn partial_block(
        &mut self,
        name: &'a PartialName,
        block: &'a Block,
        scope: &Scope<'a>,
    ) -> Result<(), TemplateError> {
        let handed = block.program.as_ref().map(|it| scope.closure(it));
        self.call_partial(name, &block.call, handed, scope)
    }

    fn call_partial(
        &mut self,
        name: &'a PartialName,
        call: &'a Call,
        handed: Option<Closure<'a>>,
        scope: &Scope<'a>,
    ) -> Result<(), TemplateError> {
        let at = call.at;
        let name = match name {
            PartialName::Fixed(name) => Cow::Borrowed(name.as_str()),
            PartialName::Dynamic(call) => {
                let value = self.sub_expression(call, scope)?;
                let name = text(&value, &mut self.budget);
                let name =
                    name.map_err(|stop| super::stopped(stop, self.settings.limits, scope, at))?;
                Cow::Owned(name.into_owned())
            }
        };
        let context = self.partial_context(call, scope)?;
        let known = scope.home.env.borrow().clone();
        let shown = scope.data.block.clone();
        let (data, env, own) = match handed {
            None => (Rc::clone(&scope.data), known.clone(), None),
            Some(block) => {
                let env = Env::with(block.inlines(), known.clone());
                let handed = Rc::new(HandedBlock {
                    block,
                    outer: shown.clone(),
                });
                (
                    frame(&scope.data, Some(Rc::clone(&handed))),
                    env,
                    Some(handed),
                )
            }
        };
        let inline = known.and_then(|known| known.find(&name));
        if let Some(inline) = inline {
            return self.run(&inline, context, None, data, scope, at);
        }
        if let Some(template) = self.settings.partials.get(name.as_ref()) {
            let inner = Scope::template(template, context, data, env);
            return self.deeper(scope, at, |renderer| {
                renderer.program(&template.program, &inner)
            });
        }
        let shown = shown.filter(|_| name == HANDED_BLOCK);
        let Some(block) = shown.or(own) else {
            return Err(TemplateError::UnknownPartial {
                place: scope.place(at),
                name: name.into_owned(),
            });
        };
        let data = frame(&data, block.outer.clone());
        self.run(&block.block, context, None, data, scope, at)
    }

    /// What the partial is given: the context or the argument, with the fields of the hash added.
    fn partial_context(
        &mut self,
        call: &'a Call,
        scope: &Scope<'a>,
    ) -> Result<Val<'a>, TemplateError> {
        let arguments = self.arguments(call, scope, Use::Needed)?;
        let context = match arguments.params.first() {
            Some(context) => context.clone(),
            None => scope.context.clone(),
        };
        if call.hash.is_empty() {
            return Ok(context);
        }
        let entries = context.entries(&mut self.budget);
        let entries = entries.map_err(|stop| self.stopped(stop, scope, call.at))?;
        let mut object: Object<'a> = entries.into_iter().collect();
        // As in Handlebars.js the last comes first.
        for (key, value) in arguments.hash.into_iter().rev() {
            object.insert(Cow::Borrowed(key), value);
        }
        Ok(Val::Object(Rc::new(object)))
    }
}

/// A level of data that hands on all but the block.
fn frame<'a>(data: &Rc<Data<'a>>, block: Option<Rc<HandedBlock<'a>>>) -> Rc<Data<'a>> {
    Rc::new(Data {
        block,
        outer: Some(Rc::clone(data)),
        ..(**data).clone()
    })
}
