//! The helpers that templates may call, by their names.
//!
//! The first are the words of the language; the others are those of layouts. A helper is given the
//! values of its arguments, never a template, and looks at nothing else.

mod conversation;
mod texts;

use std::rc::Rc;

use super::ast::{Block, Call};
use super::error::TemplateError;
use super::js::{Shape, Stop, Val, is_less, is_less_or_equal, is_same, json, text, utf16_length};
use super::render::{Arguments, Renderer, Scope};
use crate::value::Value;

/// A size in bytes, as `formatFileSize` shows it.
pub(crate) fn file_size(size: &Value) -> String {
    texts::file_size(&Val::Given(size))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Helper {
    If,
    Unless,
    Each,
    With,
    Lookup,
    Log,
    /// The names that Handlebars.js keeps for itself.
    Hook,
    Eq,
    Ne,
    Gt,
    Gte,
    Lt,
    Lte,
    Contains,
    And,
    Or,
    Not,
    Json,
    Raw,
    Length,
    Truncate,
    FormatFileSize,
    FormatTimestamp,
    EscapeHandlebars,
    FormatConversation,
}

impl Helper {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "if" => Self::If,
            "unless" => Self::Unless,
            "each" => Self::Each,
            "with" => Self::With,
            "lookup" => Self::Lookup,
            "log" => Self::Log,
            "helperMissing" | "blockHelperMissing" => Self::Hook,
            "eq" => Self::Eq,
            "ne" => Self::Ne,
            "gt" => Self::Gt,
            "gte" => Self::Gte,
            "lt" => Self::Lt,
            "lte" => Self::Lte,
            "contains" => Self::Contains,
            "and" => Self::And,
            "or" => Self::Or,
            "not" => Self::Not,
            "json" => Self::Json,
            "raw" => Self::Raw,
            "length" => Self::Length,
            "truncate" => Self::Truncate,
            "formatFileSize" => Self::FormatFileSize,
            "formatTimestamp" => Self::FormatTimestamp,
            "escapeHandlebars" => Self::EscapeHandlebars,
            "formatConversation" => Self::FormatConversation,
            _ => return None,
        })
    }

    /// Whether it belongs to the language, so that no path that starts with its name is a field.
    pub(super) fn is_word(self) -> bool {
        use Helper::{Each, Hook, If, Log, Lookup, Unless, With};
        matches!(self, If | Unless | Each | With | Lookup | Log | Hook)
    }

    /// Whether it is there to find out what is missing, so that nothing that is can be wrong with it.
    pub(super) fn only_asks(self) -> bool {
        use Helper::{
            And, Contains, Each, Eq, FormatConversation, Gt, Gte, If, Log, Lt, Lte, Ne, Not, Or,
            Unless, With,
        };
        matches!(
            self,
            If | Unless
                | Each
                | With
                | Log
                | Eq
                | Ne
                | Gt
                | Gte
                | Lt
                | Lte
                | Contains
                | And
                | Or
                | Not
                | FormatConversation
        )
    }

    /// Whether it finds something out about its arguments and shows nothing of them.
    pub(super) fn only_tests(self) -> bool {
        self.only_asks() && !matches!(self, Self::Each | Self::With | Self::FormatConversation)
    }

    /// How many arguments it takes, if that is fixed.
    fn arity(self) -> Option<usize> {
        use Helper::{
            And, Contains, Each, Eq, EscapeHandlebars, FormatConversation, FormatFileSize,
            FormatTimestamp, Gt, Gte, Hook, If, Json, Length, Log, Lookup, Lt, Lte, Ne, Not, Or,
            Raw, Truncate, Unless, With,
        };
        match self {
            Raw => Some(0),
            If | Unless | Each | With | Not | Json | Length | FormatFileSize | FormatTimestamp
            | EscapeHandlebars => Some(1),
            Eq | Ne | Gt | Gte | Lt | Lte | Contains | Truncate => Some(2),
            Lookup | Log | Hook | And | Or | FormatConversation => None,
        }
    }
}

