//! The values of secrets, to mask them in another text that repeats the one they were found in.

use std::borrow::Cow;
use std::ops::Range;

use super::{MARKER, MOST_PASSES, Span, scan, united};

/// The secrets of a text by their values. Not printed by `Debug`.
#[derive(Clone, Default)]
pub struct SecretValues(Vec<(String, &'static str)>);

impl SecretValues {
    /// Finds the secrets that [`redact`](crate::redact) replaces in a text.
    #[must_use]
    pub fn of(text: &str, path: &str) -> Self {
        let mut values = Vec::new();
        let mut text = Cow::Borrowed(text);
        for _ in 0..=MOST_PASSES {
            let spans = united(scan::spans(&text, path));
            if spans.is_empty() {
                break;
            }
            let value = |Span { range, kind, .. }: &Span| {
                let value = text.get(Range::clone(range))?;
                // A marker of an earlier pass is no value.
                (!value.is_empty() && !value.contains(MARKER)).then(|| (value.to_owned(), *kind))
            };
            let found: Vec<(String, &str)> = spans.iter().filter_map(value).collect();
            let masked = Self(found.clone()).masked(&text).into_owned();
            values.extend(found);
            text = Cow::Owned(masked);
        }
        // A value may stand inside a longer one, which must be replaced first.
        values.sort_by(|(a, _), (b, _)| (b.len(), a).cmp(&(a.len(), b)));
        values.dedup();
        Self(values)
    }

    /// Replaces the values wherever they stand in a text, as they are or as JSON has them.
    ///
    /// ```
    /// use kitbag_secrets::SecretValues;
    ///
    /// let password = ["rT7", "bf0Qz"].join("_");
    /// let message = format!("the url is postgres://app:{password}@db/app");
    /// let body = format!("{{\"content\": \"{message}\"}}");
    /// let masked = SecretValues::of(&message, "").masked(&body).into_owned();
    /// assert_eq!(masked, body.replace(&password, "[REDACTED:url-password]"));
    /// ```
    #[must_use]
    pub fn masked<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut masked = Cow::Borrowed(text);
        for (value, kind) in &self.0 {
            let mut written = value.clone();
            // A prompt may be a string of JSON that is a string of JSON itself.
            for _ in 0..3 {
                if masked.contains(&written) {
                    masked = Cow::Owned(masked.replace(&written, &format!("{MARKER}{kind}]")));
                }
                let escaped = escaped(&written);
                if escaped == written {
                    break;
                }
                written = escaped;
            }
        }
        masked
    }
}

/// A text as a string of JSON has it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("\\\""),
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn o05_a_value_is_masked_in_json_too() {
        let password = "Xk\"9\\vQ2#";
        let message = format!("my password is {password}");
        let values = SecretValues(vec![(password.to_owned(), "password")]);
        for form in [
            message.clone(),
            escaped(&message),
            escaped(&escaped(&message)),
        ] {
            let masked = values.masked(&form);
            assert!(
                masked.ends_with("my password is [REDACTED:password]"),
                "{masked}"
            );
        }
        assert_eq!(values.masked("nothing of it"), "nothing of it");
        assert_eq!(SecretValues::of("hello", "").masked(&message), message);
    }
}
