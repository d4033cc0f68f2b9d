//! The messages and items of OpenAI's two APIs, with the bands that they stand in.

use kitbag_core::assembly::Breakpoint;
use kitbag_core::band::Band;
use kitbag_core::content::RawJson;
use kitbag_core::role::Role;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The messages and other items of a request, in order.
#[derive(Default, Serialize)]
#[serde(transparent)]
pub(super) struct Items(Vec<BandedItem>);

#[derive(Serialize)]
#[serde(transparent)]
struct BandedItem {
    #[serde(skip)]
    band: Band,
    item: Item,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Item {
    Said(Said),
    Raw(RawJson),
}

/// A message.
#[derive(Serialize)]
pub(super) struct Said {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) r#type: Option<&'static str>,
    pub(super) role: Role,
    pub(super) content: SaidContent,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tool_calls: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<String>,
    /// The speaker's name, and fields that are not known here.
    #[serde(flatten)]
    pub(super) extra: Map<String, Value>,
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum SaidContent {
    Text(String),
    Parts(Vec<RawJson>),
    Nothing,
}

impl Said {
    pub(super) fn new(role: Role, content: SaidContent) -> Self {
        Self {
            r#type: None,
            role,
            content,
            tool_calls: Vec::new(),
            tool_call_id: None,
            extra: Map::new(),
        }
    }
}

impl Items {
    pub(super) fn say(&mut self, band: Band, said: Said) {
        let item = Item::Said(said);
        self.0.push(BandedItem { band, item });
    }

    /// Adds an item that is no message.
    pub(super) fn push(&mut self, band: Band, value: &impl Serialize) {
        // A value always becomes JSON.
        let item = RawJson::from_value(value).ok().map(Item::Raw);
        self.0.extend(item.map(|item| BandedItem { band, item }));
    }

    /// Marks the last message of each band that has a breakpoint. `part` turns a bare text into a
    /// part, because a marker is a field of a part.
    pub(super) fn mark(
        &mut self,
        breakpoints: &[Breakpoint],
        part: impl Fn(&str, Role) -> Option<RawJson>,
    ) {
        for breakpoint in breakpoints {
            let mut latest = self.0.iter_mut().rev();
            let last = latest.find_map(|placed| match &mut placed.item {
                Item::Said(said) if placed.band == breakpoint.band => {
                    // A message that only calls tools has no part to mark; the one before it is marked then.
                    (!said.content.is_empty()).then_some(said)
                }
                _ => None,
            });
            // A band may hold nothing but calls and results, which carry no marker.
            let Some(Said { role, content, .. }) = last else {
                continue;
            };
            if let SaidContent::Text(text) = content {
                *content = SaidContent::Parts(part(text, *role).into_iter().collect());
            }
            if let SaidContent::Parts(parts) = content
                && let Some(last) = parts.last_mut()
            {
                *last = marked(last);
            }
        }
    }
}

impl SaidContent {
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Parts(parts) => parts.is_empty(),
            Self::Nothing => true,
        }
    }
}

/// The part with a cache marker.
fn marked(part: &RawJson) -> RawJson {
    let fields = part.parse_as::<Map<String, Value>>();
    let marked = fields.and_then(|mut fields| {
        let marker = json!({ "mode": "explicit" });
        fields.insert("prompt_cache_breakpoint".into(), marker);
        RawJson::from_value(&fields)
    });
    marked.unwrap_or_else(|_| part.clone())
}
