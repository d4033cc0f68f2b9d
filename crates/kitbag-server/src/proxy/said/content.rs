//! The content of a message: a string, or a list of parts.

use std::borrow::Cow;

use kitbag::core::role::Role;
use kitbag::hook::said;
use kitbag::wire::Dialect;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Place, ToolResult, text_kind};

/// A part of a content.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) text: Option<String>,
    /// The id of the call that it makes or answers.
    pub(super) call: Option<String>,
    pub(super) is_result: bool,
    /// The texts of a result.
    pub(super) results: Vec<ToolResult>,
}

#[derive(Deserialize)]
struct RawPart<'b> {
    #[serde(borrow, rename = "type", default)]
    kind: Option<Cow<'b, str>>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(borrow, default)]
    content: Option<&'b RawValue>,
}

#[derive(Deserialize)]
struct TextPart<'b> {
    #[serde(borrow, default)]
    text: Option<&'b RawValue>,
}

/// Reads a content, and finds the place before the last text of it that somebody said. `offset` tells where
/// in the request a value begins.
pub(super) fn read(
    dialect: Dialect,
    role: Role,
    raw: &RawValue,
    offset: impl Fn(&RawValue) -> Option<usize>,
) -> (Vec<Part>, Option<Place>) {
    let json = raw.get();
    if json.starts_with('"') {
        let place = offset(raw).map(|start| match dialect {
            Dialect::Anthropic => Place::BeforeString {
                start,
                end: start + json.len(),
            },
            // Many servers that speak OpenAI's API take a string alone, so no list is made of it.
            _ => Place::InString { start: start + 1 },
        });
        let part = Part {
            text: serde_json::from_str(json).ok(),
            ..Part::default()
        };
        return (vec![part], place);
    }
    let raws: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
    let mut parts = Vec::with_capacity(raws.len());
    let mut place = None;
    for raw in raws {
        let part = part(raw, &offset);
        let text = part.text.as_deref();
        // The last such part is the question: agents put reminders and files before it.
        if text.is_some_and(|text| said(role, text).is_some()) {
            let kind = text_kind(dialect);
            place = offset(raw).map(|start| Place::BeforePart { start, kind });
        }
        parts.push(part);
    }
    (parts, place)
}

/// The texts of a tool's result: a string, or the parts of a list.
pub(super) fn results(
    raw: &RawValue,
    offset: impl Fn(&RawValue) -> Option<usize>,
) -> Vec<ToolResult> {
    let text = |raw: &RawValue| {
        let start = offset(raw)?;
        Some(ToolResult {
            at: start..start + raw.get().len(),
            text: serde_json::from_str(raw.get()).ok()?,
        })
    };
    if raw.get().starts_with('"') {
        return text(raw).into_iter().collect();
    }
    let parts: Vec<TextPart<'_>> = serde_json::from_str(raw.get()).unwrap_or_default();
    let texts = parts.into_iter().filter_map(|part| part.text);
    texts.filter_map(text).collect()
}

fn part(raw: &RawValue, offset: impl Fn(&RawValue) -> Option<usize>) -> Part {
    let Ok(part) = serde_json::from_str::<RawPart<'_>>(raw.get()) else {
        return Part::default();
    };
    // Some clients leave the type of text out.
    let kind = part.kind.as_deref().unwrap_or("text");
    Part {
        text: part
            .text
            .filter(|_| kind == "text" || kind.ends_with("_text")),
        is_result: kind == "tool_result",
        results: match part.content.filter(|_| kind == "tool_result") {
            Some(content) => results(content, offset),
            None => Vec::new(),
        },
        call: match kind {
            "tool_use" => part.id,
            "tool_result" => part.tool_use_id,
            _ => None,
        },
    }
}
