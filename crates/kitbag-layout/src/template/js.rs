//! Values as templates see them, with JavaScript's rules for truth, equality and parts.
//!
//! Reading data costs steps of a [`Budget`], so that no template can run for long on large texts.

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

/// A value of the context, or one made by a template.
#[derive(Debug, Clone)]
pub(super) enum Val<'a> {
    Undefined,
    Given(&'a Value),
    Bool(bool),
    Number(Number),
    Text(Rc<str>),
    /// A text that is exempt from escaping.
    Safe(Rc<str>),
    List(Rc<[Val<'a>]>),
    Object(Rc<Object<'a>>),
    /// The object that stands for a missing context.
    NoContext,
}

/// An object that a template made, such as the context of a partial with a hash.
pub(super) type Object<'a> = IndexMap<Cow<'a, str>, Val<'a>>;

/// The kind of a value, independent of its origin.
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

/// The remaining steps.
#[derive(Debug)]
pub(super) struct Budget {
    left: u64,
    limit: u64,
}

/// The most lists and objects within each other. Comparing and writing recurse once for each.
const MOST_DATA_DEPTH: usize = 200;
/// The bytes of a text that cost one step.
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

    /// Pays for reading this many bytes, or small things.
    pub(super) fn spend_on(&mut self, bytes: usize) -> Result<(), TemplateProblem> {
        self.spend(1 + (bytes / BYTES_PER_STEP) as u64)
    }

    /// Pays for reading a value inside this many lists and objects.
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

    /// Returns true for null and undefined.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(self.shape(), Shape::Undefined | Shape::Null)
    }

    pub(super) fn is_truthy(&self) -> bool {
        match self.shape() {
            Shape::Undefined | Shape::Null => false,
            Shape::Bool(is) => is,
            Shape::Number(number) => number.as_f64() != 0.0 && !number.as_f64().is_nan(),
            Shape::Text(text) => !text.is_empty(),
            // Empty ones too, unlike in `if`, which asks `is_empty` as well.
            Shape::List | Shape::Object => true,
        }
    }

    /// Returns true if `with` takes the value for nothing; so does `if` with `includeZero`.
    pub(super) fn is_empty(&self) -> bool {
        match self.shape() {
            Shape::Number(number) => number.as_f64().is_nan(),
            Shape::List => self.items() == 0,
            _ => !self.is_truthy(),
        }
    }

    /// The number of items in a list; 0 for other values.
    pub(super) fn items(&self) -> usize {
        match self {
            Self::Given(Value::List(list)) => list.len(),
            Self::List(list) => list.len(),
            _ => 0,
        }
    }

    /// An item of a list; undefined for other values.
    pub(super) fn item(&self, at: usize) -> Self {
        let item = match self {
            Self::Given(Value::List(list)) => list.get(at).map(Val::Given),
            Self::List(list) => list.get(at).cloned(),
            _ => None,
        };
        item.unwrap_or(Self::Undefined)
    }

    /// The value under a key: a field, an item, a letter, or a length.
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
                // Counting units goes through the text from its start; none of them takes more than
                // three bytes.
                budget.spend_on(text.len().min(at.saturating_mul(3)))?;
                let letter = text::letters(text).nth(at);
                letter.map_or(Self::Undefined, Self::from)
            }
            _ => Self::Undefined,
        })
    }

    /// The fields of an object in the order of JavaScript, which puts whole numbers first. A list
    /// has its items as fields, and a text its letters.
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
        // After paying for the entries. The sort is stable, so all other keys keep their order.
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

/// The number of a key in JavaScript's spelling, in which `01` is no index.
fn index(key: &str) -> Option<usize> {
    let is_canonical = key == "0" || !key.starts_with('0');
    let is_digits = key.bytes().all(|byte| byte.is_ascii_digit());
    key.parse().ok().filter(|_| is_canonical && is_digits)
}

/// The sort key of a field: an index by its number, before all others.
fn index_key(key: &str) -> u64 {
    match index(key) {
        // Beyond 2^32 - 2 a number is an ordinary key in JavaScript.
        Some(index) if (index as u64) < u64::from(u32::MAX) => index as u64,
        _ => u64::MAX,
    }
}
