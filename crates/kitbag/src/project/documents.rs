//! The documents of a project: written in its configuration, or read from files below its root.
//!
//! Their secrets are replaced; templates among them are rendered elsewhere.

use std::path::{Path, PathBuf};

use kitbag_layout::config::{DocumentEntry, DocumentSource};
use kitbag_layout::document::DocumentKind;
use kitbag_layout::{Agent, Document, Documents, FileProblem};

use super::Project;
use super::files::{TEXT_LIMIT, read_text};
use super::root::{Root, RootError};
use crate::engine::{Redaction, clean};

/// The most files of a folder that is a document.
const MOST_FILES: usize = 500;

/// The documents that were read, and the problems of the others.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ProjectDocuments {
    /// The documents by name.
    pub documents: Documents,
    /// Documents that could not be read.
    pub problems: Vec<FileProblem>,
    /// Files of folders that are no texts, or cannot be read.
    pub skipped: Vec<String>,
    /// Secrets that were replaced in them.
    pub redactions: Vec<Redaction>,
}

impl Project {
    /// The documents that an agent can include: the project's, and its own, which replace those of the same
    /// name.
    #[must_use]
    pub fn documents(&self, agent: Option<&Agent>) -> ProjectDocuments {
        let own = agent.into_iter().flat_map(|agent| &agent.own_documents);
        self.read(self.config.documents.iter().chain(own))
    }

    /// Reads one of the project's documents, if it has one of this name.
    #[must_use]
    pub fn document(&self, name: &str) -> Option<Result<Document, FileProblem>> {
        let entry = self.config.documents.get_key_value(name)?;
        let mut read = self.read([entry]);
        match read.problems.pop() {
            Some(problem) => Some(Err(problem)),
            None => read.documents.shift_remove(name).map(Ok),
        }
    }

    /// Reads the documents of these entries.
    pub(super) fn read<'a>(
        &self,
        entries: impl IntoIterator<Item = (&'a String, &'a DocumentEntry)>,
    ) -> ProjectDocuments {
        let mut read = ProjectDocuments::default();
        for (name, entry) in entries {
            let document = match read.document(entry, &self.root_of(entry)) {
                Ok(document) => document,
                Err(error) => {
                    let problem = FileProblem::error(&entry.file, error.to_string());
                    let problem = problem.at(entry.line, 0).of(format!("documents.{name}"));
                    read.problems.push(problem.with_hint(HINT));
                    // The name stays known, so that including it is not reported as a second problem.
                    Document::new("", "")
                }
            };
            read.documents.insert(name.clone(), document);
        }
        read
    }

    /// The folder that a document is read from: the one that the settings name, or that of the file
    /// in which it is declared.
    fn root_of(&self, entry: &DocumentEntry) -> PathBuf {
        if entry.file != self.config_name {
            return super::folder_of(Path::new(&entry.file));
        }
        match &self.config.settings.documents_root {
            // Only documents of the project's own configuration follow this setting: a path in the user's file
            // means the user's folder.
            Some(folder) => self.root.join(folder),
            None => self.root.clone(),
        }
    }
}

const HINT: &str = "documents are read from beneath the folder of the configuration, or from \
                    `settings.documents_root`";

impl ProjectDocuments {
    fn document(&mut self, entry: &DocumentEntry, folder: &Path) -> Result<Document, RootError> {
        let mut document = match &entry.source {
            DocumentSource::Text(text) => Document::new(text, "configuration"),
            DocumentSource::Path(path) => self.read_path(path, &Root::open(folder)?)?,
        };
        if let Some(summary) = &entry.summary {
            document = document.with_summary(summary);
        }
        Ok(match entry.kind {
            DocumentKind::Template => document.as_template(),
            DocumentKind::Text => document,
        })
    }

    fn read_path(&mut self, path: &str, root: &Root) -> Result<Document, RootError> {
        let found = root.resolve(path)?;
        if !found.is_dir() {
            return Ok(Document::new(self.read_file(path, &found)?, path));
        }
        let mut files = Vec::new();
        let mut size = 0;
        let too_large = || RootError::TooLarge {
            path: path.to_owned(),
        };
        for below in root.files(path, MOST_FILES)?.ok_or_else(too_large)? {
            let file = root.resolve(&below)?;
            // A picture in the folder must not make its texts unusable.
            let Ok(text) = self.read_file(&below, &file) else {
                self.skipped.push(below);
                continue;
            };
            size += text.len();
            if size > TEXT_LIMIT {
                return Err(too_large());
            }
            files.push((below, text));
        }
        Ok(Document::folder(files, path))
    }

    /// The text of a file without its secrets.
    fn read_file(&mut self, path: &str, file: &Path) -> Result<String, RootError> {
        let text = read_text(file).map_err(RootError::unreadable(path))?;
        let cleaned = clean(&text, path);
        self.redactions.extend(cleaned.redacted);
        Ok(cleaned.text.into_owned())
    }
}
