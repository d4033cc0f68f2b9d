//! Reads how a project declares a document: by its text, or by a path.

use indexmap::IndexMap;

use crate::document::DocumentKind;
use crate::yaml::Field;

/// A document as a project declares it. Nothing has been opened yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentEntry {
    /// The place of its text.
    pub source: DocumentSource,
    /// Its name for people, if it has one besides its key.
    pub name: Option<String>,
    /// Its topic.
    pub summary: Option<String>,
    /// The type of its text as written, such as `markdown`.
    pub media_type: Option<String>,
    /// `Template` if it is to be rendered (`render: true`).
    pub kind: DocumentKind,
    /// The file that declares it, by the name given to the reader.
    pub file: String,
    /// The line of its declaration, from 1; 0 if unknown.
    pub line: u64,
}

/// The place of a document's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentSource {
    /// In the project file.
    Text(String),
    /// In a file or in the files of a folder.
    Path(String),
}

impl DocumentEntry {
    /// Reads a map of names to documents.
    pub(crate) fn read_map(field: &Field<'_>) -> Option<IndexMap<String, Self>> {
        field.read_entries(Self::read)
    }

    fn read(field: &Field<'_>) -> Option<Self> {
        let source = match field.as_text() {
            Some(text) => Some(DocumentSource::Text(text.to_owned())),
            None if field.is_map() => DocumentSource::read(field),
            None => field.refuse("a text, or a map with `path` or `content`"),
        };
        let name = field.read("name", Field::text);
        let summary = field.read("summary", Field::text);
        let media_type = field.read("type", Field::text);
        let kind = match field.read("render", Field::bool) {
            Some(true) => DocumentKind::Template,
            Some(false) | None => DocumentKind::Text,
        };
        field.warn_of_misspelt_keys(&[]);
        Some(Self {
            source: source?,
            name,
            summary,
            media_type,
            kind,
            file: field.problems.file().to_owned(),
            line: field.node.line,
        })
    }
}

impl DocumentSource {
    fn read(field: &Field<'_>) -> Option<Self> {
        let (path, content) = (field.get("path"), field.get("content"));
        let is_written = path.is_some() || content.is_some();
        let path = path.and_then(|path| path.text());
        match (content.and_then(|content| content.text()), path) {
            (Some(content), path) => {
                if let Some(path) = path {
                    field.warning(format!("the content counts, not the path `{path}`"));
                }
                Some(Self::Text(content))
            }
            (None, Some(path)) if path.trim().is_empty() => field.error("the path is empty"),
            (None, Some(path)) => Some(Self::Path(path)),
            // A value that is no text has been reported already.
            (None, None) if is_written => None,
            (None, None) => field.error("a document needs a `path` or a `content`"),
        }
    }
}
