//! Renders a layout with a context that another program put together.
//!
//! The context is used as it is; nothing of a project is added to it.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use crate::chain::PromptSource;
use crate::channel::{ChannelTurn, Mode, PlatformError};
use crate::context::MIRRORS;
use crate::key::SecurityKey;
use crate::layout::{LayoutFailure, ParsedLayout};
use crate::manifest::Layout;
use crate::prompt::SystemPrompt;
use crate::props::overlay;
use crate::reserved::neutralise_value;
use crate::template::Template;
use crate::value::{Map, Value};

/// The operator's parts of a context, which stay as they are.
const OPERATOR: [&str; 5] = ["agent", "agentMetadata", "layout", "props", "skills"];

/// A layout with the context to render it with.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Given<'a> {
    pub layout: &'a Layout,
    pub context: &'a Map,
    /// Props that win over those of the context.
    pub props: Option<&'a Value>,
    /// Shared partials, in addition to those of the layout.
    pub partials: &'a BTreeMap<String, Template>,
    /// The template by which `formatConversation` shows messages, if not the built-in form.
    pub conversation: Option<&'a Template>,
    /// The language of the prompt.
    pub language: Option<&'a str>,
}

impl<'a> Given<'a> {
    /// Makes a request without further props.
    #[must_use]
    pub fn new(
        layout: &'a Layout,
        context: &'a Map,
        partials: &'a BTreeMap<String, Template>,
    ) -> Self {
        Self {
            layout,
            context,
            props: None,
            partials,
            conversation: None,
            language: None,
        }
    }

    /// Renders the layout. Texts from outside are neutralised, and this key replaces all others.
    ///
    /// # Errors
    /// When the layout cannot be rendered with this context: there is no other prompt to fall back
    /// to.
    pub fn render(&self, key: &SecurityKey) -> Result<SystemPrompt, LayoutFailure> {
        let parsed = ParsedLayout::new(self.layout, self.language, self.partials)?;
        // Props of the command line win over those of the file, as options do elsewhere.
        let given = overlay(self.context.get("props"), self.props);
        let props = parsed.props(given.as_ref())?;
        // Before rendering: whoever made the context may have passed on what users said.
        let mut context = neutralised(self.context, key);
        context.insert("props".to_owned(), props.props);
        let context = Value::Map(context);
        let traced = parsed.trace(&context, self.conversation)?;
        let id = self.layout.id.clone();
        let source = PromptSource::Layout { id };
        let mut prompt = SystemPrompt::new(traced, source, context.into_map());
        prompt.problems.splice(0..0, props.problems);
        Ok(prompt)
    }
}

/// The context with texts from outside neutralised, and with this key in place of all others.
fn neutralised(context: &Map, key: &SecurityKey) -> Map {
    let mut neutralised: Map = context
        .iter()
        .map(|(name, value)| {
            let value = match OPERATOR.contains(&name.as_str()) {
                // The operator's own words may hold tags on purpose.
                true => value.clone(),
                false => neutralise_value(value),
            };
            (name.clone(), value)
        })
        .collect();
    let vars = neutralised
        .entry("vars".to_owned())
        .or_insert_with(|| Value::Map(Map::new()));
    if let Value::Map(vars) = vars {
        vars.insert("security_key".to_owned(), key.as_str().into());
    }
    // An old key in a copy would let old text speak as the operator.
    set_key(&mut neutralised, key);
    neutralised
}

/// Sets the key in every place where the context repeats it.
fn set_key(context: &mut Map, key: &SecurityKey) {
    if let Some(known) = context.get_mut("security_key") {
        *known = key.as_str().into();
    }
    for name in MIRRORS {
        if let Some(Value::Map(mirror)) = context.get_mut(name) {
            set_key(mirror, key);
        }
    }
}

/// Every text of a context except its keys. If one of them contains the key, another must be drawn.
#[must_use]
pub fn texts(context: &Map) -> Vec<&str> {
    let mut texts = Vec::new();
    for (name, value) in context {
        match value {
            Value::Map(mirror) if MIRRORS.contains(&name.as_str()) => {
                texts.extend(self::texts(mirror));
            }
            _ if name == "security_key" => {}
            _ => value.collect_texts(&mut texts),
        }
    }
    texts
}

/// The key of a context, if it has a valid one.
#[must_use]
pub fn key_of(context: &Map) -> Option<SecurityKey> {
    let key = context.get("vars")?.get("security_key")?.as_text()?;
    key.parse().ok()
}

/// The turn that a context describes.
///
/// # Errors
/// When its platform, its mode or a message is invalid.
pub fn turn_of(context: &Map) -> Result<ChannelTurn, GivenError> {
    let text = |name: &str| context.get(name).and_then(Value::as_text);
    let mut turn = ChannelTurn::new(text("user_input").unwrap_or_default());
    if let Some(platform) = text("platform") {
        turn.platform = platform.parse()?;
    }
    turn.mode = match text("mode") {
        None | Some("query") => Mode::Query,
        Some("execute") => Mode::Execute,
        Some(other) => {
            return Err(GivenError::Mode {
                mode: other.to_owned(),
            });
        }
    };
    if let Some(Value::Map(metadata)) = context.get("metadata") {
        turn.metadata.clone_from(metadata);
    }
    let tools = context.get("tools").and_then(|tools| tools.get("list"));
    turn.tools = read_list("tools.list", tools)?;
    turn.messages = read_list("messages", context.get("messages"))?;
    Ok(turn)
}

/// Reads a list of values that have a JSON form.
fn read_list<T: DeserializeOwned>(
    name: &'static str,
    list: Option<&Value>,
) -> Result<Vec<T>, GivenError> {
    let items = list.and_then(Value::as_list).unwrap_or_default();
    let read = |(index, item)| {
        // Through text, because values of templates keep the order of keys and serde's own do not.
        let json = serde_json::to_string(item);
        json.and_then(|json| serde_json::from_str(&json))
            .map_err(|error| GivenError::Item {
                name,
                index,
                reason: error.to_string(),
            })
    };
    items.iter().enumerate().map(read).collect()
}

/// Reasons why a context describes no turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GivenError {
    /// The platform is no name of a channel.
    #[error("platform: {0}")]
    Platform(#[from] PlatformError),
    /// The mode is unknown.
    #[error("mode: expected `query` or `execute`, got `{mode}`")]
    Mode {
        /// The mode as given.
        mode: String,
    },
    /// A message or a tool is invalid.
    #[error("{name}[{index}]: {reason}")]
    Item {
        /// The list.
        name: &'static str,
        /// Its index in the list, from 0.
        index: usize,
        reason: String,
    },
}
