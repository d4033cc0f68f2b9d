//! Every problem of a project at once: its files, layouts, agents and documents.
//!
//! Layouts are parsed whole and rendered with what is known before a turn: a helper that is called in
//! a branch that only a turn would take is met there, not here.

use std::borrow::Cow;

use kitbag_layout::context::Scope;
use kitbag_layout::manifest::{LayoutText, Origin};
use kitbag_layout::note::NoteKind;
use kitbag_layout::prompt::{Sources, system_prompt};
use kitbag_layout::template::{Template, TemplateError};
use kitbag_layout::{Agent, Documents, Layout, Problem, SecurityKey, Turn};

use super::Project;

impl Project {
    /// All that is wrong with the project, what was found when it was read included.
    #[must_use]
    pub fn check(&self) -> Vec<Problem> {
        let mut problems = self.problems.clone();
        for layout in self.layouts.iter() {
            self.check_layout(layout, &mut problems);
        }
        // Files are read once, however many agents there are.
        let shared = self.documents(None);
        problems.extend(shared.problems);
        self.check_unused(&shared.documents, &mut problems);
        for agent in &self.config.agents {
            self.check_agent(agent, &shared.documents, &mut problems);
        }
        problems
    }

    /// Each template must be one, and include only what is there.
    fn check_layout(&self, layout: &Layout, problems: &mut Vec<Problem>) {
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
                        problems.push(Problem::error(file, message).at(text.line, 0).of(&key));
                    }
                }
            }
        }
    }

    /// A layout that no agent asks for is rendered for one that says nothing of itself.
    fn check_unused(&self, documents: &Documents, problems: &mut Vec<Problem>) {
        let used = |layout: &&Layout| {
            let mut agents = self.config.agents.iter();
            agents.any(|agent| {
                let found = self.layout(Some(agent), None);
                found.is_ok_and(|found| found.layout.id == layout.id)
            })
        };
        let agent = Agent::new("assistant");
        let turn = Turn::new("?", SecurityKey::from_bytes([0; 16]));
        for layout in self.layouts.iter().filter(|layout| !used(layout)) {
            let Origin::File(file) = &layout.origin else {
                continue;
            };
            let mut sources = Sources::new(&agent, documents, &self.partials).with_layout(layout);
            sources.conversation = self.conversation.as_ref();
            let line = layout.text(None).map_or(0, |(_, text)| text.line);
            let of_layout = format!("{} (", layout.id);
            for note in system_prompt(&sources, &turn, Scope::Whole).notes {
                // What cannot be parsed was told already, with its place.
                let is_told = problems.iter().any(|told| told.key.starts_with(&of_layout));
                if note.kind == NoteKind::Fallback && !is_told {
                    problems.push(
                        Problem::warning(file, note.message)
                            .at(line, 0)
                            .of(&layout.id),
                    );
                }
            }
        }
    }

    /// The agent's layout must be there, take its props, and render.
    fn check_agent(&self, agent: &Agent, shared: &Documents, problems: &mut Vec<Problem>) {
        let file = agent.file.as_str();
        let key = format!("agents.{}", agent.id);
        let found = self.layout(Some(agent), None);
        let unknown = match &found {
            Ok(found) => found.warning.as_ref(),
            Err(unknown) => Some(unknown),
        };
        if let Some(unknown) = unknown {
            let asked = agent.layout.as_ref();
            let line = asked.map_or(agent.line, |layout| layout.line);
            let problem = match &unknown.fallback {
                Some(instead) => {
                    Problem::warning(file, format!("{unknown}; {instead} is used instead"))
                }
                None => Problem::error(file, unknown.to_string()),
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
            let problem = Problem::error(file, message).at(agent.line, 0);
            problems.push(problem.of(format!("{key}.documents")));
        }
        let mut sources = Sources::new(agent, &documents, &self.partials);
        sources.layout = found.as_ref().ok().map(|found| found.layout);
        sources.conversation = self.conversation.as_ref();
        let turn = Turn::new("?", SecurityKey::from_bytes([0; 16]));
        for note in system_prompt(&sources, &turn, Scope::Whole).notes {
            let problem = match note.kind {
                NoteKind::Prop => Problem::warning(file, note.message),
                _ => Problem::error(file, note.message),
            };
            problems.push(problem.at(agent.line, 0).of(&key));
        }
    }
}

/// A fault of a template at its place in the file that it stands in.
fn at(file: &str, text: &LayoutText, error: &TemplateError) -> Problem {
    let place = error.place();
    let message = error.to_string();
    let message = message
        .strip_prefix(&format!("{place}: "))
        .unwrap_or(&message);
    // How far the text is indented in its file is not known, so that the column would be wrong.
    Problem::error(file, message).at(text.line + place.line as u64 - 1, 0)
}
