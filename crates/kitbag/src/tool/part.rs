//! A text that may be too long for one result: its beginning, and the handle of the rest.

use kitbag_core::tokens::TokenCounter;
use schemars::JsonSchema;
use serde::Serialize;

use super::ToolError;

/// A text, or as much of it as a result may have.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TextPart {
    /// The text; secrets in files are replaced
    text: String,
    /// Whether it was too long and is cut
    is_cut: bool,
    /// The handle of the rest, where there is one
    #[serde(skip_serializing_if = "Option::is_none")]
    rest: Option<String>,
}

/// The most tokens of a text at a time.
const TOKENS: u32 = 20_000;

impl TextPart {
    /// Cuts a long text at a line, and tells the handle of the rest where lines can be asked for. A line that
    /// is too long by itself is cut inside.
    pub(super) fn of(text: String, handle: &str, counter: &dyn TokenCounter) -> Self {
        if counter.count(&text).0 <= TOKENS {
            return Self {
                text,
                is_cut: false,
                rest: None,
            };
        }
        let mut used = 0;
        let mut kept = 0;
        let lines = text.split_inclusive('\n').take_while(|line| {
            used += counter.count(line).0;
            let fits = used <= TOKENS;
            kept += usize::from(fits);
            fits
        });
        let mut shown: String = lines.collect();
        if shown.is_empty() {
            // No vocabulary makes more tokens than characters.
            shown = text.chars().take(TOKENS as usize).collect();
            kept = 1;
        }
        Self {
            text: shown,
            is_cut: true,
            rest: rest(handle, kept),
        }
    }

    /// The text as a model reads it.
    pub(super) fn shown(&self) -> String {
        match (&self.rest, self.is_cut) {
            (Some(rest), _) => format!("{}\n(cut here; `{rest}` is the rest)\n", self.text),
            (None, true) => format!("{}\n(cut here: it is too long)\n", self.text),
            (None, false) => self.text.clone(),
        }
    }
}

/// The lines of a text that a handle names as `10-80`, `10-` or `10`; all of them if it names none.
pub(super) fn lines(text: String, named: &str) -> Result<String, ToolError> {
    if named.is_empty() {
        return Ok(text);
    }
    let (first, last) = range(named).ok_or_else(|| {
        let problem = format_args!("`{named}` is not a range of lines");
        ToolError::new(problem).hint(Some("write `:10-80` or `:10-`"))
    })?;
    let lines = text.split_inclusive('\n').take(last);
    Ok(lines.skip(first.saturating_sub(1)).collect())
}

fn range(lines: &str) -> Option<(usize, usize)> {
    let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
    let first = first.parse().ok()?;
    let last = match last {
        "" => usize::MAX,
        last => last.parse().ok()?,
    };
    (first <= last).then_some((first, last))
}

/// The handle of the lines behind the first `kept` of a handle's; none where lines cannot be asked for.
fn rest(handle: &str, kept: usize) -> Option<String> {
    if handle.is_empty() || handle.contains('#') {
        return None;
    }
    let lines = handle.rsplit_once(':').and_then(|(path, lines)| {
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        Some((path, first.parse::<usize>().ok()?, last))
    });
    let (path, first, last) = lines.unwrap_or((handle, 1, ""));
    let next = first.saturating_add(kept);
    match last.parse::<usize>() {
        Ok(last) if next > last => None,
        _ => Some(format!("{path}:{next}-{last}")),
    }
}
