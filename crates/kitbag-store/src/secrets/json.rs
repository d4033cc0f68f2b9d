//! Masks the strings of JSON text and leaves every other byte as it is.

use super::Mask;

/// Values longer than this are no passwords: only what has the format of a secret counts in them.
const LONGEST_NAMED: usize = 256;

impl Mask {
    /// The JSON without the secrets in its strings; none where there are none. `json` is valid JSON.
    pub(crate) fn json(&mut self, json: &str) -> Option<String> {
        let before = self.masked;
        let mut masked = String::new();
        let mut rest = json;
        let mut name = None;
        while let Some((between, token)) = next_string(rest) {
            let after = rest.get(between.len() + token.len()..).unwrap_or_default();
            masked.push_str(between);
            // A name belongs to the value behind it, and not to those of a list or an object there.
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

    /// A string as JSON writes it, without its secrets; none where it has none.
    fn string(&mut self, token: &str, name: Option<&str>) -> Option<String> {
        let text: String = serde_json::from_str(token).ok()?;
        // Calls of tools have their arguments as a string of JSON.
        let inner = text.trim_start().starts_with(['{', '[']);
        let is_json = inner && serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
        let masked = match is_json {
            true => self.json(&text),
            false => self.replaced(&text),
        };
        if let Some(masked) = masked {
            return serde_json::to_string(&masked).ok();
        }
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

/// The text before the next string, and the string with its quotes.
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
