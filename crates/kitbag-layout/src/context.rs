//! The data that a template sees.
//!
//! Texts from outside are neutralised here, once, so that no layout can forget it. The operator's
//! texts (the agent, its prompt, props) stay as they are.

use kitbag_core::envelope::ToolDefinition;
use kitbag_core::neutral::one_line;

use crate::channel::{ChannelTurn, PastMessage};
use crate::document::Document;
use crate::key::SecurityKey;
use crate::prompt::Sources;
use crate::reserved::{neutralise, neutralise_value};
use crate::template::{Escape, RenderSettings, Root, Template, TemplateError, Watched};
use crate::value::{Map, Value};

/// The context of a template without `documents`, `props` and `layout`, which depend on the
/// template.
pub(crate) fn template_context(sources: &Sources<'_>, turn: &ChannelTurn) -> Map {
    let agent = sources.agent.to_context();
    let query = neutralise(&turn.query).into_owned();
    // Words of ours and no text from outside, so they need no neutralising.
    let mode: Value = turn.mode.as_str().into();
    let platform: Value = turn.platform.as_str().into();
    let options: Value = sources.agent.options_for(turn.mode.as_str()).into();
    let env = neutralise_value(&Value::Map(sources.env.cloned().unwrap_or_default()));
    let vars = vars(turn, sources.key, &query);
    let tools = tools_context(&turn.tools);

    // Layouts in use read the same values in several places, so these appear under three names.
    let shared = [
        ("mode", mode.clone()),
        ("platform", platform.clone()),
        ("options", options),
        ("env", env.clone()),
        ("vars", vars.clone()),
    ];
    let session = shared.clone().into_iter().chain([("tools", tools.clone())]);
    let context = shared.into_iter().chain([("agent", agent.clone())]);
    let fields = [
        ("user_input", Value::Text(query)),
        ("agent", agent),
        ("agentMetadata", sources.agent.metadata()),
        ("mode", mode),
        ("platform", platform),
        ("messages", messages(turn)),
        ("tools", tools),
        ("env", env),
        ("vars", vars),
        ("session", Value::map(session)),
        ("context", Value::map(context)),
        ("skills", sources.agent.skills_context()),
        (
            "metadata",
            neutralise_value(&Value::Map(turn.metadata.clone())),
        ),
    ];
    Value::map(fields).into_map()
}

/// The values of a context that hold the messages, the tools and the query, in every place where it
/// repeats them.
pub(crate) fn watched(context: &Value) -> Vec<Watched<'_>> {
    let roots = [
        (Root::Messages, "messages"),
        (Root::Tools, "tools"),
        (Root::Query, "user_input"),
    ];
    let own = roots.into_iter();
    let own = own.filter_map(|(root, name)| Some((root, context.get(name)?)));
    let mirrors = MIRRORS.into_iter().filter_map(|name| context.get(name));
    own.chain(mirrors.flat_map(watched)).collect()
}

/// The fields in which a context repeats parts of itself.
pub(crate) const MIRRORS: [&str; 3] = ["vars", "session", "context"];

/// The context without messages and query, for texts that stay the same from turn to turn.
pub(crate) fn without_turn(context: &Map) -> Map {
    let is_of_turn = |name: &str| matches!(name, "messages" | "user_input");
    let lasting = context.iter().filter(|(name, _)| !is_of_turn(name));
    lasting
        .map(|(name, value)| match value {
            Value::Map(mirror) if MIRRORS.contains(&name.as_str()) => {
                (name.clone(), Value::Map(without_turn(mirror)))
            }
            _ => (name.clone(), value.clone()),
        })
        .collect()
}

/// The earlier messages as `formatConversation` shows them.
///
/// # Errors
/// When the template for conversations cannot be rendered.
pub fn formatted_history(
    turn: &ChannelTurn,
    conversation: Option<&Template>,
) -> Result<String, TemplateError> {
    let context = Value::map([
        ("messages", messages(turn)),
        ("platform", turn.platform.as_str().into()),
    ]);
    let settings = RenderSettings {
        escape: Escape::None,
        conversation,
        ..RenderSettings::default()
    };
    let template = Template::parse("history", "{{formatConversation messages platform}}")?;
    template.render(&context, &settings)
}

