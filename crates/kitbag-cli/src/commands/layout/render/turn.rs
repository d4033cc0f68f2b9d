//! Renders for an agent of the project.

use std::env;
use std::path::Path;

use kitbag::layout::context::Scope;
use kitbag::layout::payload::PayloadAgent;
use kitbag::layout::prompt::{Sources, system_prompt};
use kitbag::layout::{Agent, Document, Documents, PastMessage, Problem, Turn};
use kitbag::project::Project;
use kitbag::prompt::{Flags, Telemetry, prompt};

use super::{Args, choice, key, print_payload, print_raw, read_file, say_notes};
use crate::failure::Failure;
use crate::output::{self, one_line};
use crate::project::{find_agent, say_warnings};

pub(super) fn run(args: &Args, project: &Project) -> Result<(), Failure> {
    let mut agent = agent(args, project)?;
    let layout = choice::layout(args, project, Some(&agent))?;
    let mut read = project.documents(Some(&agent));
    say_warnings(&read.problems);
    for file in &read.skipped {
        output::say(format_args!(
            "note: {} is no text and is left out",
            one_line(file)
        ));
    }
    for redaction in &read.redactions {
        let (source, kind) = (one_line(&redaction.source), &redaction.kind);
        output::say(format_args!(
            "{source}:{}: a {kind} is not shown",
            redaction.line
        ));
    }
    for given in &args.document {
        let (name, document) = channel_document(given)?;
        agent.documents.push(name.clone());
        read.documents.insert(name, document);
    }
    let turn = turn(args, project, &agent, &read.documents)?;
    let props = args.props()?;
    let flags = Flags::read(|name| env::var(name).ok());
    let mut sources = Sources::new(&agent, &read.documents, &project.partials).with_layout(&layout);
    sources.props = props.as_ref();
    sources.conversation = project.conversation.as_ref();
    sources.append = flags.append;

    if args.raw {
        let system = system_prompt(&sources, &turn, Scope::Whole);
        say_notes(&system.notes);
        return print_raw(args, &system.text, &system.source.describe(), &system.notes);
    }
    let (settings, counter) = args.settings(&turn)?;
    let made = prompt(&sources, &turn, &settings, &counter, None)
        .map_err(|error| Failure::new(&error).hint(error.hint()))?;
    say_notes(&made.system.notes);
    if flags.telemetry == Telemetry::On {
        tracing::debug!(
            agent = agent.id,
            layout = made.system.source.describe(),
            platform = turn.platform.as_str(),
            specialties = agent.specialties.len(),
            capabilities = agent.capabilities.len(),
            "layout_rendered"
        );
    }
    match args.json {
        true => {
            let provider = agent.providers.first().cloned().unwrap_or_default();
            let mut answers = PayloadAgent::new(&agent.id, provider, turn.mode);
            answers.model.clone_from(&agent.model);
            print_payload(made.payload(answers, &turn, sources.conversation))
        }
        false => Ok(output::print(&made.assembly.body)?),
    }
}

/// The agent that was named, the project's only one, or one that says nothing about itself.
fn agent(args: &Args, project: &Project) -> Result<Agent, Failure> {
    match (&args.agent, project.config.agents.as_slice()) {
        (Some(id), _) => find_agent(project, id).cloned(),
        (None, [only]) => Ok(only.clone()),
        // Its agents may be what cannot be read.
        (None, []) if project.problems.iter().any(Problem::is_error) => Err(Failure::reported()),
        (None, []) => Ok(Agent::new("assistant")),
        (None, _) if args.file.is_some() || args.layout.is_some() => Ok(Agent::new("assistant")),
        (None, agents) => {
            let ids: Vec<&str> = agents.iter().map(|agent| agent.id.as_str()).collect();
            let hint = format!("choose one with --agent: {}", one_line(&ids.join(", ")));
            Err(Failure::usage(format_args!("the project has {} agents", agents.len())).hint(hint))
        }
    }
}

/// A document as a channel would bring it.
fn channel_document(given: &str) -> Result<(String, Document), Failure> {
    let Some((name, file)) = given.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        let message = format!("--document {}: expected NAME=FILE", one_line(given));
        return Err(Failure::usage(message));
    };
    let text = read_file(Path::new(file))?;
    Ok((name.to_owned(), Document::new(text, file)))
}

fn turn(
    args: &Args,
    project: &Project,
    agent: &Agent,
    documents: &Documents,
) -> Result<Turn, Failure> {
    let messages: Vec<PastMessage> = match &args.messages {
        None => Vec::new(),
        Some(file) => serde_json::from_str(&read_file(file)?)
            .map_err(|error| Failure::usage(format_args!("{}: {error}", file.display())))?,
    };
    let query = args.query()?.unwrap_or_default();
    let said = messages.iter().map(|message| message.text.as_str());
    let included = documents.values().map(|document| document.content.as_str());
    let texts: Vec<&str> = said.chain(included).chain([query.as_str()]).collect();
    let mut turn = Turn::new(query.as_str(), key::key(args.key.as_ref(), &texts)?);
    args.set(&mut turn);
    turn.messages = messages;
    let model = args.counter.model().map(str::to_owned);
    turn.model = model.or_else(|| agent.model.clone());
    turn.language = args.language.clone().or_else(|| project.language(agent));
    turn.env = project.env(agent, |name| env::var(name).ok());
    turn.vars = project.config.vars.clone();
    Ok(turn)
}
