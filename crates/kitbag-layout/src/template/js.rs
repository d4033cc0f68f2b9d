//! Values as templates see them: what is true, equal, or a part of another is as in JavaScript.
//!
//! Looking at data costs steps of a [`Budget`], so that no template makes a loop over large texts last.

mod compare;
mod json;
mod text;

use std::borrow::Cow;
use std::rc::Rc;

use indexmap::IndexMap;

use super::error::{Limited, TemplateProblem};
use crate::value::{Number, Value};

pub(super) use compare::{is_loosely_equal, is_same, order};
pub(super) use json::json;
pub(super) use text::{text, utf16_length};

/// A value of the context, or one that a template made.
#[derive(Debug, Clone)]
pub(super) enum Val<'a> {
    Undefined,
    Given(&'a Value),
    Bool(bool),
    Number(Number),
    Text(Rc<str>),
    /// A text that is never escaped.
    Safe(Rc<str>),
    List(Rc<[Val<'a>]>),
    Object(Rc<Object<'a>>),
    /// The object that stands for a context that is nothing.
    NoContext,
}

/// An object that a template made, such as the context of a partial with a hash.
pub(super) type Object<'a> = IndexMap<Cow<'a, str>, Val<'a>>;

/// What kind of value it is, whoever made it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape<'v> {
    Undefined,
    Null,
    Bool(bool),
    Number(Number),
    Text(&'v str),
    List,
    Object,
}

/// The steps that are left, of so many.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
    limit: u64,
}

/// How many lists and objects may be within each other.
const MOST_DATA_DEPTH: usize = 200;
/// How many bytes of a text are looked at in one step.
const BYTES_PER_STEP: usize = 64;

impl Budget {
    pub(super) fn new(limit: u64) -> Self {
        Self { left: limit, limit }
    }

    pub(super) fn spend(&mut self, steps: u64) -> Result<(), TemplateProblem> {
        let left = self.left.checked_sub(steps);
        self.left = left.ok_or(TemplateProblem::limit(Limited::Steps, self.limit))?;
        Ok(())
    }

    /// For looking at so many bytes, or so many small things.
    pub(super) fn spend_on(&mut self, bytes: usize) -> Result<(), TemplateProblem> {
        self.spend(1 + (bytes / BYTES_PER_STEP) as u64)
    }

    /// For looking at a value within so many lists and objects.
    fn spend_within(&mut self, depth: usize) -> Result<(), TemplateProblem> {
        if depth > MOST_DATA_DEPTH {
            return Err(TemplateProblem::limit(
                Limited::Data,
                MOST_DATA_DEPTH as u64,
            ));
        }
        self.spend(1)
    }
}

impl<'a> Val<'a> {
    pub(super) fn shape(&self) -> Shape<'_> {
        match self {
            Self::Undefined => Shape::Undefined,
            Self::Given(Value::Null) => Shape::Null,
            Self::Given(Value::Bool(is)) => Shape::Bool(*is),
            Self::Given(Value::Number(number)) => Shape::Number(*number),
            Self::Given(Value::Text(text)) => Shape::Text(text),
            Self::Given(Value::List(_)) | Self::List(_) => Shape::List,
            Self::Given(Value::Map(_)) | Self::Object(_) | Self::NoContext => Shape::Object,
            Self::Bool(is) => Shape::Bool(*is),
            Self::Number(number) => Shape::Number(*number),
            Self::Text(text) | Self::Safe(text) => Shape::Text(text),
        }
    }

    /// Whether it is null or undefined.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.shape(), Shape::Undefined | Shape::Null)
    }

    pub(super) fn is_truthy(&self) -> bool {
        match self.shape() {
            Shape::Undefined | Shape::Null => false,
            Shape::Bool(is) => is,
            Shape::Number(number) => number.as_f64() != 0.0 && !number.as_f64().is_nan(),
            Shape::Text(text) => !text.is_empty(),
            Shape::List | Shape::Object => true,
        }
    }

    /// Whether `with` takes it for nothing, and `if` with `includeZero`.
    pub(super) fn is_empty(&self) -> bool {
        match self.shape() {
            Shape::Number(number) => number.as_f64().is_nan(),
            Shape::List => self.items() == 0,
            _ => !self.is_truthy(),
        }
    }

    /// How many items a list has; of other values none.
    pub(super) fn items(&self) -> usize {
        match self {
            Self::Given(Value::List(list)) => list.len(),
            Self::List(list) => list.len(),
            _ => 0,
        }
    }

    /// An item of a list.
    pub(super) fn item(&self, at: usize) -> Self {
        let item = match self {
            Self::Given(Value::List(list)) => list.get(at).map(Val::Given),
            Self::List(list) => list.get(at).cloned(),
            _ => None,
        };
        item.unwrap_or(Self::Undefined)
    }

    /// What stands under a key: a field, an item, a letter, or a length.
    pub(super) fn get(&self, key: &str, budget: &mut Budget) -> Result<Self, TemplateProblem> {
        Ok(match (self, self.shape()) {
            (Self::Given(Value::Map(map)), _) => map.get(key).map_or(Self::Undefined, Val::Given),
            (Self::Object(object), _) => object.get(key).cloned().unwrap_or(Self::Undefined),
            (_, Shape::List) if key == "length" => Self::count(self.items()),
            (_, Shape::List) => index(key).map_or(Self::Undefined, |at| self.item(at)),
            (_, Shape::Text(text)) if key == "length" => {
                budget.spend_on(text.len())?;
                Self::count(utf16_length(text))
            }
            (_, Shape::Text(text)) => {
                let Some(at) = index(key) else {
                    return Ok(Self::Undefined);
                };
                budget.spend_on(text.len().min(at.saturating_mul(3)))?;
                let letter = text::letters(text).nth(at);
                letter.map_or(Self::Undefined, Self::from)
            }
            _ => Self::Undefined,
        })
    }

    /// The fields of an object in the order of JavaScript: keys that are whole numbers come first.
    /// A list has its items as fields, and a text its letters.
    pub(super) fn entries(
        &self,
        budget: &mut Budget,
    ) -> Result<Vec<(Cow<'a, str>, Self)>, TemplateProblem> {
        let mut entries: Vec<(Cow<'a, str>, Self)> = match (self, self.shape()) {
            (Self::Given(Value::Map(map)), _) => map
                .iter()
                .map(|(key, value)| (Cow::Borrowed(key.as_str()), Val::Given(value)))
                .collect(),
            (Self::Object(object), _) => object
                .iter()
                .map(|(key, value)| (key.clone(), value.clone()))
                .collect(),
            (_, Shape::List) => numbered((0..self.items()).map(|at| self.item(at))),
            (_, Shape::Text(text)) => {
                budget.spend(text.len() as u64)?;
                numbered(text::letters(text).map(Self::from))
            }
            _ => Vec::new(),
        };
        budget.spend(entries.len() as u64)?;
        entries.sort_by_key(|(key, _)| index_key(key));
        Ok(entries)
    }

    pub(super) fn count(count: usize) -> Self {
        Self::Number(Number::from(count as u64))
    }
}

impl From<String> for Val<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl From<bool> for Val<'_> {
    fn from(is: bool) -> Self {
        Self::Bool(is)
    }
}

fn numbered<'a>(items: impl Iterator<Item = Val<'a>>) -> Vec<(Cow<'a, str>, Val<'a>)> {
    let entry = |(at, item): (usize, _)| (Cow::Owned(at.to_string()), item);
    items.enumerate().map(entry).collect()
}

/// The number that a key is, if it is written as JavaScript writes it.
fn index(key: &str) -> Option<usize> {
    let is_canonical = key == "0" || !key.starts_with('0');
    let is_digits = key.bytes().all(|byte| byte.is_ascii_digit());
    key.parse().ok().filter(|_| is_canonical && is_digits)
}

/// Sorts keys that are indexes by their number before all others.
fn index_key(key: &str) -> u64 {
    match index(key) {
        Some(index) if (index as u64) < u64::from(u32::MAX) => index as u64,
        _ => u64::MAX,
    }
}
