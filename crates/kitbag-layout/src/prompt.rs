//! From an agent and a turn to the system prompt.
//!
//! Every template is rendered once, and what it renders is never parsed again: first the documents
//! that are templates, then the agent's own prompt, then the layout, in which the others are data.
//! There is always a prompt: where the layout cannot be rendered, the agent's own prompt stands
//! alone, and a note says why.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::agent::Agent;
use crate::builtin::manual;
use crate::chain::{PromptSource, own_prompt};
use crate::context::{DocumentFields, Known, Scope, document_context, template_context};
use crate::document::{Documents, Walk, asked_for, included, walks_over};
use crate::layout::{LayoutFailure, ParsedLayout};
use crate::manifest::Layout;
use crate::note::{Note, NoteKind};
use crate::props::merge;
use crate::reserved::neutralise;
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
    /// The documents that the agent is given and that the text does not show.
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
    SystemPrompt {
        documents: rendering.not_shown(&text),
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
            skills: &skills(agent),
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

    /// Adds the documents that the template may see: those it names, all of them where it walks over
    /// them, and, where the whole turn is shown, those that the agent is given. Elsewhere these have
    /// a place of their own in the prompt.
    fn add_documents(
        &mut self,
        context: &mut Map,
        template: &Template,
        partials: &BTreeMap<String, Template>,
    ) {
        let reachable = reachable(template, partials);
        let named: BTreeSet<String> = reachable.iter().flat_map(|used| included(used)).collect();
        let mut documents = Cow::Borrowed(self.sources.documents);
        for name in &named {
            if let (false, Some(manual)) = (documents.contains_key(name), manual(name)) {
                documents.to_mut().insert(name.clone(), manual);
            }
        }
        let asked: BTreeSet<String> = reachable.iter().flat_map(|used| asked_for(used)).collect();
        let is_unknown = |name: &&String| !documents.contains_key(*name) && !asked.contains(*name);
        for name in named.iter().filter(is_unknown) {
            let message = format!("{}: document `{name}` is not known", template.name());
            self.note(NoteKind::Document, message);
        }
        let all = reachable.iter().any(|used| walks_over(used));
        let given: &[String] = match self.scope {
            Scope::Whole => &self.sources.agent.documents,
            Scope::Lasting => &[],
        };
        let is_shown = |name: &&String| all || named.contains(*name) || given.contains(name);
        let shown = documents.keys().filter(is_shown);
        let rendered = self.rendered(&documents, shown);
        let fields = DocumentFields::used_by(&reachable);
        let contexts = rendered
            .iter()
            .map(|(name, document)| (name.as_str(), document_context(name, document, fields)));
        context.insert("documents".to_owned(), Value::map(contexts));
    }

    /// The documents of these names, those that are templates rendered; one that cannot be is told
    /// and left out.
    fn rendered<'n>(
        &mut self,
        documents: &Documents,
        names: impl Iterator<Item = &'n String>,
    ) -> Documents {
        let settings = RenderSettings::new()
            .with_escape(Escape::None)
            .with_partials(self.sources.partials);
        let mut walk = Walk::new(documents, &self.context, &settings);
        let mut rendered = Documents::new();
        let mut failed = Vec::new();
        for name in names {
            match walk.document(name) {
                Ok(Some(document)) => {
                    rendered.insert(name.clone(), document);
                }
                Ok(None) => {}
                Err(error) => failed.push(error.to_string()),
            }
        }
        for message in failed {
            self.note(NoteKind::Document, message);
        }
        rendered
    }

    /// The documents that the agent is given and that do not stand in the text yet.
    fn not_shown(&mut self, text: &str) -> Documents {
        let given = &self.sources.agent.documents;
        let documents = self.sources.documents;
        let names = documents.keys().filter(|name| given.contains(name));
        let mut rendered = self.rendered(documents, names);
        rendered.retain(|_, document| {
            let content = neutralise(document.content.trim());
            !content.is_empty() && !text.contains(content.as_ref())
        });
        rendered
    }

    /// The props of the agent, with those over them that were given for this prompt.
    fn props(&self) -> Option<Value> {
        let choice = self.sources.agent.layout.as_ref();
        let own = choice.and_then(|layout| layout.props.as_ref());
        match (own, self.sources.props) {
            (Some(Value::Map(own)), Some(Value::Map(over))) => {
                Some(Value::Map(merge(own, Some(over))))
            }
            (own, over) => over.or(own).cloned(),
        }
    }

    fn note(&mut self, kind: NoteKind, message: String) {
        let note = Note::new(kind, message);
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// The template, and all partials that it can reach.
fn reachable<'a>(
    template: &'a Template,
    partials: &'a BTreeMap<String, Template>,
) -> Vec<&'a Template> {
    let mut seen = BTreeSet::new();
    let mut reached = vec![template];
    let mut next = 0;
    while let Some(template) = reached.get(next) {
        let names: Vec<&str> = template
            .partials()
            .filter(|name| seen.insert(*name))
            .collect();
        reached.extend(names.iter().filter_map(|name| partials.get(*name)));
        next += 1;
    }
    reached
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

/// The skills as a list, however they are written: names, or descriptions of each.
fn skills(agent: &Agent) -> Value {
    match &agent.skills {
        Some(Value::List(skills)) => Value::List(skills.clone()),
        Some(Value::Map(skills)) => match skills.get("include") {
            Some(Value::List(included)) => Value::List(included.clone()),
            _ => Value::List(Vec::new()),
        },
        _ => Value::List(Vec::new()),
    }
}
