//! Looks up paths, evaluates arguments, and decides between helpers and fields.

use super::super::ast::{Block, Call, Expression, Literal, Path};
use super::super::error::{Halt, TemplateError, TemplateProblem};
use super::super::helper::Helper;
use super::super::js::Val;
use super::super::settings::Missing;
use super::Renderer;
use super::scope::{Data, Scope};

/// The meaning of a tag's path.
pub(super) enum Resolved<'a> {
    /// A helper, with its result.
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

    /// The argument `name=value`; of several with the name the first.
    pub(in super::super) fn hash(&self, name: &str) -> Val<'a> {
        let found = self.hash.iter().find(|(key, _)| *key == name);
        found.map_or(Val::Undefined, |(_, value)| value.clone())
    }
}

/// The call of a helper: its place, and its block if it has one.
pub(in super::super) struct Site<'s, 'a> {
    pub(in super::super) call: &'a Call,
    pub(in super::super) scope: &'s Scope<'a>,
    pub(in super::super) block: Option<&'a Block>,
}

impl<'a> Site<'_, 'a> {
    /// The block, which the helper must have.
    pub(in super::super) fn block(&self) -> Result<&'a Block, Halt> {
        let fail = || self.refused("is a block, which `#` opens");
        self.block.ok_or_else(fail)
    }

    /// The error for a wrong call. `problem` is the rest of a sentence that begins with the helper.
    pub(in super::super) fn refused(&self, problem: impl Into<String>) -> Halt {
        let helper = self.call.path.first().to_owned();
        let problem = problem.into();
        TemplateProblem::Argument { helper, problem }.into()
    }
}

/// The use of a path's value. It decides if the value may be missing in strict templates.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Use {
    /// The value is shown or processed.
    Needed,
    /// The value is shown if it exists.
    Optional,
    /// The value is tested, and nothing of it is shown.
    Tested,
}

