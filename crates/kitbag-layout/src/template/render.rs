//! Renders a template into a text, within limits.

mod block;
mod call;
mod partial;
mod scope;

use super::Template;
use super::ast::{BlockKind, Node, Program};
use super::error::{Halt, Limited, TemplateError, TemplateProblem};
use super::js::{Budget, Val, text};
use super::settings::{Escape, RenderSettings};
use super::trace::{Traced, Watched};
use crate::value::Value;

pub(super) use call::{Arguments, Site, Use};
pub(super) use scope::Scope;

/// The most levels on the stack, whatever the settings say.
const MOST_DEPTH: u32 = 128;

pub(super) fn render(
    template: &Template,
    context: &Value,
    settings: &RenderSettings<'_>,
    watched: &[Watched<'_>],
) -> Result<Traced, TemplateError> {
    let mut renderer = Renderer {
        settings: *settings,
        watched,
        budget: Budget::new(settings.limits.steps),
        out: String::new(),
        held: 0,
        detached: 0,
        depth: 0,
        tests: 0,
        traced: Traced::default(),
    };
    renderer.root(template, Val::Given(context))?;
    Ok(Traced {
        text: renderer.out,
        ..renderer.traced
    })
}

pub(super) struct Renderer<'a> {
    pub(super) settings: RenderSettings<'a>,
    /// The values whose use is recorded.
    pub(super) watched: &'a [Watched<'a>],
    pub(super) budget: Budget,
    out: String,
    /// The bytes rendered in the texts around `out`, which count against the limit too.
    held: usize,
    /// The number of texts around `out`.
    detached: u32,
    depth: u32,
    /// The number of active helpers that only test their arguments.
    tests: u32,
    pub(super) traced: Traced,
}

impl<'a> Renderer<'a> {
    /// Renders a whole template, as its own root.
    fn root(&mut self, template: &'a Template, context: Val<'a>) -> Result<(), TemplateError> {
        let scope = Scope::root(template, context);
        self.program(&template.program, &scope)
    }

    /// Renders a whole template into a separate text, without escaping: that text may be escaped
    /// later, as a value.
    pub(super) fn render_detached(
        &mut self,
        template: &'a Template,
        context: Val<'a>,
    ) -> Result<String, Halt> {
        let outer = std::mem::take(&mut self.out);
        let escape = std::mem::replace(&mut self.settings.escape, Escape::None);
        self.held += outer.len();
        self.detached += 1;
        let rendered = self.deeper(|renderer| Ok(renderer.root(template, context)?));
        self.held -= outer.len();
        self.detached -= 1;
        self.settings.escape = escape;
        let detached = std::mem::replace(&mut self.out, outer);
        rendered.map(|()| detached)
    }

    /// Renders the content of a block or a template.
    fn program(&mut self, program: &'a Program, scope: &Scope<'a>) -> Result<(), TemplateError> {
        // Declared before the body is rendered: an inline partial may be used above its
        // declaration.
        let inlines = scope.inlines(program);
        if inlines.is_empty() {
            return self.body(program, scope);
        }
        let before = scope.home.declare(inlines);
        let rendered = self.body(program, scope);
        scope.home.env.replace(before);
        rendered
    }

    fn body(&mut self, program: &'a Program, scope: &Scope<'a>) -> Result<(), TemplateError> {
        for node in &program.body {
            let at = match node {
                Node::Comment(_) => continue,
                Node::Text(text) => text.original.start,
                Node::Mustache(mustache) => mustache.call.at,
                Node::Partial(partial) => partial.call.at,
                Node::Block(block) => block.call.at,
            };
            self.node(node, scope)
                .map_err(|halt| halt.at(|| scope.place(at)))?;
        }
        Ok(())
    }

    fn node(&mut self, node: &'a Node, scope: &Scope<'a>) -> Result<(), Halt> {
        self.budget.spend(1)?;
        match node {
            Node::Comment(_) => Ok(()),
            Node::Text(text) => {
                let source = &scope.home.template.source;
                let shown = source.get(text.shown.clone()).unwrap_or_default();
                // Text of the template is the operator's and is never escaped.
                self.out.push_str(shown);
                self.check_output()
            }
            Node::Mustache(mustache) => {
                let value = self.value(&mustache.call, scope)?;
                self.write(&value, mustache.escaped)
            }
            Node::Partial(partial) => self.partial(partial, scope),
            Node::Block(block) => match &block.kind {
                BlockKind::Section => self.section(block, scope),
                BlockKind::Partial(name) => self.partial_block(name, block, scope),
                BlockKind::Inline(_) => Ok(()),
            },
        }
    }

    /// Writes a value, escaped if tag and settings ask for it.
    fn write(&mut self, value: &Val<'a>, escaped: bool) -> Result<(), Halt> {
        if value.is_nothing() {
            return Ok(());
        }
        let written = text(value, &mut self.budget)?;
        // Escaping changes the length, so the range is taken from the output.
        let start = self.out.len();
        let is_safe = matches!(value, Val::Safe(_)) || self.settings.escape == Escape::None;
        if escaped && !is_safe {
            escape_into(&mut self.out, &written);
        } else {
            self.out.push_str(&written);
        }
        // Offsets in a separate text are not those of the result, so only the use is recorded.
        match self.detached {
            0 => self
                .traced
                .wrote(value, start..self.out.len(), self.watched),
            _ => self.traced.note(value, self.watched),
        }
        self.check_output()
    }

    /// Counts one more level while `render` runs.
    fn deeper<T>(&mut self, render: impl FnOnce(&mut Self) -> Result<T, Halt>) -> Result<T, Halt> {
        let limit = self.settings.limits.depth.min(MOST_DEPTH);
        if self.depth >= limit {
            return Err(TemplateProblem::limit(Limited::Depth, limit.into()).into());
        }
        self.depth += 1;
        let rendered = render(self);
        self.depth -= 1;
        rendered
    }

    fn check_output(&self) -> Result<(), Halt> {
        let limit = self.settings.limits.output;
        if self.held.saturating_add(self.out.len()) <= limit {
            return Ok(());
        }
        Err(TemplateProblem::limit(Limited::Output, limit as u64).into())
    }
}

fn escape_into(out: &mut String, text: &str) {
    out.reserve(text.len());
    for char in text.chars() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#x27;"),
            '`' => out.push_str("&#x60;"),
            '=' => out.push_str("&#x3D;"),
            char => out.push(char),
        }
    }
}
