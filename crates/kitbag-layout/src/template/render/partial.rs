//! Renders partials: registered ones, inline ones, and blocks that are passed to them.

use std::borrow::Cow;
use std::rc::Rc;

use super::super::ast::{Block, Call, Partial, PartialName};
use super::super::error::{Halt, TemplateProblem};
use super::super::js::{Object, Val, text};
use super::Renderer;
use super::call::Use;
use super::scope::{Closure, Data, Env, HandedBlock, Scope};

const HANDED_BLOCK: &str = "@partial-block";

impl<'a> Renderer<'a> {
    /// `{{> name}}`.
    pub(super) fn partial(&mut self, partial: &'a Partial, scope: &Scope<'a>) -> Result<(), Halt> {
        let name = match &partial.name {
            PartialName::Fixed(name) => Cow::Borrowed(name.as_str()),
            PartialName::Dynamic(call) => {
                let value = self.sub_expression(call, scope)?;
                Cow::Owned(text(&value, &mut self.budget)?.into_owned())
            }
        };
        // The output so far stays: only what the partial adds is indented.
        let start = self.out.len();
        self.call_partial(&name, &partial.call, None, scope)?;
        let source = &scope.home.template.source;
        let indent = source.get(partial.indent.clone()).unwrap_or_default();
        if !indent.is_empty() {
            // Indented after rendering, so the whole output of the partial has to be taken out and
            // put back.
            let rendered = self.out.split_off(start);
            // The recorded place of the query moves with the indentation.
            if self.detached == 0 {
                self.traced.indented(start, &rendered, indent.len());
            }
            for line in rendered.split_inclusive('\n') {
                self.out.push_str(indent);
                self.out.push_str(line);
            }
        }
        self.check_output()
    }

    /// `{{#> name}}…{{/name}}`.
    pub(super) fn partial_block(
        &mut self,
        name: &str,
        block: &'a Block,
        scope: &Scope<'a>,
    ) -> Result<(), Halt> {
        let handed = block.program.as_ref().map(|it| scope.closure(it));
        self.call_partial(name, &block.call, handed, scope)
    }

    fn call_partial(
        &mut self,
        name: &str,
        call: &'a Call,
        handed: Option<Closure<'a>>,
        scope: &Scope<'a>,
    ) -> Result<(), Halt> {
        let context = self.partial_context(call, scope)?;
        // Cloned, so that nothing is borrowed while the partial renders and perhaps declares
        // more.
        let known = scope.home.env.borrow().clone();
        let shown = scope.data.block.clone();
        let (data, env, own) = match handed {
            None => (Rc::clone(&scope.data), known.clone(), None),
            Some(block) => {
                // Inline partials in the block are visible to the partial that receives it.
                let env = Env::with(block.inlines(), known.clone());
                let handed = Rc::new(HandedBlock {
                    block,
                    outer: shown.clone(),
                });
                let data = frame(&scope.data, Some(Rc::clone(&handed)));
                (data, env, Some(handed))
            }
        };
        // Inline partials win over registered ones, and both over the block that was passed.
        let inline = known.and_then(|known| known.find(name));
        if let Some(inline) = inline {
            return self.run(&inline, context, None, data);
        }
        if let Some(template) = self.settings.partials.get(name) {
            let inner = Scope::template(template, context, data, env);
            return self.deeper(|renderer| Ok(renderer.program(&template.program, &inner)?));
        }
        // Only this name leads to the block of the caller; otherwise the own block is the
        // fallback.
        let shown = shown.filter(|_| name == HANDED_BLOCK);
        let Some(block) = shown.or(own) else {
            return Err(TemplateProblem::UnknownPartial(name.to_owned()).into());
        };
        // A block sees the block that was visible where it was written, not itself.
        let data = frame(&data, block.outer.clone());
        self.run(&block.block, context, None, data)
    }

    /// The context of the partial: the current one or the argument, with the named arguments added.
    fn partial_context(&mut self, call: &'a Call, scope: &Scope<'a>) -> Result<Val<'a>, Halt> {
        let arguments = self.arguments(call, scope, Use::Needed)?;
        let context = arguments.params.first().unwrap_or(&scope.context).clone();
        if call.hash.is_empty() {
            return Ok(context);
        }
        // A copy, since the context itself belongs to the caller.
        let mut object: Object<'a> = context.entries(&mut self.budget)?.into_iter().collect();
        // In the order of Handlebars.js, the last one first.
        for (key, value) in arguments.hash.into_iter().rev() {
            object.insert(Cow::Borrowed(key), value);
        }
        Ok(Val::Object(Rc::new(object)))
    }
}

/// A level of data that passes on everything except the block.
fn frame<'a>(data: &Rc<Data<'a>>, block: Option<Rc<HandedBlock<'a>>>) -> Rc<Data<'a>> {
    Rc::new(Data {
        block,
        outer: Some(Rc::clone(data)),
        ..(**data).clone()
    })
}
