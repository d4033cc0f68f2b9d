//! The helpers that templates may call, by name.
//!
//! A helper receives the values of its arguments and never a template, and reads nothing else.

mod conversation;
mod texts;

use std::cmp::Ordering;

use super::error::{Halt, TemplateProblem};
use super::js::{Budget, Shape, Val, is_same, json, order, text, utf16_length};
use super::render::{Arguments, Renderer, Site, Use};
use crate::value::Value;

/// Formats a size in bytes like the helper `formatFileSize`.
pub(crate) fn file_size(size: &Value) -> String {
    texts::file_size(&Val::Given(size))
}

/// A helper: its number of arguments if that is fixed, its use of them, and its function.
pub(super) struct Helper {
    name: &'static str,
    takes: Option<usize>,
    pub(super) usage: Use,
    run: Run,
}

/// The function of a helper. One that renders a block returns nothing.
type Run = for<'a> fn(&mut Renderer<'a>, &Arguments<'a>, &Site<'_, 'a>) -> Result<Val<'a>, Halt>;

/// The helpers that belong to the language.
static WORDS: [Helper; 8] = [
    Helper::new("if", Some(1), Use::Tested, |it, given, site| {
        it.if_(site.block()?, given, site.scope, true).map(nothing)
    }),
    Helper::new("unless", Some(1), Use::Tested, |it, given, site| {
        it.if_(site.block()?, given, site.scope, false).map(nothing)
    }),
    Helper::new("each", Some(1), Use::Optional, |it, given, site| {
        let block = site.block()?;
        it.each(block, &given.first(), site.scope).map(nothing)
    }),
    Helper::new("with", Some(1), Use::Optional, |it, given, site| {
        let block = site.block()?;
        it.with(block, given.first(), site.scope).map(nothing)
    }),
    Helper::new("lookup", None, Use::Needed, lookup),
    Helper::new("log", None, Use::Tested, |_, _, _| Ok(Val::Undefined)),
    Helper::new("helperMissing", None, Use::Needed, hook),
    Helper::new("blockHelperMissing", None, Use::Needed, hook),
];

/// The helpers for layouts.
static HELPERS: [Helper; 18] = [
    Helper::new("eq", Some(2), Use::Tested, |it, given, _| {
        Ok(is_same(&given.first(), &given.get(1), &mut it.budget)?.into())
    }),
    Helper::new("ne", Some(2), Use::Tested, |it, given, _| {
        Ok((!is_same(&given.first(), &given.get(1), &mut it.budget)?).into())
    }),
    Helper::new("lt", Some(2), Use::Tested, |it, given, _| {
        compare(given, &mut it.budget, Ordering::is_lt)
    }),
    Helper::new("lte", Some(2), Use::Tested, |it, given, _| {
        compare(given, &mut it.budget, Ordering::is_le)
    }),
    Helper::new("gt", Some(2), Use::Tested, |it, given, _| {
        compare(given, &mut it.budget, Ordering::is_gt)
    }),
    Helper::new("gte", Some(2), Use::Tested, |it, given, _| {
        compare(given, &mut it.budget, Ordering::is_ge)
    }),
    Helper::new("contains", Some(2), Use::Tested, contains),
    // `and` and `or` return an operand and not a boolean, as in JavaScript.
    Helper::new("and", None, Use::Tested, |_, given, site| {
        chosen(given, site, |value| !value.is_truthy())
    }),
    Helper::new("or", None, Use::Tested, |_, given, site| {
        chosen(given, site, Val::is_truthy)
    }),
    Helper::new("not", Some(1), Use::Tested, |_, given, _| {
        Ok((!given.first().is_truthy()).into())
    }),
    Helper::new("json", Some(1), Use::Needed, |it, given, _| {
        // The JSON shows everything inside the value, so each part of it counts as used.
        it.traced.note_all(&given.first(), it.watched);
        let indent = texts::indent(&given.hash("indent"));
        let json = json(&given.first(), &indent, &mut it.budget)?;
        Ok(json.map_or_else(|| String::new().into(), |json| Val::Safe(json.into())))
    }),
    Helper::new("raw", Some(0), Use::Needed, |it, _, site| {
        let program = site.block.and_then(|block| block.program.as_ref());
        it.enter(program, site.scope, site.scope.this(), None)
            .map(nothing)
    }),
    Helper::new("length", Some(1), Use::Needed, |it, given, _| {
        match given.first().shape() {
            Shape::Text(text) => {
                // Counting UTF-16 units reads the whole text.
                it.budget.spend_on(text.len())?;
                Ok(Val::count(utf16_length(text)))
            }
            _ => Ok(Val::count(given.first().items())),
        }
    }),
    Helper::new("truncate", Some(2), Use::Needed, |it, given, site| {
        texts::truncate(&given.first(), &given.get(1), site, &mut it.budget)
    }),
    Helper::new("formatFileSize", Some(1), Use::Needed, |_, given, _| {
        Ok(texts::file_size(&given.first()).into())
    }),
    Helper::new("formatTimestamp", Some(1), Use::Needed, |_, given, _| {
        Ok(match given.first().shape() {
            Shape::Text(_) | Shape::Number(_) => plain(given.first()),
            _ => String::new().into(),
        })
    }),
    // Data is never parsed, so its braces need no escaping. The helper exists for layouts that call
    // it.
    Helper::new("escapeHandlebars", Some(1), Use::Needed, |_, given, _| {
        Ok(match given.first().shape() {
            Shape::Text(_) => plain(given.first()),
            _ => String::new().into(),
        })
    }),
    Helper::new(
        "formatConversation",
        None,
        Use::Optional,
        |it, given, site| it.format_conversation(given, site),
    ),
];

