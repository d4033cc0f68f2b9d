//! Chooses the documents of a prompt: those that a template shows, and those that are left to the
//! fit.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use kitbag_core::problem::ProblemKind;

use super::Rendering;
use crate::builtin::manual;
use crate::context::{DocumentFields, document_context, without_turn};
use crate::document::{Documents, Walk, included, tested, walks_over};
use crate::reserved::neutralise;
use crate::template::{Escape, RenderSettings, Template};
use crate::value::{Map, Value};

impl Rendering<'_> {
    /// Adds the documents that the template may see: those that it names; all of them if it
    /// iterates over them; and those of the agent if it includes the shared partial for these. The
    /// others have a place of their own in the prompt.
    pub(super) fn add_documents(
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
        let optional: BTreeSet<String> = reachable.iter().flat_map(|used| tested(used)).collect();
        let is_unknown =
            |name: &&String| !documents.contains_key(*name) && !optional.contains(*name);
        for name in named.iter().filter(is_unknown) {
            let message = format!("{}: document `{name}` is not known", template.name());
            self.report("", ProblemKind::NotFound, message);
        }
        // Shared partials iterate to show the agent's documents, an author's own template to show
        // all.
        let is_shared = |used: &Template| used.name().starts_with("kitbag/");
        let mut walking = reachable.iter().filter(|used| walks_over(used));
        let all = walking.clone().any(|used| !is_shared(used));
        let given: &[String] = match walking.any(|used| is_shared(used)) {
            true => &self.sources.agent.documents,
            false => &[],
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

    /// Renders the documents of these names. One that cannot be rendered is reported and left out.
    fn rendered<'n>(
        &mut self,
        documents: &Documents,
        names: impl Iterator<Item = &'n String>,
    ) -> Documents {
        let settings = RenderSettings {
            escape: Escape::None,
            partials: self.sources.partials,
            ..RenderSettings::default()
        };
        // Without the turn: a document that showed the query would change the beginning of every
        // prompt.
        let lasting = without_turn(&self.context);
        let mut walk = Walk::new(documents, &lasting, &settings);
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
            self.report("", ProblemKind::Failed, message);
        }
        rendered
    }

    /// The documents of the agent that the text does not show yet.
    pub(super) fn not_shown(&mut self, text: &str) -> Documents {
        let given = &self.sources.agent.documents;
        let documents = self.sources.documents;
        let names = documents.keys().filter(|name| given.contains(name));
        let mut rendered = self.rendered(documents, names);
        rendered.retain(|_, document| {
            // Neutralised as the template saw it, since that is how the text contains it.
            let content = neutralise(document.content.trim());
            !content.is_empty() && !text.contains(content.as_ref())
        });
        rendered
    }
}

/// The template and all partials that it can reach. `seen` ends cycles among them.
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
