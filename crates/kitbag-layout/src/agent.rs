//! Agents as their operator describes them.
//!
//! The context that layouts see of an agent is made here. The choice of the text that becomes the
//! prompt is `chain`'s.

mod context;
mod read;

use indexmap::IndexMap;

use crate::config::{Declared, DocumentEntry};
use crate::problem::FileProblem;
use crate::value::{Map, Value};

pub(crate) use read::read_list;

/// An agent as its operator describes it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Agent {
    /// The name by which it is called. It contains no blanks.
    pub id: String,
    /// The file that describes it, by the name given to the reader.
    pub file: String,
    /// The line of its description in that file, from 1; 0 if unknown.
    pub line: u64,
    /// Its name for people.
    pub name: Option<String>,
    /// Its role in the team.
    pub role: Option<String>,
    /// The team that it belongs to.
    pub team: Option<String>,
    /// Its purpose.
    pub description: Option<String>,
    /// The providers that run it: the first available one does.
    pub providers: Vec<String>,
    /// The model that it asks for.
    pub model: Option<String>,
    /// The author of its description, which decides if its model may be used.
    pub declared: Declared,
    /// Its working folder.
    pub working_directory: Option<String>,
    pub capabilities: Vec<String>,
    /// Its special knowledge.
    pub specialties: Vec<String>,
    /// The options for starting its provider: a list, or lists by mode, or by mode and provider.
    pub options: Option<Value>,
    /// Its prompt (`inline.prompt`).
    pub prompt: Option<String>,
    /// Its system prompt inside `inline`.
    pub inline_system_prompt: Option<String>,
    /// Its system prompt outside of `inline`.
    pub system_prompt: Option<String>,
    /// The layout of its prompt, unless it is the default one.
    pub layout: Option<LayoutChoice>,
    /// The problem with its layout as written. Such an agent has no prompt.
    pub layout_problem: Option<FileProblem>,
    /// The names of the documents it gets.
    pub documents: Vec<String>,
    /// Those of its documents that are declared with the agent itself.
    pub own_documents: IndexMap<String, DocumentEntry>,
    /// Its skills, as they are written.
    pub skills: Option<Value>,
    /// The remote place where it runs, as written. It may hold secrets.
    pub remote: Option<Value>,
    /// Variables of the environment that it is started with.
    pub env: IndexMap<String, String>,
    /// The language of its prompt.
    pub language: Option<String>,
    /// All entries of `inline`. They may hold secrets.
    pub inline: Map,
    /// The entries under unknown keys.
    pub extra: Map,
    /// True if its providers are written as a list, which templates can see.
    provider_is_list: bool,
}

/// The layout that an agent asks for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LayoutChoice {
    pub id: String,
    /// The props that it sets.
    pub props: Option<Value>,
    /// The line of the request, from 1; 0 if unknown.
    pub line: u64,
}

impl Agent {
    /// Makes an agent of which only the id is known.
    ///
    /// ```
    /// use kitbag_layout::Agent;
    ///
    /// let agent = Agent::new("ann");
    /// let context = serde_json::to_string(&agent.to_context()).unwrap();
    /// assert_eq!(context, r#"{"id":"ann","name":"ann","inline":{}}"#);
    /// ```
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// The options for a mode, of the first of the agent's providers that has any.
    #[must_use]
    pub fn options_for(&self, mode: &str) -> Vec<&str> {
        let of_mode = match &self.options {
            Some(Value::Map(modes)) => modes.get(mode),
            options => options.as_ref(),
        };
        let options = match of_mode {
            Some(Value::Map(by)) => self.providers.iter().find_map(|provider| by.get(provider)),
            options => options,
        };
        let options = options.and_then(Value::as_list).unwrap_or_default();
        options.iter().filter_map(Value::as_text).collect()
    }
}

#[cfg(test)]
mod tests;
