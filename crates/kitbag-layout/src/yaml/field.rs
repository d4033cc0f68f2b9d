//! A node together with the way to it, for readers that report what is wrong.

use std::borrow::Cow;

use super::{Node, NodeKind};
use crate::problem::{FileProblem, Problems};

/// A node and the key under which it stands, such as `agents[2].inline`.
#[derive(Debug, Clone)]
pub(crate) struct Field<'a> {
    pub(crate) node: &'a Node,
    pub(crate) key: String,
    name: Cow<'a, str>,
}

impl<'a> Field<'a> {
    pub(crate) fn root(node: &'a Node) -> Self {
        Self {
            node,
            key: String::new(),
            name: Cow::Borrowed(""),
        }
    }

    /// The last part of the key: the name of an entry, or the number of an item.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.node.kind, NodeKind::Map(_))
    }

    pub(crate) fn as_text(&self) -> Option<&'a str> {
        match &self.node.kind {
            NodeKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entry of that name, unless it is missing or nothing.
    pub(crate) fn get(&self, name: &str) -> Option<Self> {
        let NodeKind::Map(entries) = &self.node.kind else {
            return None;
        };
        let (name, node) = entries.nodes.get_key_value(name)?;
        (node.kind != NodeKind::Null).then(|| self.child(name, node))
    }

    /// The first entry that is there, of several spellings of the same.
    pub(crate) fn get_any(&self, names: &[&str]) -> Option<Self> {
        names.iter().find_map(|name| self.get(name))
    }

    /// The entries of a map; none of anything else.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Self> {
        let entries = match &self.node.kind {
            NodeKind::Map(entries) => Some(&entries.nodes),
            _ => None,
        };
        entries
            .into_iter()
            .flatten()
            .map(|(name, node)| self.child(name, node))
    }

    /// The items of a list; none of anything else.
    pub(crate) fn items(&self) -> impl Iterator<Item = Self> {
        let items = match &self.node.kind {
            NodeKind::List(items) => items.as_slice(),
            _ => &[],
        };
        items.iter().enumerate().map(|(at, node)| Self {
            node,
            key: format!("{}[{at}]", self.key),
            name: Cow::Owned(at.to_string()),
        })
    }

    /// The key of an entry of this map.
    pub(crate) fn key_of(&self, name: &str) -> String {
        if self.key.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.key)
        }
    }

    pub(crate) fn locate(&self, problem: FileProblem) -> FileProblem {
        problem
            .at(self.node.line, self.node.column)
            .of(self.key.clone())
    }

    /// The text; anything else is an error.
    pub(crate) fn text(&self, problems: &mut Problems) -> Option<String> {
        match &self.node.kind {
            NodeKind::Text(text) => Some(text.clone()),
            NodeKind::Number(_) | NodeKind::Bool(_) => {
                let message = format!("expected a text, got {}", self.node.describe());
                problems.error_with_hint(self, message, "put it in quotes");
                None
            }
            _ => self.refuse(problems, "a text"),
        }
    }

    /// The text, or the number or boolean as it is written in JSON; anything else is an error.
    pub(crate) fn scalar(&self, problems: &mut Problems) -> Option<String> {
        match &self.node.kind {
            NodeKind::Text(text) => Some(text.clone()),
            NodeKind::Number(number) => Some(number.to_string()),
            NodeKind::Bool(is) => Some(is.to_string()),
            _ => self.refuse(problems, "a text"),
        }
    }

    /// The boolean; anything else is an error.
    pub(crate) fn bool(&self, problems: &mut Problems) -> Option<bool> {
        match &self.node.kind {
            NodeKind::Bool(is) => Some(*is),
            _ => self.refuse(problems, "true or false"),
        }
    }

    /// The texts of a list; one text is a list of one. Anything else is an error.
    pub(crate) fn texts(&self, problems: &mut Problems) -> Option<Vec<String>> {
        match &self.node.kind {
            NodeKind::Text(text) => Some(vec![text.clone()]),
            NodeKind::List(_) => Some(
                self.items()
                    .filter_map(|item| item.text(problems))
                    .collect(),
            ),
            _ => self.refuse(problems, "a text or a list of texts"),
        }
    }

    /// The map itself; anything else is an error.
    pub(crate) fn map(&self, problems: &mut Problems) -> Option<&Self> {
        if self.is_map() {
            Some(self)
        } else {
            self.refuse(problems, "a map")
        }
    }

    /// Reports that something else was expected.
    pub(crate) fn refuse<T>(&self, problems: &mut Problems, expected: &str) -> Option<T> {
        let got = self.node.describe();
        problems.error(self, format!("expected {expected}, got {got}"));
        None
    }

    fn child(&self, name: &'a str, node: &'a Node) -> Self {
        Self {
            node,
            key: self.key_of(name),
            name: Cow::Borrowed(name),
        }
    }
}
