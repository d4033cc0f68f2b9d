//! YAML as a tree that remembers where each value stands.
//!
//! The tree is what the readers of layouts and projects look at, so that whatever is wrong can
//! be shown with its line. It is read within limits, and no file is opened here.

mod field;
mod read;

use indexmap::IndexMap;
use serde_saphyr::Location;

use crate::value::{Number, Value};

pub(crate) use field::Field;

/// A value and the place where it is written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// What it is.
    pub(crate) kind: NodeKind,
    /// The line, from 1; 0 where it is not known.
    pub(crate) line: u64,
    /// The column, from 1; 0 where it is not known.
    pub(crate) column: u64,
}

/// What a [`Node`] may be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeKind {
    /// Nothing: `null`, `~`, or no value at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map. Keys that are not texts are taken as they are written.
    Map(Entries),
}

/// The entries of a map, in the order in which they are written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Entries {
    nodes: IndexMap<String, Node>,
    /// Keys that had been given already, with where they are given again.
    repeated: Vec<(String, Location)>,
}

impl Node {
    /// The value without its places.
    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(is) => Value::Bool(*is),
            NodeKind::Number(number) => Value::Number(*number),
            NodeKind::Text(text) => Value::Text(text.clone()),
            NodeKind::List(list) => Value::List(list.iter().map(Self::to_value).collect()),
            NodeKind::Map(entries) => {
                Value::map(entries.nodes.iter().map(|(k, v)| (k.clone(), v.to_value())))
            }
        }
    }

    /// What it is, in words for a message.
    pub(crate) fn describe(&self) -> &'static str {
        match self.kind {
            NodeKind::Null => "nothing",
            NodeKind::Bool(_) => "a boolean",
            NodeKind::Number(_) => "a number",
            NodeKind::Text(_) => "a text",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a map",
        }
    }
}

#[cfg(test)]
mod tests;
