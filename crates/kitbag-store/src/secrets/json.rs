//! Masks the strings of a JSON text and leaves every other byte as it is, since providers compare
//! some of it byte for byte.

use super::Mask;

/// Longer values are no passwords: in them only the formats of known secrets count.
const LONGEST_NAMED: usize = 256;

impl Mask {
    /// The JSON without the secrets in its strings; none if it has none. `json` must be valid.
    pub(crate) fn json(&mut self, json: &str) -> Option<String> {
        let before = self.masked;
        let mut masked = String::new();
        let mut rest = json;
        let mut name = None;
        while let Some((between, token)) = next_string(rest) {
            let after = rest.get(between.len() + token.len()..).unwrap_or_default();
            masked.push_str(between);
            // A name belongs to the string right behind it, but not to those inside a list or an
            // object.
            let named = name.take().filter(|_| between.trim() == ":");
            match after.trim_start().starts_with(':') {
                true => {
                    name = Some(token);
                    masked.push_str(token);
                }
                false => match self.string(token, named) {
                    Some(shown) => masked.push_str(&shown),
                    None => masked.push_str(token),
                },
            }
            rest = after;
        }
        masked.push_str(rest);
        (self.masked > before).then_some(masked)
    }

    /// A string in its JSON form without its secrets; none if it has none.
    fn string(&mut self, token: &str, name: Option<&str>) -> Option<String> {
        let text: String = serde_json::from_str(token).ok()?;
        // The arguments of a tool call are a string that holds JSON.
        let inner = text.trim_start().starts_with(['{', '[']);
        let is_json = inner && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        let masked = match is_json {
            true => self.json(&text),
            false => self.replaced(&text),
        };
        if let Some(masked) = masked {
            return serde_json::to_string(&masked).ok();
        }
        // `password: "…"` is a secret by its name, which the value alone does not show.
        let name = name.filter(|_| token.len() <= LONGEST_NAMED)?;
        let pair = format!("{name}: {token}");
        let redacted = kitbag_secrets::redact(&pair, "message.json");
        let shown = redacted.text.strip_prefix(&format!("{name}: "))?;
        if redacted.found.is_empty() || serde_json::from_str::<String>(shown).is_err() {
            return None;
        }
        self.masked += redacted.found.len();
        Some(shown.to_owned())
    }
}

/// Splits off the text before the next string, and the string with its quotes.
fn next_string(json: &str) -> Option<(&str, &str)> {
    let start = json.find('"')?;
    let (between, string) = json.split_at_checked(start)?;
    let mut escaped = false;
    let end = string.bytes().skip(1).position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    })?;
    Some((between, string.get(..end + 2)?))
}
