//! YAML as a tree that knows the place of each value.
//!
//! Readers of layouts and projects work on this tree, so that every problem is shown with its line.
//! Reading is limited, and no file is opened here.

mod field;
mod read;

use indexmap::IndexMap;
use serde_saphyr::Location;

use crate::value::{Number, Value};

pub(crate) use field::Field;

/// A value with its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// The line, from 1; 0 if unknown.
    pub(crate) line: u64,
    /// The column, from 1; 0 if unknown.
    pub(crate) column: u64,
}

/// The content of a [`Node`].
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
    /// A map. Keys that are no texts are taken as written.
    Map(Entries),
}

/// The entries of a map in the order of the text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Entries {
    nodes: IndexMap<String, Node>,
    /// Keys that were given before, with the places where they are repeated.
    repeated: Vec<(String, Location)>,
}

impl Node {
    /// The value without places.
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

    /// Its kind in words for a message.
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
