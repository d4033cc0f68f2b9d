//! Looks up paths, evaluates arguments, and decides what is a helper and what a field.

use super::super::ast::{Block, Call, Expression, Literal, Path};
use super::super::error::TemplateError;
use super::super::helper::Helper;
use super::super::js::Val;
use super::super::settings::Missing;
use super::Renderer;
use super::scope::{Data, Scope};

/// What the path of a tag turned out to be.
pub(super) enum Resolved<'a> {
    /// A helper, and what it gives.
    Helper(Val<'a>),
    /// A field.
    Value(Val<'a>),
}

/// The arguments of a helper.
pub(in super::super) struct Arguments<'a> {
    pub(in super::super) params: Vec<Val<'a>>,
    pub(super) hash: Vec<(&'a str, Val<'a>)>,
}

impl<'a> Arguments<'a> {
    pub(in super::super) fn get(&self, at: usize) -> Val<'a> {
        self.params.get(at).cloned().unwrap_or(Val::Undefined)
    }

    pub(in super::super) fn first(&self) -> Val<'a> {
        self.get(0)
    }

    /// The argument `name=value`; of several the first.
    pub(in super::super) fn hash(&self, name: &str) -> Val<'a> {
        let found = self.hash.iter().find(|(key, _)| *key == name);
        found.map_or(Val::Undefined, |(_, value)| value.clone())
    }
}

/// Whether a path may lead to nothing even where that is refused.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is shown or worked with.
    Needed,
    /// It is only asked about.
    Asked,
}

