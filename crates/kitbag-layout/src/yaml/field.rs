//! A node with the path to it, for readers that report problems.

use std::borrow::Cow;
use std::cell::RefCell;

use indexmap::IndexMap;

use super::{Node, NodeKind};
use crate::nearest;
use crate::problem::{FileProblem, Problems};
use crate::value::{Map, Value};

/// A node with its key, such as `agents[2].inline`.
#[derive(Debug, Clone)]
pub(crate) struct Field<'a> {
    pub(crate) node: &'a Node,
    pub(crate) key: String,
    pub(crate) problems: &'a Problems,
    name: Cow<'a, str>,
    /// The names that the reader has asked for. Misspelt keys are found by them, without a second
    /// list.
    read_keys: RefCell<Vec<&'static str>>,
}

impl<'a> Field<'a> {
    pub(crate) fn root(node: &'a Node, problems: &'a Problems) -> Self {
        Self {
            node,
            key: String::new(),
            problems,
            name: Cow::Borrowed(""),
            read_keys: RefCell::default(),
        }
    }

    /// The last part of the key: the name of an entry, or the index of an item.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.node.kind, NodeKind::Map(_))
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.node.kind, NodeKind::List(_))
    }

    pub(crate) fn is_null(&self) -> bool {
        self.node.kind == NodeKind::Null
    }

    pub(crate) fn as_text(&self) -> Option<&'a str> {
        match &self.node.kind {
            NodeKind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The entry of this name; none if it is missing or null.
    pub(crate) fn get(&self, name: &'static str) -> Option<Self> {
        // Noted before the lookup, so that a key that is missing counts as known.
        self.read_keys.borrow_mut().push(name);
        let (name, node) = self.nodes()?.get_key_value(name)?;
        // `key:` with nothing behind it is how people leave a setting out.
        Some(self.entry(name, node)).filter(|entry| !entry.is_null())
    }

    /// The first existing entry of several spellings.
    pub(crate) fn get_any(&self, names: &[&'static str]) -> Option<Self> {
        // All spellings are known, even those behind the one that is found.
        self.read_keys.borrow_mut().extend(names);
        names.iter().find_map(|name| self.get(name))
    }

    /// Reads the entry of this name, if it exists.
    pub(crate) fn read<T>(
        &self,
        name: &'static str,
        read: impl FnOnce(&Self) -> Option<T>,
    ) -> Option<T> {
        read(&self.get(name)?)
    }

    /// Reads every entry of a map, and leaves out those that cannot be read. Anything but a map is
    /// an error.
    pub(crate) fn read_entries<T>(
        &self,
        mut read: impl FnMut(&Self) -> Option<T>,
    ) -> Option<IndexMap<String, T>> {
        // Reports what stands there instead of a map.
        self.map()?;
        let read = |entry: Self| Some((entry.name().to_owned(), read(&entry)?));
        Some(self.entries().filter_map(read).collect())
    }

    /// The entries of a map; empty for anything else.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Self> {
        let entries = self.nodes().into_iter().flatten();
        entries.map(|(name, node)| self.entry(name, node))
    }

    fn nodes(&self) -> Option<&'a IndexMap<String, Node>> {
        match &self.node.kind {
            NodeKind::Map(entries) => Some(&entries.nodes),
            _ => None,
        }
    }

    /// The entries of a map that are not null.
    pub(crate) fn present(&self) -> impl Iterator<Item = Self> {
        self.entries().filter(|entry| !entry.is_null())
    }

    /// The items of a list; empty for anything else.
    pub(crate) fn items(&self) -> impl Iterator<Item = Self> {
        let items = match &self.node.kind {
            NodeKind::List(items) => items.as_slice(),
            _ => &[],
        };
        items.iter().enumerate().map(|(at, node)| {
            let key = format!("{}[{at}]", self.key);
            self.child(Cow::Owned(at.to_string()), key, node)
        })
    }

    /// The entries that the reader has not asked for, as written.
    pub(crate) fn unread(&self) -> Map {
        let read_keys = self.read_keys.borrow();
        let unread = |entry: &Self| !read_keys.contains(&entry.name());
        let entries = self.entries().filter(unread);
        entries
            .map(|entry| (entry.name().to_owned(), entry.node.to_value()))
            .collect()
    }

    /// Warns of unknown keys that resemble one that was asked for, or one of `others`.
    pub(crate) fn warn_of_misspelt_keys(&self, others: &[&'static str]) {
        // Called last by each reader, when all its names were asked for.
        let known = [self.read_keys.borrow().as_slice(), others].concat();
        for entry in self.entries() {
            let name = entry.name();
            if !known.contains(&name)
                // Unknown keys without a neighbour are left alone: files may hold settings of other programs.
                && let Some(meant) = nearest::within_two(name, &known)
            {
                let message = format!("`{name}` is not a known key and has no effect");
                let problem = FileProblem::warning(self.problems.file(), message);
                entry.report(problem.with_hint(format!("did you mean `{meant}`?")));
            }
        }
    }

    /// Warns of repeated keys, here and in everything inside.
    pub(crate) fn warn_of_repeated_keys(&self) {
        if let NodeKind::Map(entries) = &self.node.kind {
            for (key, place) in &entries.repeated {
                let message = "this key is given twice, the last value counts";
                let problem = FileProblem::warning(self.problems.file(), message);
                let located = problem.at(place.line(), place.column());
                self.problems.add(located.of(self.key_of(key)));
            }
        }
        // The parser keeps the last of two values without a word, at any depth.
        for child in self.entries().chain(self.items()) {
            child.warn_of_repeated_keys();
        }
    }

    /// The key of an entry of this map.
    pub(crate) fn key_of(&self, name: &str) -> String {
        if self.key.is_empty() {
            name.to_owned()
        } else {
            format!("{}.{name}", self.key)
        }
    }

    /// The text; anything else is an error.
    pub(crate) fn text(&self) -> Option<String> {
        match &self.node.kind {
            NodeKind::Text(text) => Some(text.clone()),
            NodeKind::Number(_) | NodeKind::Bool(_) => {
                // YAML reads `1.0` and `yes` as other kinds, which is the usual cause.
                let message = format!("expected a text, got {}", self.node.describe());
                self.error_with_hint(message, "put it in quotes")
            }
            _ => self.refuse("a text"),
        }
    }

    /// The text, if it contains no blanks; anything else is an error.
    pub(crate) fn id(&self) -> Option<String> {
        let id = self.text()?;
        // Ids are typed on command lines and in chats, where a blank ends them.
        if id.is_empty() || id.chars().any(char::is_whitespace) {
            return self.error(format!("expected an id without blanks, got `{id}`"));
        }
        Some(id)
    }

    /// The text, or a number or boolean in its JSON form; anything else is an error.
    pub(crate) fn scalar(&self) -> Option<String> {
        match &self.node.kind {
            NodeKind::Number(number) => Some(number.to_string()),
            NodeKind::Bool(is) => Some(is.to_string()),
            _ => self.text(),
        }
    }

    /// The boolean; anything else is an error.
    pub(crate) fn bool(&self) -> Option<bool> {
        match &self.node.kind {
            NodeKind::Bool(is) => Some(*is),
            _ => self.refuse("true or false"),
        }
    }

    /// The whole number from 0 on; anything else is an error.
    pub(crate) fn whole_number(&self) -> Option<u64> {
        let number = match &self.node.kind {
            NodeKind::Number(number) => number.as_u64(),
            _ => None,
        };
        match number {
            Some(number) => Some(number),
            None => self.error(format!(
                "expected a whole number from 0 on, got {}",
                self.node.describe()
            )),
        }
    }

    /// The texts of a list; one text is a list of one. Anything else is an error.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        match &self.node.kind {
            NodeKind::Text(text) => Some(vec![text.clone()]),
            NodeKind::List(_) => Some(self.items().filter_map(|item| item.text()).collect()),
            _ => self.refuse("a text or a list of texts"),
        }
    }

    /// The map itself; anything else is an error.
    pub(crate) fn map(&self) -> Option<&Self> {
        if self.is_map() {
            Some(self)
        } else {
            self.refuse("a map")
        }
    }

    /// The map as written; anything else is an error.
    pub(crate) fn map_value(&self) -> Option<Value> {
        Some(self.map()?.node.to_value())
    }

    /// The meaning of one of several words; anything else is an error.
    pub(crate) fn word<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let text = self.as_text();
        let meant = words.iter().find(|(word, _)| text == Some(word));
        if let Some((_, meant)) = meant {
            return Some(*meant);
        }
        let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        // A wrong word is repeated, since it is no secret; other kinds are only named.
        let got = text.unwrap_or(self.node.describe());
        self.error(format!("expected {}, got {got}", words.join(" or ")))
    }

    /// Reports that something else was expected.
    pub(crate) fn refuse<T>(&self, expected: &str) -> Option<T> {
        let got = self.node.describe();
        self.error(format!("expected {expected}, got {got}"))
    }

    /// Reports an error, after which nothing is read.
    pub(crate) fn error<T>(&self, message: impl Into<String>) -> Option<T> {
        self.report(FileProblem::error(self.problems.file(), message));
        None
    }

    /// Reports an error with a remedy.
    pub(crate) fn error_with_hint<T>(
        &self,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Option<T> {
        let problem = FileProblem::error(self.problems.file(), message);
        self.report(problem.with_hint(hint));
        None
    }

    /// Reports a probable mistake.
    pub(crate) fn warning(&self, message: impl Into<String>) {
        self.report(FileProblem::warning(self.problems.file(), message));
    }

    fn report(&self, problem: FileProblem) {
        let located = problem.at(self.node.line, self.node.column);
        self.problems.add(located.of(self.key.clone()));
    }

    fn entry(&self, name: &'a str, node: &'a Node) -> Self {
        self.child(Cow::Borrowed(name), self.key_of(name), node)
    }

    fn child(&self, name: Cow<'a, str>, key: String, node: &'a Node) -> Self {
        Self {
            key,
            name,
            ..Self::root(node, self.problems)
        }
    }
}
