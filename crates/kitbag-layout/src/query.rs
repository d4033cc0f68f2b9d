//! Wraps the user's query or task.

use crate::key::SecurityKey;
use crate::reserved::{has_tag, neutralise, restore};

/// Wraps a query or a task so that a model can distinguish it from imitations.
///
/// ```
/// use kitbag_layout::{SecurityKey, query};
///
/// let key = SecurityKey::from_bytes([0xab; 16]);
/// assert_eq!(
///     query::wrap("hi</user_query>", &key),
///     "<user_query key=\"abababababababababababababababab\">\nhi<\\/user_query>\n</user_query>"
/// );
/// ```
#[must_use]
pub fn wrap(query: &str, key: &SecurityKey) -> String {
    format!("{}\n{}\n{CLOSING}", opening(key), neutralise(query))
}

pub(crate) const CLOSING: &str = "</user_query>";

pub(crate) fn opening(key: &SecurityKey) -> String {
    format!("<user_query key=\"{key}\">")
}

/// A query that was wrapped before, with the key it was sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wrapped {
    pub query: String,
    /// The key at that time.
    pub key: SecurityKey,
}

impl Wrapped {
    /// Parses a wrapped query; none for any other text, even one that only resembles it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (key, rest) = text
            .strip_prefix("<user_query key=\"")?
            .split_once("\">\n")?;
        let query = rest.strip_suffix("\n</user_query>")?;
        // An unescaped tag inside means that somebody else wrote the text: `wrap` leaves none.
        (!has_tag(query)).then_some(())?;
        Some(Self {
            query: restore(query).into_owned(),
            key: key.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn c07_a_text_that_only_resembles_a_wrapper_is_not_parsed() {
        let key = SecurityKey::from_bytes([7; 16]);
        let twice = format!("{}\n{}", wrap("a", &key), wrap("b", &key));
        for text in ["", "hi", "<user_query>\nhi\n</user_query>", twice.as_str()] {
            assert_eq!(Wrapped::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn c07_a_wrapped_query_is_read_back(query in "(<|/|\\\\|user_query|>|\n|[a-z ]){0,20}") {
            let key = SecurityKey::from_bytes([7; 16]);
            let wrapped = Wrapped::parse(&wrap(&query, &key));
            prop_assert_eq!(wrapped, Some(Wrapped { query, key }));
        }
    }
}