impl<'a> Renderer<'a> {
    /// What a tag without a block shows.
    pub(super) fn value(
        &mut self,
        call: &'a Call,
        scope: &Scope<'a>,
    ) -> Result<Val<'a>, TemplateError> {
        match self.resolve(call, scope, None)? {
            Resolved::Helper(value) => Ok(value),
            Resolved::Value(value) => self.needed(value, &call.path, scope, call.at),
        }
    }

    /// The path of a tag: a parameter, a helper or a field, in this order, as in Handlebars.js.
    pub(super) fn resolve(
        &mut self,
        call: &'a Call,
        scope: &Scope<'a>,
        block: Option<&'a Block>,
    ) -> Result<Resolved<'a>, TemplateError> {
        let path = &call.path;
        if path.is_simple() && scope.param(path.first()).is_some() {
            return Ok(Resolved::Value(self.look_up(path, scope, call.at)?));
        }
        if !call.params.is_empty() || !call.hash.is_empty() {
            return self.call(call, scope, block).map(Resolved::Helper);
        }
        let helper = if path.is_simple() {
            Helper::named(path.first())
        } else {
            None
        };
        match helper {
            Some(helper) => self.help(helper, call, scope, block).map(Resolved::Helper),
            None => Ok(Resolved::Value(self.look_up(path, scope, call.at)?)),
        }
    }

    /// A path with arguments, or in a sub-expression: it must be a helper.
    fn call(
        &mut self,
        call: &'a Call,
        scope: &Scope<'a>,
        block: Option<&'a Block>,
    ) -> Result<Val<'a>, TemplateError> {
        let path = &call.path;
        // A word of the language is one whatever follows it.
        let word = Helper::named(path.first()).filter(|helper| helper.is_word());
        let simple = || Helper::named(&path.original).filter(|_| path.is_simple());
        if let Some(helper) = word.or_else(simple) {
            return self.help(helper, call, scope, block);
        }
        let value = self.look_up(path, scope, call.at)?;
        if value.is_truthy() || !call.params.is_empty() {
            return Err(TemplateError::UnknownHelper {
                place: scope.place(call.at),
                name: path.original.clone(),
            });
        }
        Ok(Val::Undefined)
    }

    fn help(
        &mut self,
        helper: Helper,
        call: &'a Call,
        scope: &Scope<'a>,
        block: Option<&'a Block>,
    ) -> Result<Val<'a>, TemplateError> {
        let usage = if helper.only_asks() {
            Use::Asked
        } else {
            Use::Needed
        };
        let tests = u32::from(helper.only_tests());
        self.tests += tests;
        let arguments = self.arguments(call, scope, usage);
        self.tests -= tests;
        let arguments = arguments?;
        if helper == Helper::Json {
            let watched = self.settings.watched;
            self.traced.note_all(&arguments.first(), watched);
        }
        self.run_helper(helper, call, &arguments, scope, block)
    }

    pub(super) fn arguments(
        &mut self,
        call: &'a Call,
        scope: &Scope<'a>,
        usage: Use,
    ) -> Result<Arguments<'a>, TemplateError> {
        let params = call.params.iter();
        let params = params
            .map(|param| self.expression(param, scope, usage))
            .collect::<Result<_, _>>()?;
        let hash = call.hash.iter();
        let hash = hash
            .map(|(key, value)| Ok((key.as_str(), self.expression(value, scope, usage)?)))
            .collect::<Result<_, _>>()?;
        Ok(Arguments { params, hash })
    }

    fn expression(
        &mut self,
        expression: &'a Expression,
        scope: &Scope<'a>,
        usage: Use,
    ) -> Result<Val<'a>, TemplateError> {
        match expression {
            Expression::Literal(Literal::Undefined) => Ok(Val::Undefined),
            Expression::Literal(Literal::Value(value)) => Ok(Val::Given(value)),
            Expression::Path(at, path) => {
                self.spend(scope, *at, 1)?;
                let value = self.look_up(path, scope, *at)?;
                match usage {
                    Use::Needed => self.needed(value, path, scope, *at),
                    Use::Asked => Ok(value),
                }
            }
            Expression::Call(call) => self.sub_expression(call, scope),
        }
    }

    pub(super) fn sub_expression(
        &mut self,
        call: &'a Call,
        scope: &Scope<'a>,
    ) -> Result<Val<'a>, TemplateError> {
        self.spend(scope, call.at, 1)?;
        self.deeper(scope, call.at, |renderer| {
            if call.path.is_simple() && scope.param(call.path.first()).is_some() {
                return renderer.look_up(&call.path, scope, call.at);
            }
            renderer.call(call, scope, None)
        })
    }

    /// Refuses a value that is not there, if the settings say so.
    fn needed(
        &self,
        value: Val<'a>,
        path: &Path,
        scope: &Scope<'a>,
        at: usize,
    ) -> Result<Val<'a>, TemplateError> {
        if self.settings.missing == Missing::Refuse && matches!(value, Val::Undefined) {
            return Err(TemplateError::Missing {
                place: scope.place(at),
                path: path.original.clone(),
            });
        }
        Ok(value)
    }

    fn look_up(
        &mut self,
        path: &'a Path,
        scope: &Scope<'a>,
        at: usize,
    ) -> Result<Val<'a>, TemplateError> {
        let is_param = path.depth == 0 && !path.scoped;
        let (mut value, skipped) = match path.parts.first().map(String::as_str) {
            // A nameless path is the context, whatever follows.
            None | Some("") => {
                let value = scope.up(path.depth);
                self.looked_at(&value);
                return Ok(value);
            }
            Some(name) => match scope.param(name).filter(|_| is_param) {
                Some(Some(value)) => (value, 1),
                Some(None) => {
                    return Err(TemplateError::Missing {
                        place: scope.place(at),
                        path: path.original.clone(),
                    });
                }
                None if path.data => (data(&scope.data, path.depth, name), 1),
                None => (scope.up(path.depth), 0),
            },
        };
        let is_data = path.data && skipped == 1;
        self.looked_at(&value);
        for part in path.parts.iter().skip(skipped) {
            if value.is_nothing() || (is_data && !value.is_truthy()) {
                break;
            }
            let part = value.get(part, &mut self.budget);
            value = part.map_err(|stop| self.stopped(stop, scope, at))?;
            // A number of things shows none of them.
            let is_number = |last: &String| matches!(last.as_str(), "length" | "count");
            if !path.parts.last().is_some_and(is_number) {
                self.looked_at(&value);
            }
        }
        Ok(value)
    }

    fn looked_at(&mut self, value: &Val<'a>) {
        if self.tests == 0 {
            self.traced.note(value, self.settings.watched);
        }
    }
}

/// What a name with `@` leads to, so many levels up.
fn data<'a>(data: &Data<'a>, depth: usize, name: &str) -> Val<'a> {
    let mut level = Some(data);
    for _ in 0..depth {
        level = level.and_then(|level| level.outer.as_deref());
        if level.is_none() {
            break;
        }
    }
    let Some(level) = level else {
        return Val::Undefined;
    };
    let round = level.round.as_deref();
    let value = match name {
        "root" => Some(level.root.clone()),
        "key" => round.map(|round| round.key.clone()),
        "index" => round.map(|round| Val::count(round.index)),
        "first" => round.map(|round| Val::Bool(round.index == 0)),
        "last" => round.map(|round| Val::Bool(round.is_last)),
        "partial-block" => level.block.as_ref().map(|_| Val::Bool(true)),
        _ => None,
    };
    value.unwrap_or(Val::Undefined)
}
