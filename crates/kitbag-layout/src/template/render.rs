//! Renders a template into one text, within limits.

mod block;
mod call;
mod partial;
mod scope;

use super::Template;
use super::ast::{BlockKind, Node, Program};
use super::error::{Limited, TemplateError};
use super::js::{Budget, MOST_DATA_DEPTH, Stop, Val, text};
use super::settings::{Escape, Limits, RenderSettings};
use super::trace::Traced;
use crate::value::Value;

pub(super) use call::Arguments;
pub(super) use scope::Scope;

/// The stack holds no more levels than this.
const MOST_DEPTH: u32 = 128;

pub(super) fn render(
    template: &Template,
    context: &Value,
    settings: &RenderSettings<'_>,
) -> Result<Traced, TemplateError> {
    let mut renderer = Renderer {
        settings: *settings,
        budget: Budget {
            steps: settings.limits.steps,
        },
        out: String::new(),
        held: 0,
        apart: 0,
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
    pub(super) budget: Budget,
    out: String,
    /// The bytes of what is rendered around `out`.
    held: usize,
    /// The texts around `out`.
    apart: u32,
    depth: u32,
    /// The helpers under way that only test their arguments.
    tests: u32,
    pub(super) traced: Traced,
}

impl<'a> Renderer<'a> {
    /// Renders a whole template, as its own root.
    fn root(&mut self, template: &'a Template, context: Val<'a>) -> Result<(), TemplateError> {
        let scope = Scope::root(template, context);
        self.program(&template.program, &scope)
    }

    /// Renders a whole template into a text of its own, without escaping.
    pub(super) fn apart(
        &mut self,
        template: &'a Template,
        context: Val<'a>,
        scope: &Scope<'a>,
        at: usize,
    ) -> Result<String, TemplateError> {
        let outer = std::mem::take(&mut self.out);
        let escape = std::mem::replace(&mut self.settings.escape, Escape::None);
        self.held += outer.len();
        self.apart += 1;
        let rendered = self.deeper(scope, at, |renderer| renderer.root(template, context));
        self.held -= outer.len();
        self.apart -= 1;
        self.settings.escape = escape;
        let apart = std::mem::replace(&mut self.out, outer);
        rendered.map(|()| apart)
    }

    /// Renders what a block or a template consists of.
    fn program(&mut self, program: &'a Program, scope: &Scope<'a>) -> Result<(), TemplateError> {
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
            match node {
                Node::Text(text) => {
                    let source = &scope.home.template.source;
                    self.out
                        .push_str(source.get(text.shown.clone()).unwrap_or_default());
                    self.spend(scope, text.original.start, 1)?;
                    self.check_output(scope, text.original.start)?;
                }
                Node::Comment(_) => {}
                Node::Mustache(mustache) => {
                    let at = mustache.call.at;
                    self.spend(scope, at, 1)?;
                    let value = self.value(&mustache.call, scope)?;
                    self.write(&value, mustache.escaped, scope, at)?;
                }
                Node::Partial(partial) => {
                    self.spend(scope, partial.call.at, 1)?;
                    self.partial(partial, scope)?;
                }
                Node::Block(block) => {
                    self.spend(scope, block.call.at, 1)?;
                    match &block.kind {
                        BlockKind::Section => self.section(block, scope)?,
                        BlockKind::Partial(name) => self.partial_block(name, block, scope)?,
                        BlockKind::Inline(_) => {}
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes a value, escaped if the tag and the settings say so.
    fn write(
        &mut self,
        value: &Val<'a>,
        escaped: bool,
        scope: &Scope<'a>,
        at: usize,
    ) -> Result<(), TemplateError> {
        if value.is_nothing() {
            return Ok(());
        }
        let written = text(value, &mut self.budget);
        let written = written.map_err(|stop| stopped(stop, self.settings.limits, scope, at))?;
        let start = self.out.len();
        let is_safe = matches!(value, Val::Safe(_)) || self.settings.escape == Escape::None;
        if escaped && !is_safe {
            escape_into(&mut self.out, &written);
        } else {
            self.out.push_str(&written);
        }
        let watched = self.settings.watched;
        match self.apart {
            0 => self.traced.wrote(value, start..self.out.len(), watched),
            _ => self.traced.note(value, watched),
        }
        self.check_output(scope, at)
    }

    /// Counts one more level for as long as `render` runs.
    fn deeper<T>(
        &mut self,
        scope: &Scope<'a>,
        at: usize,
        render: impl FnOnce(&mut Self) -> Result<T, TemplateError>,
    ) -> Result<T, TemplateError> {
        let limit = self.settings.limits.depth.min(MOST_DEPTH);
        if self.depth >= limit {
            return Err(TemplateError::Limit {
                place: scope.place(at),
                what: Limited::Depth,
                limit: limit.into(),
            });
        }
        self.depth += 1;
        let rendered = render(self);
        self.depth -= 1;
        rendered
    }

    pub(super) fn spend(
        &mut self,
        scope: &Scope<'a>,
        at: usize,
        steps: u64,
    ) -> Result<(), TemplateError> {
        let spent = self.budget.spend(steps);
        spent.map_err(|stop| self.stopped(stop, scope, at))
    }

    pub(super) fn check_output(&self, scope: &Scope<'a>, at: usize) -> Result<(), TemplateError> {
        if self.held.saturating_add(self.out.len()) <= self.settings.limits.output {
            return Ok(());
        }
        Err(TemplateError::Limit {
            place: scope.place(at),
            what: Limited::Output,
            limit: self.settings.limits.output as u64,
        })
    }

    pub(super) fn stopped(&self, stop: Stop, scope: &Scope<'a>, at: usize) -> TemplateError {
        stopped(stop, self.settings.limits, scope, at)
    }
}

fn stopped(stop: Stop, limits: Limits, scope: &Scope<'_>, at: usize) -> TemplateError {
    let (what, limit) = match stop {
        Stop::Steps => (Limited::Steps, limits.steps),
        Stop::Data => (Limited::Data, MOST_DATA_DEPTH as u64),
    };
    TemplateError::Limit {
        place: scope.place(at),
        what,
        limit,
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
