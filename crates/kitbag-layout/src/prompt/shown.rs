//! A rendered system prompt: the parts of the turn that it shows, and those that are left to the
//! engine.

use std::ops::Range;

use kitbag_core::problem::{Problem, ProblemKind};

use crate::chain::PromptSource;
use crate::document::Documents;
use crate::key::SecurityKey;
use crate::query::{CLOSING, opening};
use crate::template::{Root, Traced};
use crate::value::{Map, Value};

/// The shower of a part of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownBy {
    /// The engine, at the usual place of the part in a prompt.
    Engine,
    /// The layout, which has read it.
    Layout,
    /// Nobody, because of the props.
    Nobody,
}

/// A system prompt with its origin.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SystemPrompt {
    /// The whole text as the template rendered it.
    pub text: String,
    /// The field or the layout that it comes from.
    pub source: PromptSource,
    /// Problems and omissions, in the order in which they occurred.
    pub problems: Vec<Problem>,
    /// The agent's documents that the text does not show.
    pub documents: Documents,
    /// The shower of the earlier messages.
    pub history: ShownBy,
    /// The shower of the tools.
    pub tools: ShownBy,
    /// The context that the template was rendered with.
    pub context: Map,
    /// The bytes of the text that are the query.
    query: Option<Range<usize>>,
}

impl SystemPrompt {
    pub(crate) fn new(traced: Traced, source: PromptSource, context: Map) -> Self {
        let Traced {
            text,
            used,
            query,
            queries,
        } = traced;
        let by = |root: Root| match used.contains(&root) {
            true => ShownBy::Layout,
            false => ShownBy::Engine,
        };
        let props = context.get("props");
        // Layouts in use turn the history off by this prop.
        let is_off = props.and_then(|props| props.get("showHistory")) == Some(&Value::Bool(false));
        let mut prompt = Self {
            history: match is_off {
                true => ShownBy::Nobody,
                false => by(Root::Messages),
            },
            tools: by(Root::Tools),
            text,
            source,
            problems: Vec::new(),
            documents: Documents::new(),
            context,
            query,
        };
        let costly = [
            (prompt.history == ShownBy::Layout, "the conversation"),
            // One query is cut out of the text; a second one, or a part of one, would stay and
            // change with every turn.
            (
                used.contains(&Root::Query) && (prompt.query.is_none() || queries != 1),
                "the query",
            ),
        ];
        for (_, part) in costly.into_iter().filter(|(is_costly, _)| *is_costly) {
            let message = format!(
                "{part} stands in the system prompt, which changes with it: a provider's cache \
                 keeps nothing from there on"
            );
            prompt.problems.push(
                Problem::new(prompt.source.describe(), ProblemKind::Costly, message)
                    .with_hint("leave it out of the template: it is shown behind the rest anyway"),
            );
        }
        prompt
    }

    /// The text without the query, which is in a message of its own. So no turn changes the
    /// beginning of a prompt, and no word of the operator is among the user's.
    #[must_use]
    pub fn identity(&self, key: &SecurityKey) -> String {
        let Some(query) = self.wrapped(key) else {
            return self.text.trim_end().to_owned();
        };
        let before = self.text.get(..query.start).unwrap_or_default().trim_end();
        let behind = self.text.get(query.end..).unwrap_or_default().trim();
        match (before, behind) {
            (only, "") | ("", only) => only.to_owned(),
            (before, behind) => format!("{before}\n{behind}"),
        }
    }

    /// The range of the query including its wrapper, if the layout put one around it.
    fn wrapped(&self, key: &SecurityKey) -> Option<Range<usize>> {
        let query = self.query.clone()?;
        let before = self.text.get(..query.start)?.trim_end();
        let behind = self.text.get(query.end..)?.trim_start();
        let opened = before.strip_suffix(&opening(key));
        let closed = behind.strip_prefix(CLOSING);
        match (opened, closed) {
            (Some(before), Some(behind)) => Some(before.len()..self.text.len() - behind.len()),
            _ => Some(query),
        }
    }
}
