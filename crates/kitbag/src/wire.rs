//! Wire formats: the requests of a provider's API, made of an assembly's blocks.
//!
//! A [`Request`] is a list of fields in order, each as JSON, so that its sender can set `stream` or
//! `tool_choice`, and a request that came in keeps every unknown field. Nothing is
//! chosen or counted here, and nothing is sent.

mod anthropic;
mod context;
mod flat;
mod items;
mod openai;
mod part;
mod received;
mod responses;

use indexmap::IndexMap;
use kitbag_core::assembly::{Block, BlockBody, Breakpoint, Draft, OutputForm};
use kitbag_core::content::RawJson;
use kitbag_core::problem::Problem;
use serde::Serialize;

pub use received::{FitError, FittedRequest, ReceivedTurn, WireError};

/// The APIs whose requests are made and read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions, and everything compatible with it.
    OpenAi,
    /// OpenAI Responses.
    Responses,
    /// One flat text, for programs that take nothing else.
    Flat,
}

impl Dialect {
    /// The dialect of a form, or `None` when the form is not a request.
    #[must_use]
    pub fn of(form: OutputForm) -> Option<Self> {
        let all = [Self::Anthropic, Self::OpenAi, Self::Responses, Self::Flat];
        all.into_iter().find(|dialect| dialect.form() == form)
    }

    /// The form whose blocks it takes.
    #[must_use]
    pub const fn form(self) -> OutputForm {
        match self {
            Self::Anthropic => OutputForm::Anthropic,
            Self::OpenAi => OutputForm::OpenAi,
            Self::Responses => OutputForm::Responses,
            Self::Flat => OutputForm::Flat,
        }
    }

    /// Tells whether the API refuses a request that names no model.
    #[must_use]
    pub const fn needs_model(self) -> bool {
        match self {
            Self::Anthropic | Self::OpenAi | Self::Responses => true,
            Self::Flat => false,
        }
    }

    /// The field that holds the messages.
    const fn messages(self) -> &'static str {
        match self {
            Self::Anthropic | Self::OpenAi => "messages",
            Self::Responses => "input",
            Self::Flat => PROMPT,
        }
    }
}

/// The field of a flat request that holds its text.
const PROMPT: &str = "prompt";

/// A request to a provider's API.
///
/// ```
/// use kitbag::wire::{Dialect, Request};
///
/// let json = r#"{"seed":7,"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}"#;
/// let mut request = Request::parse(json)?;
/// assert_eq!(request.dialect, Dialect::OpenAi);
/// request.set("stream", &true);
/// assert_eq!(request.to_json(), json.replace("]}", r#"],"stream":true}"#));
/// # Ok::<(), kitbag::wire::WireError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// The API.
    pub dialect: Dialect,
    /// The fields, in their order.
    pub fields: IndexMap<String, RawJson>,
}

impl Request {
    /// Sets a field, in its place if there is one already. A value that is not JSON, such as a map
    /// whose keys are not strings, changes nothing.
    pub fn set(&mut self, name: &str, value: &impl Serialize) {
        if let Ok(value) = RawJson::from_value(value) {
            self.fields.insert(name.to_owned(), value);
        }
    }

    /// Sets a field to a list, unless that is empty.
    fn set_list(&mut self, name: &str, list: &[impl Serialize]) {
        if !list.is_empty() {
            self.set(name, &list);
        }
    }

    /// The model, where one is named.
    #[must_use]
    pub fn model(&self) -> Option<String> {
        self.text("model")
    }

    /// A field as text, if it is text.
    fn text(&self, name: &str) -> Option<String> {
        self.fields.get(name)?.parse_as().ok()
    }

    /// A field as a list, empty if it is missing or not a list.
    fn list(&self, name: &str) -> Vec<RawJson> {
        let list = self.fields.get(name);
        list.and_then(|list| list.parse_as().ok())
            .unwrap_or_default()
    }

    /// The bytes that are sent: the JSON, or the text of a flat request.
    ///
    /// ```
    /// use kitbag::core::context::Context;
    /// use kitbag::wire::{Dialect, Request};
    ///
    /// let context = Context::new("Where?");
    /// let request = Request::of_context(&context, Dialect::Flat);
    /// assert_eq!(request.body(), context.to_prompt_string());
    /// ```
    #[must_use]
    pub fn body(&self) -> String {
        match self.dialect {
            Dialect::Anthropic | Dialect::OpenAi | Dialect::Responses => self.to_json(),
            Dialect::Flat => self.text(PROMPT).unwrap_or_default(),
        }
    }

