//! How a project declares a document: by its text, or by the path to it.

use indexmap::IndexMap;

use crate::document::DocumentKind;
use crate::problem::Problems;
use crate::yaml::Field;

/// A document as a project declares it. Nothing has been opened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentEntry {
    /// Where its text is.
    pub source: DocumentSource,
    /// Its name for people, if it has one besides its key.
    pub name: Option<String>,
    /// What it is about.
    pub summary: Option<String>,
    /// The type of its text, such as `markdown`, as it is written.
    pub media_type: Option<String>,
    /// Whether it is a template (`render: true`).
    pub kind: DocumentKind,
    /// The file in which it is declared, as it was named to the reader.
    pub file: String,
    /// The line on which it is declared, from 1; 0 where it is not known.
    pub line: u64,
}

/// Where the text of a document is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentSource {
    /// In the project file.
    Text(String),
    /// In a file or in the files of a folder.
    Path(String),
}

impl DocumentEntry {
    /// A document of which nothing is known but where its text is.
    #[must_use]
    pub fn new(source: DocumentSource) -> Self {
        Self {
            source,
            name: None,
            summary: None,
            media_type: None,
            kind: DocumentKind::Text,
            file: String::new(),
            line: 0,
        }
    }

    /// Reads a map of names to documents.
    pub(crate) fn read_map(field: &Field<'_>, problems: &mut Problems) -> IndexMap<String, Self> {
        if field.map(problems).is_none() {
            return IndexMap::new();
        }
        field
            .entries()
            .filter_map(|entry| Some((entry.name().to_owned(), Self::read(&entry, problems)?)))
            .collect()
    }

    fn read(field: &Field<'_>, problems: &mut Problems) -> Option<Self> {
        let line = field.node.line;
        if let Some(text) = field.as_text() {
            let source = DocumentSource::Text(text.to_owned());
            return Some(Self {
                file: problems.file().to_owned(),
                line,
                ..Self::new(source)
            });
        }
        if !field.is_map() {
            return field.refuse(problems, "a text, or a map with `path` or `content`");
        }
        let known = ["path", "name", "content", "render", "summary", "type"];
        problems.warn_of_misspelt_keys(field, &known);
        let mut text = |name| {
            let field = field.get(name)?;
            field.text(problems)
        };
        let (path, content) = (text("path"), text("content"));
        let (name, summary, media_type) = (text("name"), text("summary"), text("type"));
        let kind = match field.get("render").and_then(|f| f.bool(problems)) {
            Some(true) => DocumentKind::Template,
            Some(false) | None => DocumentKind::Text,
        };
        let source = match (content, path) {
            (Some(_), Some(path)) => {
                problems.warning(field, format!("the content counts, not the path `{path}`"));
                DocumentSource::Text(field.get("content")?.text(problems)?)
            }
            (Some(content), None) => DocumentSource::Text(content),
            (None, Some(path)) if path.trim().is_empty() => {
                problems.error(field, "the path is empty");
                return None;
            }
            (None, Some(path)) => DocumentSource::Path(path),
            (None, None) => {
                let is_written = |name| field.get(name).is_some();
                // What is written but no text has been reported already.
                if !is_written("path") && !is_written("content") {
                    problems.error(field, "a document needs a `path` or a `content`");
                }
                return None;
            }
        };
        Some(Self {
            source,
            name,
            summary,
            media_type,
            kind,
            file: problems.file().to_owned(),
            line,
        })
    }
}