impl<'a> Renderer<'a> {
    /// The value that a tag without a block shows.
    pub(super) fn value(&mut self, call: &'a Call, scope: &Scope<'a>) -> Result<Val<'a>, Halt> {
        match self.resolve(call, scope, None)? {
            Resolved::Helper(value) => Ok(value),
            Resolved::Value(value) => self.needed(value, &call.path),
        }
    }

    /// Resolves the path of a tag: a parameter, a helper or a field, in the order of Handlebars.js.
    pub(super) fn resolve(
        &mut self,
        call: &'a Call,
        scope: &Scope<'a>,
        block: Option<&'a Block>,
    ) -> Result<Resolved<'a>, Halt> {
        let path = &call.path;
        let is_param = path.is_simple() && scope.param(path.first()).is_some();
        let site = Site { call, scope, block };
        // Only helpers take arguments.
        if !is_param && (!call.params.is_empty() || !call.hash.is_empty()) {
            return self.call(&site).map(Resolved::Helper);
        }
        match Helper::named(path.first()).filter(|_| path.is_simple() && !is_param) {
            Some(helper) => self.help(helper, &site).map(Resolved::Helper),
            None => self.look_up(path, scope).map(Resolved::Value),
        }
    }

    /// Evaluates a path with arguments, or in a sub-expression: it must be a helper.
    fn call(&mut self, site: &Site<'_, 'a>) -> Result<Val<'a>, Halt> {
        let path = &site.call.path;
        // The name of a language helper is that helper in any position.
        let word = Helper::word(path.first());
        let simple = || Helper::named(&path.original).filter(|_| path.is_simple());
        if let Some(helper) = word.or_else(simple) {
            return self.help(helper, site);
        }
        let value = self.look_up(path, site.scope)?;
        // Handlebars.js ignores the call of a missing value that has only named arguments.
        if value.is_truthy() || !site.call.params.is_empty() {
            return Err(TemplateProblem::UnknownHelper(path.original.clone()).into());
        }
        Ok(Val::Undefined)
    }

    fn help(&mut self, helper: &Helper, site: &Site<'_, 'a>) -> Result<Val<'a>, Halt> {
        // Counted around the arguments only: the content of the block is shown.
        let tests = u32::from(helper.usage == Use::Tested);
        // While a test evaluates its arguments, reading them does not count as use.
        self.tests += tests;
        let arguments = self.arguments(site.call, site.scope, helper.usage);
        self.tests -= tests;
        helper.run(self, &arguments?, site)
    }

    pub(super) fn arguments(
        &mut self,
        call: &'a Call,
        scope: &Scope<'a>,
        usage: Use,
    ) -> Result<Arguments<'a>, Halt> {
        let params = call.params.iter();
        let params = params
            .map(|param| self.expression(param, scope, usage))
            .collect::<Result<_, _>>()?;
        let hash = call.hash.iter();
        let hash = hash
            .map(|(key, value)| Ok((key.as_str(), self.expression(value, scope, usage)?)))
            .collect::<Result<_, Halt>>()?;
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
            // A literal has no address in the context, so it can never be one of the watched
            // values.
            Expression::Literal(Literal::Value(value)) => Ok(Val::Given(value)),
            Expression::Path(at, path) => self
                .argument(path, scope, usage)
                .map_err(|halt| halt.at(|| scope.place(*at))),
            Expression::Call(call) => self.sub_expression(call, scope),
        }
    }

    fn argument(&mut self, path: &'a Path, scope: &Scope<'a>, usage: Use) -> Result<Val<'a>, Halt> {
        self.budget.spend(1)?;
        let value = self.look_up(path, scope)?;
        match usage {
            Use::Needed => self.needed(value, path),
            Use::Optional | Use::Tested => Ok(value),
        }
    }

    pub(super) fn sub_expression(
        &mut self,
        call: &'a Call,
        scope: &Scope<'a>,
    ) -> Result<Val<'a>, TemplateError> {
        let value = self.deeper(|renderer| {
            renderer.budget.spend(1)?;
            // A block parameter hides a helper of its name.
            if call.path.is_simple() && scope.param(call.path.first()).is_some() {
                return renderer.look_up(&call.path, scope);
            }
            let block = None;
            renderer.call(&Site { call, scope, block })
        });
        value.map_err(|halt| halt.at(|| scope.place(call.at)))
    }

    /// Refuses a missing value, if the settings say so.
    fn needed(&self, value: Val<'a>, path: &Path) -> Result<Val<'a>, Halt> {
        if self.settings.missing == Missing::Refuse && matches!(value, Val::Undefined) {
            return Err(TemplateProblem::Missing(path.original.clone()).into());
        }
        Ok(value)
    }

    fn look_up(&mut self, path: &'a Path, scope: &Scope<'a>) -> Result<Val<'a>, Halt> {
        let is_param = path.depth == 0 && !path.scoped;
        let (mut value, skipped) = match path.parts.first().map(String::as_str) {
            // A path without a name is the context, whatever follows it.
            None | Some("") => {
                let value = scope.up(path.depth);
                self.looked_at(&value);
                return Ok(value);
            }
            Some(name) => match scope.param(name).filter(|_| is_param) {
                Some(Some(value)) => (value, 1),
                Some(None) => return Err(TemplateProblem::Missing(path.original.clone()).into()),
                None if path.data => (data(&scope.data, path.depth, name), 1),
                None => (scope.up(path.depth), 0),
            },
        };
        let is_data = path.data && skipped == 1;
        self.looked_at(&value);
        for part in path.parts.iter().skip(skipped) {
            // A path into nothing is nothing, as in Handlebars.js, where it is no error.
            if value.is_nothing() || (is_data && !value.is_truthy()) {
                break;
            }
            value = value.get(part, &mut self.budget)?;
            // The number of messages shows none of them.
            let is_number = |last: &String| matches!(last.as_str(), "length" | "count");
            if !path.parts.last().is_some_and(is_number) {
                self.looked_at(&value);
            }
        }
        Ok(value)
    }

    fn looked_at(&mut self, value: &Val<'a>) {
        if self.tests == 0 {
            self.traced.note(value, self.watched);
        }
    }
}

/// The value of a name with `@`, this many levels up.
fn data<'a>(data: &Data<'a>, depth: usize, name: &str) -> Val<'a> {
    let Some(level) = (0..depth).try_fold(data, |level, _| level.outer.as_deref()) else {
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
