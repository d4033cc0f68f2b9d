//! The content of a message: a string, or a list of parts.

use std::borrow::Cow;

use kitbag::core::role::Role;
use kitbag::hook::said;
use kitbag::wire::Dialect;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Place, text_kind};

/// A part of a content.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) text: Option<String>,
    /// The id of the call that it makes or answers.
    pub(super) call: Option<String>,
    pub(super) is_result: bool,
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
        let part = part(raw);
        let text = part.text.as_deref();
        if text.is_some_and(|text| said(role, text).is_some()) {
            let kind = text_kind(dialect);
            place = offset(raw).map(|start| Place::BeforePart { start, kind });
        }
        parts.push(part);
    }
    (parts, place)
}

fn part(raw: &RawValue) -> Part {
    let Ok(part) = serde_json::from_str::<RawPart<'_>>(raw.get()) else {
        return Part::default();
    };
    let kind = part.kind.as_deref().unwrap_or("text");
    Part {
        text: part
            .text
            .filter(|_| kind == "text" || kind.ends_with("_text")),
        is_result: kind == "tool_result",
        call: match kind {
            "tool_use" => part.id,
            "tool_result" => part.tool_use_id,
            _ => None,
        },
    }
}
