//! The fixtures as they are listed and read.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use rmcp::model::{
    ErrorData, Prompt, PromptArgument, ReadResourceResult, Resource, ResourceTemplate, Tool,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub(super) static FIXTURES: LazyLock<Fixtures> = LazyLock::new(|| {
    // The smallest picture and the smallest sound that are one.
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
    let wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
    let text = include_str!("fixtures.json").replace("PNG", png);
    #[expect(clippy::expect_used, reason = "a test finds out when it is built")]
    serde_json::from_str(&text.replace("WAV", wav)).expect("fixtures.json is JSON of this shape")
});

#[derive(Deserialize)]
pub(super) struct Fixtures {
    pub(super) tools: BTreeMap<String, ToolFixture>,
    /// The questions that rounds name.
    pub(super) input: BTreeMap<String, Value>,
    pub(super) prompts: BTreeMap<String, PromptFixture>,
    resources: BTreeMap<String, Value>,
    template: Template,
}

#[derive(Deserialize)]
pub(super) struct ToolFixture {
    /// Capabilities without which it is refused.
    pub(super) needs: Option<Value>,
    #[serde(default)]
    pub(super) logs: Vec<String>,
    #[serde(default)]
    pub(super) progress: Vec<f64>,
    /// A request to the client, whose answer is the result.
    pub(super) asks: Option<Value>,
    #[serde(flatten)]
    pub(super) rounds: Rounds,
    pub(super) result: Option<Value>,
}

/// The questions that a client has to answer, one round after the other: their names, and which of `input` each is.
#[derive(Default, Deserialize)]
pub(super) struct Rounds {
    #[serde(default)]
    pub(super) rounds: Vec<BTreeMap<String, String>>,
    /// Set where the client has to give back a state.
    #[serde(default)]
    pub(super) has_state: bool,
}

#[derive(Deserialize)]
pub(super) struct PromptFixture {
    arguments: Vec<String>,
    #[serde(flatten)]
    pub(super) rounds: Rounds,
    pub(super) messages: Value,
}

#[derive(Deserialize)]
struct Template {
    uri: String,
    contents: Value,
}

impl Fixtures {
    pub(super) fn tools(&self) -> Result<Vec<Tool>, ErrorData> {
        let tool = |name: &String| {
            read(
                json!({"name": name, "description": "A fixture", "inputSchema": {"type": "object"}}),
            )
        };
        self.tools.keys().map(tool).collect()
    }

    pub(super) fn resources(&self) -> impl Iterator<Item = Resource> {
        let uris = self.resources.keys();
        uris.map(|uri| Resource::new(uri, uri).with_description("A fixture"))
    }

    pub(super) fn template(&self) -> ResourceTemplate {
        ResourceTemplate::new(&self.template.uri, "fixture").with_description("A fixture")
    }

    pub(super) fn prompts(&self) -> impl Iterator<Item = Prompt> {
        self.prompts.iter().map(|(name, prompt)| {
            let arguments = prompt.arguments.iter();
            let arguments = arguments.map(|name| PromptArgument::new(name).with_required(true));
            Prompt::new(name, Some("A fixture"), Some(arguments.collect()))
        })
    }

    pub(super) fn read(&self, uri: &str) -> Result<Option<ReadResourceResult>, ErrorData> {
        let contents = match self.resources.get(uri) {
            Some(contents) => contents.clone(),
            None => {
                let ends = self.template.uri.split_once("{id}");
                let Some(id) = ends.and_then(|(start, end)| {
                    uri.strip_prefix(start)
                        .and_then(|rest| rest.strip_suffix(end))
                }) else {
                    return Ok(None);
                };
                let values = Map::from_iter([("id".to_owned(), json!(id))]);
                filled(&self.template.contents, &values)
            }
        };
        let mut contents = contents;
        if let Some(fields) = contents.as_object_mut() {
            fields.insert("uri".to_owned(), json!(uri));
        }
        read(complete(json!({ "contents": [contents] }))).map(Some)
    }
}

/// The value with `{name}` replaced in its texts.
pub(super) fn filled(value: &Value, values: &Map<String, Value>) -> Value {
    match value {
        Value::String(text) => {
            let mut text = text.clone();
            for (name, value) in values {
                let value = value.as_str().unwrap_or_default();
                text = text.replace(&format!("{{{name}}}"), value);
            }
            Value::String(text)
        }
        Value::Array(items) => items.iter().map(|item| filled(item, values)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            fields
                .map(|(name, value)| (name.clone(), filled(value, values)))
                .collect()
        }
        other => other.clone(),
    }
}

/// A result that asks for nothing more. The older era does not have the field, and is not sent it.
pub(super) fn complete(mut result: Value) -> Value {
    if let Some(fields) = result.as_object_mut() {
        fields.insert("resultType".to_owned(), json!("complete"));
    }
    result
}

/// JSON as a type of the protocol.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(format!("the fixture: {error}"), None))
}
