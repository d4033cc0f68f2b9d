//! YAML as a tree that remembers where each value stands.
//!
//! The tree is what the readers of layouts and projects look at, so that whatever is wrong can
//! be shown with its line. It is read within limits, and no file is opened here.

mod field;
mod read;

use indexmap::IndexMap;

use crate::problem::FileProblem;
use crate::value::{Number, Value};

pub(crate) use field::Field;

/// A value and the place where it is written.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// The line, from 1; 0 where it is not known.
    pub line: u64,
    /// The column, from 1; 0 where it is not known.
    pub column: u64,
}

/// What a [`Node`] may be.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
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
pub struct Entries {
    nodes: IndexMap<String, Node>,
    /// Keys that had been given already, with where they are given again.
    repeated: Vec<Repeated>,
}

#[derive(Debug, Clone, PartialEq)]
struct Repeated {
    key: String,
    line: u64,
    column: u64,
}

impl Entries {
    /// The value under a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.nodes.get(key)
    }

    /// Keys and values, in the order in which they are written.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.nodes.iter().map(|(key, node)| (key.as_str(), node))
    }
}

impl Node {
    /// Reads a text that is one document.
    ///
    /// The last value of a key that is given twice counts; each such key is a warning.
    ///
    /// ```
    /// use kitbag_layout::yaml::Node;
    ///
    /// let (node, warnings) = Node::read("kitbag.yaml", "id: ann\n")?;
    /// assert!(warnings.is_empty());
    /// assert_eq!(serde_json::to_string(&node.to_value()).unwrap(), r#"{"id":"ann"}"#);
    /// # Ok::<(), kitbag_layout::FileProblem>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The one [`FileProblem`] that makes the text no YAML, or too much of it.
    pub fn read(file: &str, text: &str) -> Result<(Self, Vec<FileProblem>), FileProblem> {
        let node = read::read(file, text)?;
        let mut warnings = Vec::new();
        collect_repeated(&Field::root(&node), file, &mut warnings);
        Ok((node, warnings))
    }

    /// The value without its places.
    #[must_use]
    pub fn to_value(&self) -> Value {
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
    #[must_use]
    pub fn describe(&self) -> &'static str {
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

fn collect_repeated(field: &Field<'_>, file: &str, warnings: &mut Vec<FileProblem>) {
    if let NodeKind::Map(entries) = &field.node.kind {
        warnings.extend(entries.repeated.iter().map(|repeated| {
            FileProblem::warning(file, "this key is given twice, the last value counts")
                .at(repeated.line, repeated.column)
                .of(field.key_of(&repeated.key))
        }));
    }
    for child in field.entries().chain(field.items()) {
        collect_repeated(&child, file, warnings);
    }
}

#[cfg(test)]
mod tests;
