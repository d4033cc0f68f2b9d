//! Makes the system prompt from an agent and a turn.
//!
//! Every template is rendered once, and its output is never parsed again: first the documents that
//! are templates, then the agent's own prompt, then the layout, in which the others are data. There
//! is always a prompt: if the layout cannot be rendered, the agent's own prompt takes its place,
//! and a problem says why.
//!
//! A template may show the messages, the tools and the query itself. The renderer records which of
//! them it used, so that nothing is shown twice.
//! them it used, so that nothing is shown twice.

mod documents;
mod shown;

use std::collections::BTreeMap;

use kitbag_core::problem::{Problem, ProblemKind};

use crate::agent::Agent;
use crate::chain::{PromptSource, own_prompt};
use crate::channel::{ChannelTurn, Mode};
use crate::context::{template_context, watched};
use crate::document::Documents;
use crate::key::SecurityKey;
use crate::layout::{LayoutFailure, ParsedLayout};
use crate::manifest::Layout;
use crate::props::overlay;
use crate::template::{Escape, RenderSettings, Template, Traced};
use crate::value::{Map, Value};

pub use shown::{ShownBy, SystemPrompt};

/// The sources of a system prompt besides the turn.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Sources<'a> {
    pub agent: &'a Agent,
    /// Its layout, if it was found.
    pub layout: Option<&'a Layout>,
    /// Props that win over those that the agent sets.
    pub props: Option<&'a Value>,
    /// The documents that may be included.
    pub documents: &'a Documents,
    /// Shared partials, in addition to those of the layout.
    pub partials: &'a BTreeMap<String, Template>,
    /// The template by which `formatConversation` shows messages, if not the built-in form.
    pub conversation: Option<&'a Template>,
    /// The environment variables that the configuration allows, and no others.
    pub env: Option<&'a Map>,
    /// The key of the conversation's epoch.
    pub key: &'a SecurityKey,
    /// On if specialties, capabilities and the working folder are appended.
    pub append: LegacyAppend,
}

/// The choice to append the fields that older layouts left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LegacyAppend {
    /// Nothing is appended: layouts show the fields where they want them.
    #[default]
    Off,
    /// Specialties, capabilities and the working folder follow the prompt.
    On,
}

impl<'a> Sources<'a> {
    /// Makes the sources of an agent without a layout, whose templates see no environment variable.
    #[must_use]
    pub fn new(
        agent: &'a Agent,
        documents: &'a Documents,
        partials: &'a BTreeMap<String, Template>,
        key: &'a SecurityKey,
    ) -> Self {
        Self {
            agent,
            layout: None,
            props: None,
            documents,
            partials,
            conversation: None,
            env: None,
            key,
            append: LegacyAppend::Off,
        }
    }

    /// Sets a layout.
    #[must_use]
    pub fn with_layout(mut self, layout: &'a Layout) -> Self {
        self.layout = Some(layout);
        self
    }
}

/// Renders the system prompt.
#[must_use]
pub fn system_prompt(sources: &Sources<'_>, turn: &ChannelTurn) -> SystemPrompt {
    let mut rendering = Rendering::new(sources, turn);
    // The layout is parsed first: its props are part of the context in which the agent's own prompt
    // is rendered.
    let layout = sources.layout.map(|layout| rendering.parsed(layout));
    let (own_source, own) = rendering.own_prompt();
    let rendered = layout.map(|parsed| rendering.layout(&parsed?, &own.text));
    let (source, mut traced) = match (sources.layout, rendered) {
        (Some(layout), Some(Ok(mut traced))) => {
            // The layout shows the agent's own prompt, and with it everything that this one shows.
            traced.used.extend(own.used);
            traced.queries += own.queries;
            let id = layout.id.clone();
            (PromptSource::Layout { id }, traced)
        }
        (Some(layout), Some(Err(reason))) => {
            let source = format!("layout {}", layout.id);
            rendering.report(&source, ProblemKind::Failed, format!("not used: {reason}"));
            (own_source, own)
        }
        _ => (own_source, own),
    };
    if sources.append == LegacyAppend::On {
        traced.text += &legacy_append(sources.agent, turn.mode);
    }
    // Compared with the finished text, so that a document shown by either template is not shown
    // again.
    let documents = rendering.not_shown(&traced.text);
    let mut prompt = SystemPrompt::new(traced, source, rendering.context);
    prompt.problems.splice(0..0, rendering.problems);
    prompt.documents = documents;
    prompt
}