impl<'a> Renderer<'a> {
    /// What a helper gives; one that renders a block gives nothing.
    pub(super) fn run_helper(
        &mut self,
        helper: Helper,
        call: &'a Call,
        arguments: &Arguments<'a>,
        scope: &Scope<'a>,
        block: Option<&'a Block>,
    ) -> Result<Val<'a>, TemplateError> {
        let fail = |problem: String| TemplateError::Argument {
            place: scope.place(call.at),
            helper: call.path.first().to_owned(),
            problem,
        };
        let given = arguments.params.len();
        if let Some(takes) = helper.arity()
            && takes != given
        {
            let s = if takes == 1 { "" } else { "s" };
            return Err(fail(format!(
                "takes {takes} argument{s} but is given {given}"
            )));
        }
        let no_block = || fail("is a block, which `#` opens".to_owned());
        match helper {
            Helper::If => {
                self.if_(block.ok_or_else(no_block)?, arguments, scope, true)?;
            }
            Helper::Unless => {
                self.if_(block.ok_or_else(no_block)?, arguments, scope, false)?;
            }
            Helper::Each => {
                self.each(block.ok_or_else(no_block)?, &arguments.first(), scope)?;
            }
            Helper::With => {
                self.with(block.ok_or_else(no_block)?, arguments.first(), scope)?;
            }
            Helper::Raw => {
                if let Some(block) = block {
                    self.enter(block.program.as_ref(), scope, scope.this(), None, call.at)?;
                }
            }
            Helper::FormatConversation => {
                return self.format_conversation(call, arguments, scope, block);
            }
            Helper::Hook => {
                return Err(TemplateError::UnknownHelper {
                    place: scope.place(call.at),
                    name: call.path.first().to_owned(),
                });
            }
            Helper::Lookup if given != 2 && (given == 0 || arguments.first().is_truthy()) => {
                return Err(fail(format!("takes 2 arguments but is given {given}")));
            }
            Helper::And | Helper::Or if given == 0 => {
                return Err(fail("takes arguments but is given none".to_owned()));
            }
            Helper::Truncate if !matches!(arguments.get(1).shape(), Shape::Number(_)) => {
                return Err(fail("needs a number as its second argument".to_owned()));
            }
            _ => {
                let value = self.work_out(helper, arguments);
                return value.map_err(|stop| self.stopped(stop, scope, call.at));
            }
        }
        Ok(Val::Undefined)
    }

    /// What a helper gives that only looks at its arguments.
    fn work_out(&mut self, helper: Helper, arguments: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let (one, two) = (arguments.first(), arguments.get(1));
        let budget = &mut self.budget;
        Ok(match helper {
            Helper::Lookup if !one.is_truthy() => one,
            Helper::Lookup => {
                let key = text(&two, budget)?;
                one.get(&key, budget)?
            }
            Helper::Eq => is_same(&one, &two, budget)?.into(),
            Helper::Ne => (!is_same(&one, &two, budget)?).into(),
            Helper::Lt => is_less(&one, &two, budget)?.into(),
            Helper::Lte => is_less_or_equal(&one, &two, budget)?.into(),
            Helper::Gt => is_less(&two, &one, budget)?.into(),
            Helper::Gte => is_less_or_equal(&two, &one, budget)?.into(),
            Helper::Contains => match (one.shape(), two.shape()) {
                (Shape::List, _) => {
                    let mut found = false;
                    for at in 0..one.items() {
                        found = found || is_same(&one.item(at), &two, budget)?;
                    }
                    found.into()
                }
                (Shape::Text(text), Shape::Text(part)) => {
                    budget.spend_on(text.len())?;
                    text.contains(part).into()
                }
                _ => false.into(),
            },
            Helper::And => chosen(arguments, |value| !value.is_truthy()),
            Helper::Or => chosen(arguments, Val::is_truthy),
            Helper::Not => (!one.is_truthy()).into(),
            Helper::Json => {
                let indent = texts::indent(&arguments.hash("indent"));
                let json = json(&one, &indent, budget)?;
                json.map_or_else(|| String::new().into(), |json| Val::Safe(json.into()))
            }
            Helper::Length => match one.shape() {
                Shape::Text(text) => {
                    budget.spend_on(text.len())?;
                    Val::count(utf16_length(text))
                }
                _ => Val::count(one.items()),
            },
            Helper::Truncate => texts::truncate(&one, &two, budget)?,
            Helper::FormatFileSize => texts::file_size(&one).into(),
            Helper::FormatTimestamp => match one.shape() {
                Shape::Text(_) | Shape::Number(_) => plain(one),
                _ => String::new().into(),
            },
            Helper::EscapeHandlebars => match one.shape() {
                Shape::Text(_) => plain(one),
                _ => String::new().into(),
            },
            _ => Val::Undefined,
        })
    }
}

/// The first operand that decides, else the last.
fn chosen<'a>(arguments: &Arguments<'a>, decides: impl Fn(&Val<'a>) -> bool) -> Val<'a> {
    let params = &arguments.params;
    let chosen = params.iter().find(|value| decides(value)).or(params.last());
    chosen.cloned().unwrap_or(Val::Undefined)
}

/// A text that is escaped as any other.
fn plain(value: Val<'_>) -> Val<'_> {
    match value {
        Val::Safe(text) => Val::Text(Rc::clone(&text)),
        value => value,
    }
}
