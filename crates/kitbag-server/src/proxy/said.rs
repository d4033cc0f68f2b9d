//! A client's request, as far as memory needs it: speakers, texts, and their places in the bytes.
//!
//! Nothing is changed here. What cannot be read has no messages, and goes on as it came.

mod body;
mod content;

use std::ops::Range;

use kitbag::core::role::Role;
use kitbag::hook::said;
use kitbag::wire::Dialect;
use serde_json::Value;

use super::splice::Splice;
pub(super) use body::ReadBody;
use content::Part;

/// A message or an item of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientMessage {
    /// The speaker.
    pub(super) role: Role,
    /// All its texts.
    pub(super) texts: Vec<String>,
    /// The ids of the calls that it makes or answers.
    pub(super) calls: Vec<String>,
    /// Set where it brings results of tools.
    pub(super) has_results: bool,
    /// The texts of those results.
    pub(super) results: Vec<ToolResult>,
    /// The place for a text in front of its last one.
    pub(super) place: Option<Place>,
    /// Its bytes in the request.
    pub(super) at: Option<Range<usize>>,
    /// The bytes of its content in the request.
    pub(super) content: Option<Range<usize>>,
}

/// A text that a tool gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ToolResult {
    /// The bytes of its string in the request.
    pub(super) at: Range<usize>,
    pub(super) text: String,
}

/// A place in the bytes of a request, and the form that a text takes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Before a part of a list, as a part of its own.
    BeforePart {
        /// The first byte of the part.
        start: usize,
        /// The type that parts with text have.
        kind: &'static str,
    },
    /// Before a string that is the whole content, of which a list is made.
    BeforeString {
        /// The first byte of the string, its quotation mark.
        start: usize,
        /// The byte behind it.
        end: usize,
    },
    /// At the beginning of a string, before its first character.
    InString {
        /// The byte behind the quotation mark.
        start: usize,
    },
}

impl ClientMessage {
    /// The words of the speaker, without what Kitbag and the client added; nothing if there are none.
    pub(super) fn words(&self) -> Option<String> {
        let texts = self.texts.iter();
        let words: Vec<String> = texts.filter_map(|text| said(self.role, text)).collect();
        (!words.is_empty()).then(|| words.join("\n\n"))
    }

    /// Returns whether a person asks something here.
    pub(super) fn is_question(&self) -> bool {
        self.role == Role::User && !self.has_results && self.words().is_some()
    }
}

impl Place {
    /// Puts a text there.
    pub(super) fn insert(self, text: &str) -> Vec<Splice> {
        let json = Value::from(text).to_string();
        match self {
            Self::BeforePart { start, kind } => {
                // With its comma, since another part follows for certain.
                let part = format!(r#"{{"type":"{kind}","text":{json}}},"#);
                vec![Splice::insert(start, part)]
            }
            Self::BeforeString { start, end } => {
                let list = format!(r#"[{{"type":"text","text":{json}}},{{"type":"text","text":"#);
                vec![
                    Splice::insert(start, list),
                    Splice::insert(end, "}]".to_owned()),
                ]
            }
            Self::InString { start } => {
                // The quotation marks of the client's string stay.
                let escaped = json.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
                let text = format!(r"{}\n\n", escaped.unwrap_or_default());
                vec![Splice::insert(start, text)]
            }
        }
    }
}

/// The parts of a content in a dialect, and the place before the last of them that a person said.
fn message(role: Role, content: &[Part], place: Option<Place>) -> ClientMessage {
    ClientMessage {
        role,
        texts: content
            .iter()
            .filter_map(|part| part.text.clone())
            .collect(),
        calls: content
            .iter()
            .filter_map(|part| part.call.clone())
            .collect(),
        has_results: content.iter().any(|part| part.is_result),
        results: content
            .iter()
            .flat_map(|part| part.results.clone())
            .collect(),
        place,
        at: None,
        content: None,
    }
}

/// The type of parts with text of what a person says.
const fn text_kind(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Responses => "input_text",
        _ => "text",
    }
}
