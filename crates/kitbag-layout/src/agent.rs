//! Agents as their operator describes them.
//!
//! What layouts see of an agent is made here; which of its texts becomes the prompt is not
//! decided here.

mod context;
mod read;

use indexmap::IndexMap;

use crate::config::{Declared, DocumentEntry};
use crate::problem::FileProblem;
use crate::value::{Map, Value};

pub(crate) use read::read_list;

/// An agent: who it is, what it is told, and what runs it.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Agent {
    /// The name by which it is called. It has no blanks.
    pub id: String,
    /// The file in which it is described, as it was named to the reader.
    pub file: String,
    /// The line of its file on which it is described, from 1; 0 where it is not known.
    pub line: u64,
    /// Its name for people.
    pub name: Option<String>,
    /// What it does in its team.
    pub role: Option<String>,
    /// The team that it belongs to.
    pub team: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What runs it: the first that is available.
    pub providers: Vec<String>,
    /// The model that it asks for.
    pub model: Option<String>,
    /// Who describes it: whose word its model is.
    pub declared: Declared,
    /// The folder in which it works.
    pub working_directory: Option<String>,
    /// What it can do.
    pub capabilities: Vec<String>,
    /// What it knows best.
    pub specialties: Vec<String>,
    /// The options that its provider is started with: a list, or lists by mode, or by mode and
    /// provider.
    pub options: Option<Value>,
    /// Its prompt (`inline.prompt`).
    pub prompt: Option<String>,
    /// Its system prompt inside `inline`.
    pub inline_system_prompt: Option<String>,
    /// Its system prompt beside `inline`.
    pub system_prompt: Option<String>,
    /// The layout of its prompt, unless it is the default one.
    pub layout: Option<LayoutChoice>,
    /// What is wrong with what is written as its layout. Such an agent has no prompt.
    pub layout_problem: Option<FileProblem>,
    /// The names of the documents that it is given.
    pub documents: Vec<String>,
    /// Those of them that are described with the agent itself.
    pub own_documents: IndexMap<String, DocumentEntry>,
    /// Its skills, as they are written.
    pub skills: Option<Value>,
    /// The place elsewhere where it runs, as it is written. It may hold secrets.
    pub remote: Option<Value>,
    /// Variables of the environment that it is started with.
    pub env: IndexMap<String, String>,
    /// The language of its prompt.
    pub language: Option<String>,
    /// All that is written under `inline`. It may hold secrets.
    pub inline: Map,
    /// What is written under keys that are not known here.
    pub extra: Map,
    /// Whether its providers are written as a list.
    provider_is_list: bool,
}

/// The layout that an agent asks for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LayoutChoice {
    /// The id of the layout.
    pub id: String,
    /// What is set in it.
    pub props: Option<Value>,
    /// The line on which it is asked for, from 1; 0 where it is not known.
    pub line: u64,
}

impl Agent {
    /// An agent of which nothing but the id is known.
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

    /// The options of a mode, for the first of the agent's providers that has some.
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
