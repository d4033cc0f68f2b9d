//! Data for templates: JSON whose objects keep the order in which they were written.
//!
//! A template that iterates over an object shows its keys in that order, so the order must survive
//! reading and writing. Texts are data and are never parsed again.

mod de;
mod json;
mod number;

use indexmap::IndexMap;
use serde::Serialize;

pub(crate) use json::Quoted;
pub use number::Number;

/// An object with its keys in the order in which they were written.
pub type Map = IndexMap<String, Value>;

/// A value as it may stand in JSON or YAML.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// An object.
    Map(Map),
}

impl Value {
    /// The value under `key`, if this is an object that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.get(key)
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The list, if it is one.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(list) => Some(list),
            _ => None,
        }
    }

    /// The object, if it is one.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Adds every text in the value, including keys, to a list.
    pub fn collect_texts<'a>(&'a self, texts: &mut Vec<&'a str>) {
        match self {
            Self::Text(text) => texts.push(text),
            Self::List(list) => list.iter().for_each(|item| item.collect_texts(texts)),
            Self::Map(map) => {
                for (key, value) in map {
                    texts.push(key);
                    value.collect_texts(texts);
                }
            }
            Self::Null | Self::Bool(_) | Self::Number(_) => {}
        }
    }

    /// The value with each text replaced, including keys.
    pub(crate) fn map_texts(&self, change: &impl Fn(&str) -> String) -> Self {
        match self {
            Self::Text(text) => Self::Text(change(text)),
            Self::List(list) => {
                Self::List(list.iter().map(|item| item.map_texts(change)).collect())
            }
            Self::Map(map) => {
                let entries = map.iter();
                Self::map(entries.map(|(key, value)| (change(key), value.map_texts(change))))
            }
            Self::Null | Self::Bool(_) | Self::Number(_) => self.clone(),
        }
    }

    /// The object; empty for any other value.
    pub(crate) fn into_map(self) -> Map {
        match self {
            Self::Map(map) => map,
            _ => Map::new(),
        }
    }

    /// The kind of value in the words of JavaScript, which the authors of layouts know.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::List(_) => "array",
            Self::Map(_) => "object",
        }
    }

    /// Makes an object from pairs.
    pub fn map<K: Into<String>>(pairs: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::Map(
            pairs
                .into_iter()
                .map(|(key, value)| (key.into(), value))
                .collect(),
        )
    }
}

impl From<bool> for Value {
    fn from(is: bool) -> Self {
        Self::Bool(is)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Number(number.into())
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trips_with_the_order_of_its_keys() {
        let json = r#"{"b":1,"a":[true,null,"x",-2,1.5],"c":{"z":{},"y":18446744073709551615}}"#;
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), json);
    }

    #[test]
    fn a_key_that_occurs_twice_has_its_last_value() {
        let value: Value = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(serde_json::to_string(&value).unwrap(), r#"{"a":3,"b":2}"#);
    }
}
