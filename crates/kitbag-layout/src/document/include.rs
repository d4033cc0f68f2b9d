//! Finds the documents that a template includes, and renders those that are templates themselves.
//!
//! The prompt decides what a template may see.

use std::collections::{BTreeMap, BTreeSet};

use super::{Document, DocumentKind, Documents};
use crate::context::{DocumentFields, document_context};
use crate::template::{PathUse, RenderSettings, Template, TemplateError};
use crate::value::{Map, Value};

/// The most documents that may lead from one to the next.
const DEEPEST: usize = 32;

/// Reasons why a document cannot be included.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DocumentError {
    /// It includes itself, directly or through others.
    #[error("document `{}` includes itself: {}", chain.first().map_or("", String::as_str), chain.join(" → "))]
    Cycle {
        /// The documents from one to itself.
        chain: Vec<String>,
    },
    /// Documents include each other over too many levels.
    #[error("document `{name}` is included over more than {DEEPEST} others")]
    TooDeep { name: String },
    /// It is a template that cannot be rendered.
    #[error("document `{name}`: {error}")]
    Template {
        name: String,
        /// The reason.
        error: TemplateError,
    },
}

/// The names of documents that a template includes.
pub(crate) fn included(template: &Template) -> BTreeSet<String> {
    template
        .paths()
        .filter_map(|used| document(&used))
        .collect()
}

/// The names of documents that a template tests before it includes them: they may be missing.
pub(crate) fn tested(template: &Template) -> BTreeSet<String> {
    let tested = template.paths().filter(|used| used.is_asked);
    tested.filter_map(|used| document(&used)).collect()
}

fn document(used: &PathUse<'_>) -> Option<String> {
    match used.parts {
        [first, name, ..] if first == "documents" => Some(name.clone()),
        // `@root.documents.x` within a block.
        [root, first, name, ..] if root == "root" && first == "documents" => Some(name.clone()),
        _ => None,
    }
}

/// Returns true if a template iterates over the documents.
pub(crate) fn walks_over(template: &Template) -> bool {
    let is_all = |used: PathUse<'_>| matches!(used.parts, [only] if only == "documents");
    template.paths().any(is_all)
}

/// Renders documents that are templates. Each is rendered once, after those it includes.
pub(crate) struct Walk<'a> {
    documents: &'a Documents,
    context: &'a Map,
    settings: &'a RenderSettings<'a>,
    done: BTreeMap<String, Document>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(
        documents: &'a Documents,
        context: &'a Map,
        settings: &'a RenderSettings<'a>,
    ) -> Self {
        Self {
            documents,
            context,
            settings,
            done: BTreeMap::new(),
        }
    }

    /// The document of this name, rendered if it is a template; none if it does not exist.
    pub(crate) fn document(&mut self, name: &str) -> Result<Option<Document>, DocumentError> {
        self.render(name, &mut Vec::new())?;
        let known = self.done.get(name).or(self.documents.get(name));
        Ok(known.cloned())
    }

    /// Renders a document. `path` holds the documents that led to it.
    fn render(&mut self, name: &str, path: &mut Vec<String>) -> Result<(), DocumentError> {
        let Some(document) = self.documents.get(name) else {
            return Ok(());
        };
        if document.kind == DocumentKind::Text || self.done.contains_key(name) {
            return Ok(());
        }
        if let Some(start) = path.iter().position(|seen| seen == name) {
            let chain = path.iter().skip(start).cloned();
            let chain = chain.chain([name.to_owned()]).collect();
            return Err(DocumentError::Cycle { chain });
        }
        if path.len() == DEEPEST {
            return Err(DocumentError::TooDeep {
                name: name.to_owned(),
            });
        }
        let failed = |error| DocumentError::Template {
            name: name.to_owned(),
            error,
        };
        let template = Template::parse(name, &document.content).map_err(failed)?;
        let names = included(&template);
        path.push(name.to_owned());
        for include in &names {
            self.render(include, path)?;
        }
        path.pop();
        let fields = DocumentFields::used_by(&[&template]);
        let includes = names.iter().filter_map(|include| {
            let known = self.done.get(include).or(self.documents.get(include))?;
            Some((include.as_str(), document_context(include, known, fields)))
        });
        // A document sees only the documents it names: a template cannot list the others through
        // another one.
        let mut context = self.context.clone();
        context.insert("documents".to_owned(), Value::map(includes));
        let content = template
            .render(&Value::Map(context), self.settings)
            .map_err(failed)?;
        let rendered = Document {
            content,
            kind: DocumentKind::Text,
            ..document.clone()
        };
        self.done.insert(name.to_owned(), rendered);
        Ok(())
    }
}
