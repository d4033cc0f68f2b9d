//! Documents that layouts and prompts include by name.
//!
//! They are received as texts: reading files, and keeping them inside their root, is up to the
//! caller. A document is data. Only one that the operator marked as a template is rendered, and
//! then once.

mod include;
mod toc;

use indexmap::IndexMap;
use kitbag_core::neutral::one_line;
use kitbag_core::summarize::{Speaker, Utterance, extract};
use kitbag_core::tokens::{Characters, Tokens};

pub use include::DocumentError;
pub(crate) use include::{Walk, included, tested, walks_over};
pub use toc::table_of_contents;

/// Documents by name, in the order in which they were declared.
pub type Documents = IndexMap<String, Document>;

/// The most characters of a summary that is extracted from the text.
const SUMMARY: Tokens = Tokens(280);

/// A document.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Document {
    /// The text.
    pub content: String,
    /// Its topic, if somebody wrote a summary.
    pub summary: Option<String>,
    /// Its origin for people: a path, or the name of a channel.
    pub origin: String,
    /// Text or template, which only the operator decides.
    pub kind: DocumentKind,
    /// The files of a folder, as pairs of path and text.
    pub files: Vec<(String, String)>,
}

/// The nature of a document's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// Data, shown as it is.
    Text,
    /// A template by the operator, rendered before it is included.
    Template,
}

impl Document {
    /// Makes a document that is shown as it is.
    #[must_use]
    pub fn new(content: impl Into<String>, origin: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            summary: None,
            origin: origin.into(),
            kind: DocumentKind::Text,
            files: Vec::new(),
        }
    }

    /// Makes a document of several files, each under a heading with its path.
    #[must_use]
    pub fn folder(files: Vec<(String, String)>, origin: impl Into<String>) -> Self {
        let mut content = String::new();
        for (path, text) in &files {
            let gap = if content.is_empty() { "" } else { "\n" };
            let newline = if text.ends_with('\n') { "" } else { "\n" };
            // A file name may contain a line break, which would end the heading.
            let path = one_line(path);
            content.push_str(&format!("{gap}# {path}\n\n{text}{newline}"));
        }
        Self {
            files,
            ..Self::new(content, origin)
        }
    }

    /// Sets a summary.
    #[must_use]
    pub fn with_summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// Makes it a template.
    #[must_use]
    pub fn as_template(mut self) -> Self {
        self.kind = DocumentKind::Template;
        self
    }

    /// Its headings as an indented list; empty if it has none.
    #[must_use]
    pub fn toc(&self) -> String {
        table_of_contents(&self.content)
    }

    /// Its summary: the written one, or else its most telling sentences.
    ///
    /// ```
    /// use kitbag_layout::Document;
    ///
    /// let guide = Document::new("# Releases\n\nWe release on Fridays, from `main`.", "releases.md");
    /// assert_eq!(guide.summary(), "We release on Fridays, from `main`.");
    /// ```
    #[must_use]
    pub fn summary(&self) -> String {
        match &self.summary {
            Some(summary) => summary.clone(),
            None => {
                let prose = toc::prose(&self.content);
                // The extractor works on speech, so the text is given a speaker, whose name is
                // removed again below.
                let said = Utterance::new(Speaker::User, prose);
                let summary = extract(&[said], &[], SUMMARY, &Characters);
                summary
                    .strip_prefix("User: ")
                    .map_or(summary.clone(), str::to_owned)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c05_a_folder_shows_each_file_under_its_path() {
        let files = vec![
            ("a.md".to_owned(), "Alpha.".to_owned()),
            ("b/c.md".to_owned(), "# Beta\n".to_owned()),
        ];
        let folder = Document::folder(files, "guides/");
        insta::assert_snapshot!(folder.content, @r"
        # a.md

        Alpha.

        # b/c.md

        # Beta
        ");
        assert_eq!(folder.toc(), "- a.md\n- b/c.md\n- Beta");
    }

    #[test]
    fn c05_a_written_summary_wins() {
        let guide = Document::new("Long text.", "x").with_summary("Short");
        assert_eq!(guide.summary(), "Short");
        assert_eq!(Document::new("", "x").summary(), "");
    }
}
