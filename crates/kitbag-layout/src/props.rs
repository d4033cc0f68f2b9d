//! Props: the settings that an agent gives its layout, and the schema for them.
//!
//! Types and messages are those of layouts in use. Unlike there, an unknown type or an unreadable
//! pattern is an error of the schema, and not a rule that accepts everything.

mod check;
mod schema;

use indexmap::IndexMap;
use regex::Regex;

use crate::value::{Number, Value};

pub(crate) use check::merge;
pub use check::overlay;

/// The props that a layout knows.
#[derive(Debug, Clone, Default)]
pub struct PropsSchema {
    props: IndexMap<String, PropSchema>,
}

/// The rules for one prop.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PropSchema {
    /// Its type.
    pub kind: PropKind,
    /// True if it must be given.
    pub required: bool,
    /// Its value if it is not given.
    pub default: Option<Value>,
    /// Its purpose, for people.
    pub description: Option<String>,
    one_of: Option<Vec<Value>>,
    min: Option<Number>,
    max: Option<Number>,
    min_length: Option<u64>,
    max_length: Option<u64>,
    pattern: Option<Regex>,
    item: Option<Box<PropSchema>>,
    item_one_of: Option<Vec<Value>>,
    types: Vec<PropSchema>,
    shape: Option<PropsSchema>,
}

/// The type of a prop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PropKind {
    /// `string`.
    String,
    /// `number`.
    Number,
    /// `bool` or `boolean`.
    Bool,
    /// `array`: a list of anything.
    Array,
    /// `arrayOf`: a list of one type.
    ArrayOf,
    /// `object`: a map of anything.
    Object,
    /// `shape`: a map of which each entry has its own schema.
    Shape,
    /// `oneOfType`: any of several types.
    OneOfType,
    /// `func` or `function`: nothing that can be written in a file satisfies it.
    Func,
    /// `node`: anything.
    #[default]
    Node,
}

/// The treatment of props that the schema does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PropsMode {
    /// They are errors.
    Strict,
    /// They are dropped, with a warning.
    Lenient,
}

/// Props that were checked against their schema.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Checked {
    /// The props to use: the given ones, with defaults for missing or invalid ones.
    pub props: Value,
    /// The violations of the schema.
    pub errors: Vec<PropError>,
    /// Given props that have no effect.
    pub warnings: Vec<PropError>,
}

/// A problem with one prop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
#[non_exhaustive]
pub struct PropError {
    /// The path to it, such as `props.theme.color` or `props.sections.0`.
    pub path: String,
    /// The problem.
    pub message: String,
}

impl PropsSchema {
    /// Returns true if the schema knows no prop. Such a schema accepts everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.props.is_empty()
    }

    /// The props in the order of the file.
    pub fn props(&self) -> impl Iterator<Item = (&str, &PropSchema)> {
        self.props.iter().map(|(name, prop)| (name.as_str(), prop))
    }
}

/// The names of the types. The first of two names for a type is the usual one.
const KINDS: [(&str, PropKind); 12] = [
    ("string", PropKind::String),
    ("number", PropKind::Number),
    ("bool", PropKind::Bool),
    ("boolean", PropKind::Bool),
    ("array", PropKind::Array),
    ("arrayOf", PropKind::ArrayOf),
    ("object", PropKind::Object),
    ("shape", PropKind::Shape),
    ("oneOfType", PropKind::OneOfType),
    ("func", PropKind::Func),
    ("function", PropKind::Func),
    ("node", PropKind::Node),
];

impl PropKind {
    /// The usual name of the type in a schema.
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = KINDS.iter().find(|(_, kind)| *kind == self);
        // The first match is the usual name, as the table promises.
        named.map_or("", |(name, _)| name)
    }
}

impl PropSchema {
    /// Makes a schema that accepts any value of a type.
    fn any(kind: PropKind) -> Self {
        Self {
            kind,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests;
