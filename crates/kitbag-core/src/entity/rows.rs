//! Translation between refs and row ids: refs become row ids on the way out, and row ids become
//! refs on the way in.
//!
//! A model never sees a row id. Its filters and payloads are translated by
//! [`SessionIdRegistry::row_ids_for_refs`], which reports every ref it cannot resolve; texts and
//! data for the model go through [`SessionIdRegistry::hide_row_ids`] and
//! [`SessionIdRegistry::hide_rows_in_data`].
//!
//! A short row id, such as `7`, is also an ordinary number or word. It is therefore replaced only
//! where a field's name says that it is an id; ids of 16 bytes or more without white space are
//! replaced anywhere.

use alloc::borrow::{Cow, ToOwned};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Bound;

use serde_json::{Map, Value};

use super::error::RegistryError;
use super::refs::{DRAFT_PREFIX, split_ref};
use super::registry::SessionIdRegistry;

/// The text in place of an id that looks like a row's and has no ref.
pub(crate) const UNREGISTERED_ROW: &str = "(unregistered row)";

/// The treatment of an id that looks like a row's and has no ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnknownIds {
    /// Leave it: the text is the user's own words.
    Keep,
    /// Replace it by [`UNREGISTERED_ROW`].
    Hide,
}

/// Data with row ids in place of refs, and the refs that have no row.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Translated {
    /// The data; unresolved refs stay in it unchanged.
    pub value: Value,
    /// The unresolved refs; unless this is empty, the data must not be used.
    pub unresolved: Vec<Unresolved>,
}

/// A ref for which there is no row id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unresolved {
    /// Its place, as a JSON pointer.
    pub path: String,
    /// The reason why there is no row id.
    pub error: RegistryError,
}

impl SessionIdRegistry {
    /// Returns the row id of a ref.
    ///
    /// # Errors
    /// If the ref is unknown, a draft's, or a deleted row's.
    pub fn row_id(&self, reference: &str) -> Result<&str, RegistryError> {
        let entity = self.entities.get(reference);
        let entity = entity.filter(|entity| entity.is_live());
        let entity = entity.ok_or_else(|| RegistryError::unknown(reference))?;
        let name = || reference.to_owned();
        if entity.is_draft() {
            return Err(RegistryError::Unsaved { reference: name() });
        }
        let row_id = entity.row_id.as_deref();
        row_id.ok_or_else(|| RegistryError::Deleted { reference: name() })
    }

    /// Replaces every ref in filters or a payload by its row id.
    ///
    /// A string is a ref if it is one of this registry's; if it is spelled like one of a type that
    /// the registry has seen; or if it is spelled like a ref in a field whose name says that it is
    /// an id. Those without a row are reported.
    #[must_use]
    pub fn row_ids_for_refs(&self, value: &Value) -> Translated {
        let mut unresolved = Vec::new();
        let value = self.resolve(value, "", Field::Other, &mut unresolved);
        Translated { value, unresolved }
    }