struct Rendering<'a> {
    sources: &'a Sources<'a>,
    language: Option<&'a str>,
    context: Map,
    problems: Vec<Problem>,
}

impl<'a> Rendering<'a> {
    fn new(sources: &'a Sources<'a>, turn: &'a ChannelTurn) -> Self {
        let mut context = template_context(sources, turn);
        let props = props(sources).unwrap_or_else(|| Value::Map(Map::new()));
        context.insert("props".to_owned(), props);
        Self {
            sources,
            language: turn.language.as_deref(),
            context,
            problems: Vec::new(),
        }
    }

    /// Parses the layout, and puts the checked props into the context.
    fn parsed<'l>(&mut self, layout: &'l Layout) -> Result<ParsedLayout<'l>, LayoutFailure> {
        let parsed = ParsedLayout::new(layout, self.language, self.sources.partials)?;
        let props = parsed.props(props(self.sources).as_ref())?;
        self.problems.extend(props.problems);
        self.context.insert("props".to_owned(), props.props);
        Ok(parsed)
    }

    /// The agent's own prompt, rendered: the operator wrote it, and it may include documents. If it
    /// is no valid template, it is shown as written.
    fn own_prompt(&mut self) -> (PromptSource, Traced) {
        let (source, text) = own_prompt(self.sources.agent);
        let name = format!("agent {}, {}", self.sources.agent.id, source.describe());
        let traced = self.render_own(&name, &text).unwrap_or_else(|reason| {
            let message = format!("{reason}; it is shown as it was written");
            self.report("", ProblemKind::Failed, message);
            Traced {
                text,
                ..Traced::default()
            }
        });
        (source, traced)
    }

    fn render_own(&mut self, name: &str, text: &str) -> Result<Traced, LayoutFailure> {
        let template = Template::parse(name, text)?;
        let partials = self.sources.partials;
        let mut context = self.context.clone();
        self.add_documents(&mut context, &template, partials);
        let context = Value::Map(context);
        let settings = RenderSettings {
            escape: Escape::None,
            partials,
            conversation: self.sources.conversation,
            ..RenderSettings::default()
        };
        Ok(template.trace(&context, &settings, &watched(&context))?)
    }

    /// Renders the layout, with the agent's own prompt as data in it.
    fn layout(&mut self, parsed: &ParsedLayout<'_>, own: &str) -> Result<Traced, LayoutFailure> {
        let mut context = self.context.clone();
        self.add_documents(&mut context, &parsed.template, &parsed.partials);
        // Both places hold the rendered prompt, so no layout can parse it again.
        set_inline_prompt(&mut context, own);
        context.insert(
            "layout".to_owned(),
            Value::map([("system_prompt", own.into()), ("prompt", own.into())]),
        );
        let context = Value::Map(context);
        let traced = parsed.trace(&context, self.sources.conversation)?;
        self.context = context.into_map();
        Ok(traced)
    }

    fn report(&mut self, source: &str, kind: ProblemKind, message: String) {
        let problem = Problem::new(source, kind, message);
        // Documents are rendered more than once, and each round would report the same problem.
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}

/// The props of the agent, overlaid with those given for this prompt.
fn props(sources: &Sources<'_>) -> Option<Value> {
    let choice = sources.agent.layout.as_ref();
    let own = choice.and_then(|layout| layout.props.as_ref());
    overlay(own, sources.props)
}

/// Sets the agent's own prompt where layouts look that were written before `layout.system_prompt`.
fn set_inline_prompt(context: &mut Map, own: &str) {
    if let Some(Value::Map(agent)) = context.get_mut("agent")
        && let Some(Value::Map(inline)) = agent.get_mut("inline")
    {
        inline.insert("prompt".to_owned(), own.into());
    }
}

/// The lines that followed every prompt before layouts showed them. Their words and gaps are those
/// of the older program.
fn legacy_append(agent: &Agent, mode: Mode) -> String {
    let list = |items: &[String], none: &str| match items {
        [] => none.to_owned(),
        items => items.join(", "),
    };
    let (gap, usual) = match mode {
        Mode::Query => ("\n\n", "Analysis"),
        Mode::Execute => ("\n", "Implementation"),
    };
    format!(
        "{gap}Specialties: {}\nCapabilities: {}\nWorking Directory: {}",
        list(&agent.specialties, "General"),
        list(&agent.capabilities, usual),
        agent.working_directory.as_deref().unwrap_or("."),
    )
}
