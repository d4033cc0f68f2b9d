//! Tables of words that stand in files of their own.
//!
//! A word that ends in a colon is a heading, and says what the words after it mean.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

/// The meaning of each word of a table.
pub(crate) type Meanings<T> = LazyLock<HashMap<&'static str, T>>;

/// The meaning of each word, where none stands under two headings.
pub(crate) fn meanings<T: Deserialize<'static> + Clone>(
    table: &'static str,
) -> HashMap<&'static str, T> {
    rows(table).collect()
}

/// Each word with its meaning, in order.
pub(crate) fn rows<T: Deserialize<'static> + Clone>(
    table: &'static str,
) -> impl Iterator<Item = (&'static str, T)> {
    let mut meaning = None;
    table.split_whitespace().filter_map(move |word| {
        let Some(heading) = word.strip_suffix(':') else {
            return Some((word, meaning.clone()?));
        };
        meaning = Some(variant(heading));
        None
    })
}

#[expect(clippy::expect_used, reason = "the tables are constants and tested")]
fn variant<T: Deserialize<'static>>(name: &'static str) -> T {
    let name = IntoDeserializer::<Error>::into_deserializer(name);
    T::deserialize(name).expect("a heading names a variant")
}
