//! A rendered system prompt: what it shows of the turn, and what is left to the engine.

use std::ops::Range;

use kitbag_core::problem::{Problem, ProblemKind};

use crate::chain::PromptSource;
use crate::document::Documents;
use crate::key::SecurityKey;
use crate::query::{CLOSING, opening};
use crate::template::{Root, Traced};
use crate::value::{Map, Value};

/// Who shows a part of the turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShownBy {
    /// The engine, at the place that the part has in every prompt.
    Engine,
    /// The layout, which has read it.
    Layout,
    /// Nobody: the props say so.
    Nobody,
}

/// A system prompt, and how it came about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SystemPrompt {
    /// The whole text, as the template gave it.
    pub text: String,
    /// The field or the layout that it comes from.
    pub source: PromptSource,
    /// What went wrong or was left out, in the order in which it was met.
    pub problems: Vec<Problem>,
    /// The documents that the agent is given and that the text does not show.
    pub documents: Documents,
    /// Who shows what was said before.
    pub history: ShownBy,
    /// Who lists the tools.
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
            // The query itself is cut out of the text; what else is made of it stays.
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

    /// The text without the query, which stands in a message of its own: so no turn changes the
    /// beginning of a prompt, and nothing of the operator stands among the user's words.
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

    /// The bytes of the query with the wrapper that the layout puts around it, if it does.
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
