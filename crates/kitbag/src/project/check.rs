//! Checks a project for all problems at once: its files, layouts, agents and documents.
//!
//! Layouts are parsed whole and rendered without a turn: an error in a branch that only a turn takes is
//! found there, not here.

use std::borrow::Cow;

use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_layout::chain::PromptSource;
use kitbag_layout::manifest::{LayoutText, Origin};
use kitbag_layout::prompt::{Sources, SystemPrompt, system_prompt};
use kitbag_layout::template::{Template, TemplateError};
use kitbag_layout::{Agent, ChannelTurn, Documents, FileProblem, Layout, SecurityKey};

use super::{LayoutError, Project};

impl Project {
    /// All problems of the project, including those of reading it.
    #[must_use]
    pub fn check(&self) -> Vec<FileProblem> {
        let mut problems = self.problems.clone();
        for layout in self.layouts.iter() {
            self.check_layout(layout, &mut problems);
        }
        // Shared documents are read once, however many agents include them.
        let shared = self.documents(None);
        problems.extend(shared.problems);
        self.check_unused(&shared.documents, &mut problems);
        for agent in &self.config.agents {
            self.check_agent(agent, &shared.documents, &mut problems);
        }
        problems
    }

    /// Checks that each template parses, and includes only partials that exist.
    fn check_layout(&self, layout: &Layout, problems: &mut Vec<FileProblem>) {
        let file = match &layout.origin {
            Origin::File(file) => file.as_str(),
            Origin::BuiltIn => layout.id.as_str(),
        };
        let texts = layout.templates.iter().chain(&layout.partials);
        for (name, text) in texts {
            let key = format!("{} ({name})", layout.id);
            match Template::parse(&layout.id, &text.source) {
                Err(error) => problems.push(at(file, text, &error).of(key)),
                Ok(template) => {
                    let known = |name: &str| {
                        layout.partials.contains_key(name) || self.partials.contains_key(name)
                    };
                    for partial in template.required_partials().filter(|name| !known(name)) {
                        let message = format!("there is no partial `{partial}`");
                        problems.push(FileProblem::error(file, message).at(text.line, 0).of(&key));
                    }
                }
            }
        }
    }

    /// Renders each layout that no agent uses, for an agent without a description.
    fn check_unused(&self, documents: &Documents, problems: &mut Vec<FileProblem>) {
        let used = |layout: &&Layout| {
            let mut agents = self.config.agents.iter();
            agents.any(|agent| {
                let found = self.layout(Some(agent), None);
                found.is_ok_and(|found| found.layout.id == layout.id)
            })
        };
        let agent = Agent::new("assistant");
        for layout in self.layouts.iter().filter(|layout| !used(layout)) {
            let Origin::File(file) = &layout.origin else {
                continue;
            };
            let rendered = self.rendered(&agent, Some(layout), documents);
            let line = layout.text(None).map_or(0, |(_, text)| text.line);
            let of_layout = format!("{} (", layout.id);
            // An error of parsing is reported already, with its line; rendering would only repeat it.
            let is_told = problems.iter().any(|told| told.key.starts_with(&of_layout));
            let is_used = matches!(rendered.source, PromptSource::Layout { .. });
            let reason = |problem: &&Problem| problem.kind == ProblemKind::Failed;
            if let (false, false, Some(reason)) =
                (is_used, is_told, rendered.problems.iter().rfind(reason))
            {
                let problem = FileProblem::warning(file, reason.to_string());
                problems.push(problem.at(line, 0).of(&layout.id));
            }
        }
    }

    /// Checks that the agent's layout exists, takes its props, and renders.
    fn check_agent(&self, agent: &Agent, shared: &Documents, problems: &mut Vec<FileProblem>) {
        let file = agent.file.as_str();
        let key = format!("agents.{}", agent.id);
        let found = self.layout(Some(agent), None);
        let unknown = match &found {
            Ok(found) => found.warning.as_ref(),
            Err(LayoutError::Unknown(unknown)) => Some(unknown),
            // Reported when the file was read.
            Err(LayoutError::Malformed(_)) => None,
        };
        if let Some(unknown) = unknown {
            let asked = agent.layout.as_ref();
            let line = asked.map_or(agent.line, |layout| layout.line);
            let problem = match &unknown.fallback {
                Some(instead) => {
                    FileProblem::warning(file, format!("{unknown}; {instead} is used instead"))
                }
                None => FileProblem::error(file, unknown.to_string()),
            };
            let problem = problem.at(line, 0).of(format!("{key}.layout"));
            problems.push(problem.with_hint(unknown.hint()));
        }
        let own = self.read(&agent.own_documents);
        problems.extend(own.problems);
        let mut documents = Cow::Borrowed(shared);
        if !own.documents.is_empty() {
            documents.to_mut().extend(own.documents);
        }
        let is_missing = |name: &&String| !documents.contains_key(*name);
        for name in agent.documents.iter().filter(is_missing) {
            let message = format!("there is no document `{name}`");
            let problem = FileProblem::error(file, message).at(agent.line, 0);
            problems.push(problem.of(format!("{key}.documents")));
        }
        let layout = found.as_ref().ok().map(|found| found.layout);
        for told in self.rendered(agent, layout, &documents).problems {
            let problem = match told.kind {
                ProblemKind::Ignored | ProblemKind::Costly => {
                    FileProblem::warning(file, told.to_string())
                }
                _ => FileProblem::error(file, told.to_string()),
            };
            problems.push(problem.at(agent.line, 0).of(&key));
        }
    }

    /// The system prompt of an imaginary turn.
    fn rendered(
        &self,
        agent: &Agent,
        layout: Option<&Layout>,
        documents: &Documents,
    ) -> SystemPrompt {
        // Nobody sees this prompt: its key need not be secret, and errors are the same in every run.
        let key = SecurityKey::from_bytes([0; 16]);
        let mut sources = Sources::new(agent, documents, &self.partials, &key);
        sources.layout = layout;
        sources.conversation = self.conversation.as_ref();
        system_prompt(&sources, &ChannelTurn::new("?"))
    }
}

/// A fault of a template at its place in the file that it stands in.
fn at(file: &str, text: &LayoutText, error: &TemplateError) -> FileProblem {
    let place = &error.place;
    let message = error.to_string();
    let message = message
        .strip_prefix(&format!("{place}: "))
        .unwrap_or(&message);
    // The column is left out: the reader of the file has removed the indentation of the text.
    FileProblem::error(file, message).at(text.line + place.line as u64 - 1, 0)
}