    /// The JSON, without white space between the fields.
    #[must_use]
    pub fn to_json(&self) -> String {
        object(&self.fields)
    }
}

/// The JSON object with these fields. Their values are JSON already, so this cannot fail.
pub(crate) fn object(fields: &IndexMap<String, RawJson>) -> String {
    let mut json = String::from("{");
    for (at, (name, value)) in fields.iter().enumerate() {
        if at > 0 {
            json.push(',');
        }
        json.push_str(&serde_json::Value::from(name.as_str()).to_string());
        json.push(':');
        json.push_str(value.as_str());
    }
    json.push('}');
    json
}

/// A prompt that is laid out in blocks.
#[derive(Clone, Copy)]
pub(crate) struct Laid<'a> {
    pub(crate) form: OutputForm,
    pub(crate) draft: &'a Draft,
    pub(crate) blocks: &'a [Block],
    pub(crate) breakpoints: &'a [Breakpoint],
    /// The text of a form that is one.
    pub(crate) text: &'a str,
    /// The problems on the way to it, for a form that no provider takes.
    pub(crate) problems: &'a [Problem],
}

impl Laid<'_> {
    /// The request made of the blocks, with a cache marker at the end of each band that has a
    /// breakpoint. `None` when the form is not a request.
    pub(crate) fn request(self) -> Option<Request> {
        Some(self.request_in(Dialect::of(self.form)?))
    }

    fn request_in(self, dialect: Dialect) -> Request {
        let mut request = Request {
            dialect,
            fields: IndexMap::new(),
        };
        if let Some(model) = &self.draft.model {
            request.set("model", model);
        }
        match dialect {
            Dialect::Anthropic => anthropic::write(&mut request, self),
            Dialect::OpenAi => openai::write(&mut request, self),
            Dialect::Responses => responses::write(&mut request, self),
            Dialect::Flat => request.set(PROMPT, &self.text),
        }
        request
    }

    /// The JSON of a form that is no text: a request, or the blocks themselves.
    pub(crate) fn json(self) -> String {
        #[derive(Serialize)]
        struct Payload<'a> {
            version: &'static str,
            #[serde(skip_serializing_if = "Option::is_none")]
            model: Option<&'a str>,
            parts: &'a [Block],
            #[serde(skip_serializing_if = "<[Problem]>::is_empty")]
            problems: &'a [Problem],
        }
        if let Some(request) = self.request() {
            return request.body();
        }
        let payload = Payload {
            // The version of `docs/payload.schema.json`.
            version: "1.0",
            model: self.draft.model.as_deref(),
            parts: self.blocks,
            problems: self.problems,
        };
        #[expect(
            clippy::expect_used,
            reason = "texts, numbers, JSON and maps with string keys; an empty prompt would go out unnoticed"
        )]
        serde_json::to_string(&payload).expect("blocks and problems are always JSON")
    }
}

/// The blocks with their text, which is empty for tools and messages. Neighbouring chunks of one band
/// become one text, because each text costs a message around it.
fn joined(blocks: &[Block]) -> Vec<(&Block, String)> {
    let is_chunk = |block: &Block| matches!(block.body, BlockBody::Chunk { .. });
    let mut all: Vec<(&Block, String)> = Vec::new();
    for block in blocks {
        let text = match &block.body {
            BlockBody::Text { text, .. } | BlockBody::Chunk { text, .. } => text.as_str(),
            _ => "",
        };
        match all.last_mut() {
            Some((last, said)) if is_chunk(block) && is_chunk(last) && last.band == block.band => {
                said.push_str(text);
            }
            _ => all.push((block, text.to_owned())),
        }
    }
    all
}

/// A field of an object as text, if it is text.
pub(crate) fn text_field(raw: &RawJson, name: &str) -> Option<String> {
    let fields: IndexMap<String, RawJson> = raw.parse_as().ok()?;
    fields.get(name)?.parse_as().ok()
}