    /// Replaces every row id in a text by its ref; of two that begin at the same place, the longer.
    #[must_use]
    pub(crate) fn hide_row_ids<'a>(&self, text: &'a str, unknown: UnknownIds) -> Cow<'a, str> {
        let mut hidden = String::new();
        let (mut copied, mut next) = (0, 0);
        for (at, _) in text.char_indices() {
            // No id that is replaced in texts is shorter than this.
            let Some(rest) = text.get(at..).filter(|rest| rest.len() >= OPAQUE_LENGTH) else {
                break;
            };
            if at < next {
                continue;
            }
            if let Some((length, shown)) = self.row_at_start(rest, unknown) {
                hidden.push_str(text.get(copied..at).unwrap_or_default());
                hidden.push_str(shown);
                next = at + length;
                copied = next;
            }
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        hidden.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(hidden)
    }

    /// Replaces every row id in data by its ref, in keys and values, and ids that look like a
    /// row's by [`UNREGISTERED_ROW`].
    #[must_use]
    pub(crate) fn hide_rows_in_data(&self, value: &Value) -> Value {
        self.hide(value, Field::Other)
    }

    fn resolve(
        &self,
        value: &Value,
        path: &str,
        field: Field,
        unresolved: &mut Vec<Unresolved>,
    ) -> Value {
        match value {
            Value::String(text) if self.may_be_ref(text, field) => match self.row_id(text) {
                Ok(row_id) => Value::from(row_id),
                Err(error) => {
                    unresolved.push(Unresolved {
                        path: path.to_owned(),
                        error,
                    });
                    value.clone()
                }
            },
            Value::Array(items) => {
                let item = |(index, item): (usize, &Value)| {
                    self.resolve(item, &format!("{path}/{index}"), field, unresolved)
                };
                Value::Array(items.iter().enumerate().map(item).collect())
            }
            Value::Object(map) => {
                let entry = |(key, value): (&String, &Value)| {
                    // JSON Pointer (RFC 6901) escapes these two, the tilde first.
                    let escaped = key.replace('~', "~0").replace('/', "~1");
                    let path = format!("{path}/{escaped}");
                    (
                        key.clone(),
                        self.resolve(value, &path, Field::named(key, field), unresolved),
                    )
                };
                Value::Object(map.iter().map(entry).collect())
            }
            _ => value.clone(),
        }
    }

    fn may_be_ref(&self, text: &str, field: Field) -> bool {
        let Some((stem, _)) = split_ref(text) else {
            return self.entities.contains_key(text);
        };
        let of_draft = stem.strip_prefix(DRAFT_PREFIX);
        // A ref of a known type that nobody has is a model's mistake, which has to be reported.
        field == Field::Id
            || self.entities.contains_key(text)
            || self.counters.contains_key(stem)
            || of_draft.is_some_and(|stem| self.gen_counters.contains_key(stem))
    }

    fn hide(&self, value: &Value, field: Field) -> Value {
        match value {
            Value::String(text) => match self.ref_by_row.get(text) {
                Some(reference) if field == Field::Id => Value::from(reference.as_str()),
                _ => Value::from(self.hide_row_ids(text, UnknownIds::Hide)),
            },
            Value::Number(number) if field == Field::Id => {
                let reference = self.ref_by_row.get(&number.to_string());
                reference.map_or_else(|| value.clone(), |found| Value::from(found.as_str()))
            }
            // A list of ids belongs to the field that holds it.
            Value::Array(items) => items.iter().map(|item| self.hide(item, field)).collect(),
            Value::Object(map) => {
                let mut shown = Map::new();
                for (key, value) in map {
                    let mut name = self.hide_row_ids(key, UnknownIds::Hide).into_owned();
                    // Two keys may get the same name, and neither value may be lost.
                    while shown.contains_key(&name) {
                        name.push('\'');
                    }
                    shown.insert(name, self.hide(value, Field::named(key, field)));
                }
                Value::Object(shown)
            }
            _ => value.clone(),
        }
    }

    /// Finds the row id that `text` starts with, and returns its length and the text to show
    /// instead.
    ///
    /// A UUID has its ref in whatever case it is written.
    fn row_at_start(&self, text: &str, unknown: UnknownIds) -> Option<(usize, &str)> {
        if let Some((row_id, reference)) = self.longest_row_at_start(text) {
            return Some((row_id.len(), reference));
        }
        let uuid = text
            .get(..UUID_LENGTH)
            .filter(|uuid| is_uuid(uuid.as_bytes()))?;
        let reference = self.ref_by_row.get(&uuid.to_lowercase());
        let shown = match (reference, unknown) {
            (Some(reference), _) => reference.as_str(),
            (None, UnknownIds::Hide) => UNREGISTERED_ROW,
            // In a person's own words it may be the id of anything.
            (None, UnknownIds::Keep) => return None,
        };
        Some((UUID_LENGTH, shown))
    }

    /// Returns the longest row id that `text` starts with. All beginnings of `text` sort up to it,
    /// so the last id up to `text` is either one of them, or shares with `text` a beginning that
    /// the wanted id must lie in: there the search goes on.
    fn longest_row_at_start(&self, text: &str) -> Option<(&String, &String)> {
        let mut start = text;
        while start.len() >= OPAQUE_LENGTH {
            let up_to = (Bound::Unbounded, Bound::Included(start));
            let (row_id, reference) = self.ref_by_row.range::<str, _>(up_to).next_back()?;
            if start.starts_with(row_id.as_str()) {
                return is_opaque(row_id).then_some((row_id, reference));
            }
            let same = start
                .chars()
                .zip(row_id.chars())
                .take_while(|(a, b)| a == b);
            let shared: usize = same.map(|(char, _)| char.len_utf8()).sum();
            start = start.get(..shared)?;
        }
        None
    }
}

/// The kind of a field, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Id,
    Other,
}

impl Field {
    /// Classifies the field called `name` inside one of `outer`: the operator of a filter, `{"id":
    /// {"in": […]}}`, belongs to the field that it filters.
    fn named(name: &str, outer: Self) -> Self {
        let name = name.to_lowercase();
        let is_id = matches!(name.as_str(), "id" | "ids" | "uuid")
            || name.ends_with("_id")
            || name.ends_with("_ids");
        if is_id { Self::Id } else { outer }
    }
}

/// Tells whether an id is too long to be an ordinary number or word, and is not a phrase.
fn is_opaque(row_id: &str) -> bool {
    row_id.len() >= OPAQUE_LENGTH && !row_id.contains(char::is_whitespace)
}

/// The shortest id that is replaced anywhere in a text.
const OPAQUE_LENGTH: usize = 16;
const UUID_LENGTH: usize = 36;

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.iter().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}