impl Helper {
    const fn new(name: &'static str, takes: Option<usize>, usage: Use, run: Run) -> Self {
        Self {
            name,
            takes,
            usage,
            run,
        }
    }

    pub(super) fn named(name: &str) -> Option<&'static Self> {
        let mut helpers = WORDS.iter().chain(&HELPERS);
        helpers.find(|helper| helper.name == name)
    }

    /// The helper that belongs to the language. A path that starts with its name is never a field.
    pub(super) fn word(name: &str) -> Option<&'static Self> {
        WORDS.iter().find(|helper| helper.name == name)
    }

    pub(super) fn run<'a>(
        &self,
        renderer: &mut Renderer<'a>,
        given: &Arguments<'a>,
        site: &Site<'_, 'a>,
    ) -> Result<Val<'a>, Halt> {
        match self.takes {
            Some(takes) if takes != given.params.len() => Err(miscounted(takes, given, site)),
            _ => (self.run)(renderer, given, site),
        }
    }
}

fn miscounted<'a>(takes: usize, given: &Arguments<'a>, site: &Site<'_, 'a>) -> Halt {
    let s = if takes == 1 { "" } else { "s" };
    let given = given.params.len();
    site.refused(format!("takes {takes} argument{s} but is given {given}"))
}

fn nothing<'a>((): ()) -> Val<'a> {
    Val::Undefined
}

/// The names that Handlebars.js reserves for hooks.
fn hook<'a>(_: &mut Renderer<'a>, _: &Arguments<'a>, site: &Site<'_, 'a>) -> Result<Val<'a>, Halt> {
    let name = site.call.path.first().to_owned();
    Err(TemplateProblem::UnknownHelper(name).into())
}

fn lookup<'a>(
    renderer: &mut Renderer<'a>,
    given: &Arguments<'a>,
    site: &Site<'_, 'a>,
) -> Result<Val<'a>, Halt> {
    let of = given.first();
    match given.params.len() {
        0 => Err(miscounted(2, given, site)),
        // As in Handlebars.js: nothing looked up in gives itself, and is no error.
        _ if !of.is_truthy() => Ok(of),
        2 => {
            let key = given.get(1);
            let key = text(&key, &mut renderer.budget)?;
            Ok(of.get(&key, &mut renderer.budget)?)
        }
        _ => Err(miscounted(2, given, site)),
    }
}

fn compare<'a>(
    given: &Arguments<'a>,
    budget: &mut Budget,
    is: impl Fn(Ordering) -> bool,
) -> Result<Val<'a>, Halt> {
    let order = order(&given.first(), &given.get(1), budget)?;
    Ok(order.is_some_and(is).into())
}

fn contains<'a>(
    renderer: &mut Renderer<'a>,
    given: &Arguments<'a>,
    _: &Site<'_, 'a>,
) -> Result<Val<'a>, Halt> {
    let (whole, part) = (given.first(), given.get(1));
    let budget = &mut renderer.budget;
    let mut found = false;
    match (whole.shape(), part.shape()) {
        (Shape::List, _) => {
            for at in 0..whole.items() {
                // The budget ends a search in a huge list; no other limit is needed.
                found = found || is_same(&whole.item(at), &part, budget)?;
            }
        }
        (Shape::Text(text), Shape::Text(part)) => {
            budget.spend_on(text.len())?;
            found = text.contains(part);
        }
        _ => {}
    }
    Ok(found.into())
}

/// The first operand that decides the result, or else the last one.
fn chosen<'a>(
    given: &Arguments<'a>,
    site: &Site<'_, 'a>,
    decides: impl Fn(&Val<'a>) -> bool,
) -> Result<Val<'a>, Halt> {
    let params = &given.params;
    let chosen = params.iter().find(|value| decides(value)).or(params.last());
    let fail = || site.refused("takes arguments but is given none");
    chosen.cloned().ok_or_else(fail)
}

/// A text without the mark that would keep it from being escaped.
fn plain(value: Val<'_>) -> Val<'_> {
    match value {
        Val::Safe(text) => Val::Text(text),
        value => value,
    }
}