/// The fields of documents that are costly to make, so they are made only for templates that use
/// them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct DocumentFields {
    pub(crate) toc: bool,
    pub(crate) summary: bool,
}

impl DocumentFields {
    /// The fields that these templates may use.
    pub(crate) fn used_by(templates: &[&Template]) -> Self {
        let uses = |field: &str| {
            let mut paths = templates.iter().flat_map(|template| template.paths());
            paths.any(|used| used.parts.iter().any(|segment| segment == field))
        };
        Self {
            toc: uses("toc"),
            summary: uses("summary"),
        }
    }
}

/// A document as templates see it.
pub(crate) fn document_context(name: &str, document: &Document, fields: DocumentFields) -> Value {
    let mut context = vec![
        ("name", one_line(name).as_ref().into()),
        ("content", document.content.as_str().into()),
    ];
    if fields.toc {
        context.push(("toc", document.toc().into()));
    }
    if fields.summary {
        context.push(("summary", document.summary().into()));
    }
    if !document.files.is_empty() {
        let file = |(path, text): &(String, String)| {
            Value::map([
                ("path", path.as_str().into()),
                ("content", text.as_str().into()),
            ])
        };
        let files = document.files.iter().map(file).collect();
        context.push(("files", Value::List(files)));
    }
    neutralise_value(&Value::map(context))
}

/// The variables of the turn. The key is ours, even if the caller sets one.
fn vars(turn: &ChannelTurn, key: &SecurityKey, query: &str) -> Value {
    let mut vars = neutralise_value(&Value::Map(turn.vars.clone())).into_map();
    vars.insert("security_key".to_owned(), key.as_str().into());
    // Some older layouts read the query here.
    if !query.is_empty() {
        vars.insert("user_input".to_owned(), query.into());
    }
    Value::Map(vars)
}

/// The messages before the query. If several people speak, each has the `name` of its speaker.
fn messages(turn: &ChannelTurn) -> Value {
    let names = turn.has_several_speakers();
    let messages = turn.past().iter();
    Value::List(messages.map(|past| message(past, names)).collect())
}

fn message(message: &PastMessage, with_name: bool) -> Value {
    let mut fields = vec![
        ("text", said(&message.text).into()),
        ("isAssistant", message.is_assistant.into()),
        ("metadata", on_lines(&Value::Map(message.metadata.clone()))),
    ];
    if let (true, false, Some(name)) = (with_name, message.is_assistant, message.speaker()) {
        fields.push(("name", on_lines(&name.into())));
    }
    if !message.files.is_empty() {
        let files = on_lines(&Value::List(message.files.clone()));
        fields.push(("files", files));
    }
    Value::map(fields)
}

/// The value with each text on a single line. Names stand where a further line could pose as
/// another speaker.
fn on_lines(value: &Value) -> Value {
    value.map_texts(&|text| neutralise(&one_line(text)).into_owned())
}

/// The text of a message in which no line begins like those that name a speaker.
fn said(text: &str) -> String {
    neutralise(text).replace("\n**", "\n\\**")
}

fn tools_context(tools: &[ToolDefinition]) -> Value {
    // Sorted, so that the order in which servers answer does not change the prompt.
    let mut sorted: Vec<&ToolDefinition> = tools.iter().collect();
    sorted.sort_by(|one, two| one.name.cmp(&two.name));
    let list: Vec<Value> = sorted
        .into_iter()
        .map(|tool| {
            // Through text: the values of templates keep the order of keys. JSON always reads back.
            let schema = serde_json::to_string(&tool.input_schema)
                .and_then(|json| serde_json::from_str(&json))
                .unwrap_or_default();
            neutralise_value(&Value::map([
                ("name", tool.name.as_str().into()),
                ("description", tool.description.as_str().into()),
                ("input_schema", schema),
            ]))
        })
        .collect();
    let count = list.len() as u64;
    let list = Value::List(list);
    Value::map([
        ("count", count.into()),
        ("json", list.to_string().into()),
        ("list", list),
    ])
}
