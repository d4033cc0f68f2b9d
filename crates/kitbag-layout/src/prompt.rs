//! From an agent and a turn to the system prompt.
//!
//! Every template is rendered once, and what it renders is never parsed again: first the documents
//! that are templates, then the agent's own prompt, then the layout, in which the others are data.
//! There is always a prompt: where the layout cannot be rendered, the agent's own prompt stands
//! alone, and a note says why.

mod documents;

use std::collections::BTreeMap;

use crate::agent::Agent;
use crate::chain::{PromptSource, own_prompt};
use crate::context::{Known, Scope, template_context};
use crate::document::Documents;
use crate::layout::{LayoutFailure, ParsedLayout};
use crate::manifest::Layout;
use crate::note::{Note, NoteKind};
use crate::props::overlay;
use crate::template::{Escape, RenderSettings, Template};
use crate::turn::{Mode, Turn};
use crate::value::{Map, Value};

/// All that a system prompt is made of, besides the turn.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Sources<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// Its layout, if it was found.
    pub layout: Option<&'a Layout>,
    /// Props that stand over those that the agent sets.
    pub props: Option<&'a Value>,
    /// The documents that may be included.
    pub documents: &'a Documents,
    /// Shared pieces, besides those of the layout.
    pub partials: &'a BTreeMap<String, Template>,
    /// How `formatConversation` shows messages, if not in its own way.
    pub conversation: Option<&'a Template>,
    /// Whether specialties, capabilities and the working folder are appended.
    pub append: LegacyAppend,
}

/// Whether the prompt ends in what older layouts left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LegacyAppend {
    /// Layouts show it where they want it.
    #[default]
    Off,
    /// Specialties, capabilities and the working folder follow the prompt.
    On,
}

impl<'a> Sources<'a> {
    /// An agent without layout, documents or partials.
    #[must_use]
    pub fn new(
        agent: &'a Agent,
        documents: &'a Documents,
        partials: &'a BTreeMap<String, Template>,
    ) -> Self {
        Self {
            agent,
            layout: None,
            props: None,
            documents,
            partials,
            conversation: None,
            append: LegacyAppend::Off,
        }
    }

    /// The same with a layout.
    #[must_use]
    pub fn with_layout(mut self, layout: &'a Layout) -> Self {
        self.layout = Some(layout);
        self
    }
}

/// A system prompt, and how it came about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SystemPrompt {
    /// The text.
    pub text: String,
    /// Where it comes from.
    pub source: PromptSource,
    /// What went wrong or was left out, in the order in which it was met.
    pub notes: Vec<Note>,
    /// The documents that the agent is given and that the text does not show; none where the layout
    /// was handed all of them.
    pub documents: Documents,
}

impl SystemPrompt {
    /// A system prompt without notes.
    #[must_use]
    pub fn new(text: impl Into<String>, source: PromptSource) -> Self {
        Self {
            text: text.into(),
            source,
            notes: Vec::new(),
            documents: Documents::new(),
        }
    }
}

/// Renders the system prompt.
#[must_use]
pub fn system_prompt(sources: &Sources<'_>, turn: &Turn, scope: Scope) -> SystemPrompt {
    let mut rendering = Rendering::new(sources, turn, scope);
    let (own_source, own) = rendering.own_prompt();
    let (source, text) = match sources.layout {
        None => (own_source, own),
        Some(layout) => match rendering.layout(layout, &own) {
            Ok(text) => {
                let id = layout.id.clone();
                (PromptSource::Layout { id }, text)
            }
            Err(reason) => {
                let message = format!("layout {} was not used: {reason}", layout.id);
                rendering.note(NoteKind::Fallback, message);
                (own_source, own)
            }
        },
    };
    let appended = match sources.append {
        LegacyAppend::Off => String::new(),
        LegacyAppend::On => legacy_append(sources.agent, turn.mode),
    };
    let text = text + &appended;
    let documents = match scope {
        // The layout itself shows them there.
        Scope::Whole => Documents::new(),
        Scope::Lasting => rendering.not_shown(&text),
    };
    SystemPrompt {
        documents,
        text,
        source,
        notes: rendering.notes,
    }
}

struct Rendering<'a> {
    sources: &'a Sources<'a>,
    turn: &'a Turn,
    scope: Scope,
    context: Map,
    notes: Vec<Note>,
}

impl<'a> Rendering<'a> {
    fn new(sources: &'a Sources<'a>, turn: &'a Turn, scope: Scope) -> Self {
        let agent = sources.agent;
        let known = Known {
            agent: &agent.to_context(),
            metadata: &agent.metadata(),
            options: &agent.options_for(turn.mode.as_str()).to_vec().into(),
            skills: &agent.skills_context(),
        };
        Self {
            sources,
            turn,
            scope,
            context: template_context(known, turn, scope),
            notes: Vec::new(),
        }
    }

    /// The agent's own prompt, rendered: it is the operator's, and may include documents. Where it
    /// is no template, it stands as it was written.
    fn own_prompt(&mut self) -> (PromptSource, String) {
        let (source, text) = own_prompt(self.sources.agent);
        let name = format!("agent {}, {}", self.sources.agent.id, source.describe());
        match self.render_own(&name, &text) {
            Ok(text) => (source, text),
            Err(reason) => {
                let message = format!("{reason}; it is shown as it was written");
                self.note(NoteKind::Template, message);
                (source, text)
            }
        }
    }

    fn render_own(&mut self, name: &str, text: &str) -> Result<String, LayoutFailure> {
        let template = Template::parse(name, text)?;
        let partials = self.sources.partials;
        let settings = RenderSettings::new()
            .with_escape(Escape::None)
            .with_partials(partials)
            .with_conversation(self.sources.conversation);
        let mut context = self.context.clone();
        self.add_documents(&mut context, &template, partials);
        Ok(template.render(&Value::Map(context), &settings)?)
    }

    /// The layout, with the agent's own prompt as data in it.
    fn layout(&mut self, layout: &Layout, own: &str) -> Result<String, LayoutFailure> {
        let given = self.props();
        let language = self.turn.language.as_deref();
        let parsed = ParsedLayout::new(layout, language, self.sources.partials)?;
        let props = parsed.props(given.as_ref())?;
        self.notes.extend(props.notes);
        let mut context = self.context.clone();
        self.add_documents(&mut context, &parsed.template, &parsed.partials);
        set_inline_prompt(&mut context, own);
        context.insert("props".to_owned(), props.props);
        context.insert(
            "layout".to_owned(),
            Value::map([("system_prompt", own.into()), ("prompt", own.into())]),
        );
        parsed.render(&Value::Map(context), self.sources.conversation)
    }

    /// The props of the agent, with those over them that were given for this prompt.
    fn props(&self) -> Option<Value> {
        let choice = self.sources.agent.layout.as_ref();
        let own = choice.and_then(|layout| layout.props.as_ref());
        overlay(own, self.sources.props)
    }

    fn note(&mut self, kind: NoteKind, message: String) {
        let note = Note::new(kind, message);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// Layouts that were written before `layout.system_prompt` find the agent's own prompt here.
fn set_inline_prompt(context: &mut Map, own: &str) {
    if let Some(Value::Map(agent)) = context.get_mut("agent") {
        let inline = agent
            .entry("inline".to_owned())
            .or_insert_with(|| Value::Map(Map::new()));
        if let Value::Map(inline) = inline {
            inline.insert("prompt".to_owned(), own.into());
        }
    }
}

/// What stood behind every prompt before layouts showed it.
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
