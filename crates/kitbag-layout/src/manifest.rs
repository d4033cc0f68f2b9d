//! Layouts: the templates of prompts, with the props that they take.
//!
//! A layout keeps its templates as texts with the lines on which they start. They are checked where
//! they are parsed, not here.

mod read;

use std::fmt;

use indexmap::IndexMap;

use crate::props::PropsSchema;
use crate::template::{Escape, Missing};
use crate::value::Value;

pub(crate) use read::read_map;

/// A prompt's template in one or several languages, with its props.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Layout {
    /// The name by which agents ask for it.
    pub id: String,
    /// Its version, as its author counts.
    pub version: String,
    /// Its purpose.
    pub description: Option<String>,
    /// The templates by language, at least one. A template without a language is under `default`.
    pub templates: IndexMap<String, LayoutText>,
    /// The language that replaces a missing one.
    pub language: Option<String>,
    pub props_schema: PropsSchema,
    /// Props that apply unless the agent sets others.
    pub default_props: Option<Value>,
    /// The escaping of values in double braces.
    pub escape: Escape,
    /// The treatment of missing values.
    pub missing: Missing,
    /// Templates that its templates include by name.
    pub partials: IndexMap<String, LayoutText>,
    pub origin: Origin,
}

/// The text of a template, and the line on which it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LayoutText {
    /// The template.
    pub source: String,
    /// The line of the file on which the text starts, from 1.
    pub line: u64,
}

/// The origin of a layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The program itself.
    BuiltIn,
    /// A file.
    File(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File(file) => f.write_str(file),
        }
    }
}

impl Layout {
    /// Makes a layout of one template, with the defaults of a file that says no more.
    #[must_use]
    pub fn new(id: impl Into<String>, source: impl Into<String>, origin: Origin) -> Self {
        let text = LayoutText {
            source: source.into(),
            line: 1,
        };
        Self {
            id: id.into(),
            // Layouts of older projects have none.
            version: String::from("1.0.0"),
            description: None,
            templates: IndexMap::from([(String::from("default"), text)]),
            language: None,
            props_schema: PropsSchema::default(),
            default_props: None,
            escape: Escape::default(),
            missing: Missing::default(),
            partials: IndexMap::new(),
            origin,
        }
    }

    /// The template for a language: the one with exactly that tag, else the one of its primary
    /// language (`pt` for `pt-BR`), else the one for `default`, for the layout's own language, for
    /// English, or the first.
    #[must_use]
    pub fn template(&self, language: Option<&str>) -> &str {
        self.text(language)
            .map_or("", |(_, text)| text.source.as_str())
    }

    /// The template for a language with the tag that was found and the place of the text.
    #[must_use]
    pub fn text(&self, language: Option<&str>) -> Option<(&str, &LayoutText)> {
        let tagged = |tag: &str| {
            self.templates
                .iter()
                .find(|(known, _)| is_same_tag(known, tag))
        };
        // `pt-BR` is served by `pt`; Portuguese of another country is better than English.
        let primary = language.and_then(|tag| tag.split(['-', '_']).next());
        let found = [
            language,
            primary,
            Some("default"),
            self.language.as_deref(),
            Some("en"),
        ];
        found
            .into_iter()
            .flatten()
            .find_map(tagged)
            .or_else(|| self.templates.first())
            .map(|(tag, text)| (tag.as_str(), text))
    }
}

/// Compares language tags, which ignore case. Environments write `pt_BR` for `pt-BR`.
fn is_same_tag(one: &str, two: &str) -> bool {
    one.replace('_', "-")
        .eq_ignore_ascii_case(&two.replace('_', "-"))
}

#[cfg(test)]
mod tests;
