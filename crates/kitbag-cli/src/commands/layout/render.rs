//! Renders a layout for an agent and a query, as every channel would.

mod choice;
mod request;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use kitbag::core::assembly::{AssemblySettings, OutputForm, OutputFormError};
use kitbag::core::budget::parse_tokens;
use kitbag::core::problem::Problem;
use kitbag::core::tokens::Tokens;
use kitbag::engine::{
    AgentPart, AgentRequest, AgentSource, PromptRequest, Sources, TurnRequest, agent_part, turn,
};
use kitbag::layout::{Map, Platform, SecurityKey, Value};
use kitbag::tokens::Counter;
use serde::Serialize;

use crate::commands::pack::summary::{say_problems, say_redacted};
use crate::counter::CounterArgs;
use crate::failure::Failure;
use crate::output;
use crate::project::{ProjectArgs, agent_failure, turn_failure};
use crate::prompt::{Show, deliver};
use crate::stdin;

/// Renders a layout as every channel would
///
/// Prints the whole prompt: the layout as system prompt, what was said, and the query in its
/// wrapper. With --raw it prints the rendered template alone.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The query or the task; `-` for stdin
    query: Option<String>,
    /// A manifest to take the layout from
    #[arg(long, value_name = "MANIFEST")]
    file: Option<PathBuf>,
    /// The layout, of the manifest or of the project; the agent's own unless it is given
    #[arg(long, value_name = "ID")]
    layout: Option<String>,
    /// The agent; the project's only one unless it is given
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Whether the agent answers or acts; query unless it is given
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
    /// The channel: cli (the default), slack, mcp, http or another
    #[arg(long, value_name = "NAME", value_parser = |name: &str| name.parse::<Platform>())]
    platform: Option<Platform>,
    /// Props for the layout, as a JSON object or `@FILE`
    #[arg(long, value_name = "JSON")]
    props: Option<String>,
    /// What was said before, as a JSON array of {"text", "isAssistant", "metadata"}
    #[arg(long, value_name = "FILE", conflicts_with = "context")]
    messages: Option<PathBuf>,
    /// The tools on offer, as a JSON array of {"name", "description", "input_schema"}
    #[arg(long, value_name = "FILE", conflicts_with = "context")]
    tools: Option<PathBuf>,
    /// A document that the channel brings, as NAME=FILE; may be given several times
    #[arg(long, value_name = "NAME=FILE", conflicts_with = "context")]
    document: Vec<String>,
    /// The whole context of the template, as a JSON object
    #[arg(long, value_name = "FILE", conflicts_with = "agent")]
    context: Option<PathBuf>,
    /// The language of the prompt, such as en or pt-BR
    #[arg(long, value_name = "TAG")]
    language: Option<String>,
    /// The security key, 32 hexadecimal digits; drawn at random unless it is given
    #[arg(long, value_name = "HEX", value_parser = |key: &str| key.parse::<SecurityKey>())]
    key: Option<SecurityKey>,
    /// The most tokens that the prompt may have
    #[arg(long, value_name = "TOKENS", default_value = "32k", value_parser = parse_tokens)]
    budget: Tokens,
    /// The form of the prompt: flat, pack, markdown, xml, node, anthropic, openai, responses or json
    #[arg(long, value_name = "FORM", default_value = "flat", value_parser = parse_form)]
    format: OutputForm,
    #[command(flatten)]
    counter: CounterArgs,
    #[command(flatten)]
    project: ProjectArgs,
    /// Prints the rendered template alone
    #[arg(long, conflicts_with = "format")]
    raw: bool,
    /// Prints the ledger as a table: every document and message, in or out, and why
    #[arg(long, conflicts_with_all = ["raw", "json"])]
    explain: bool,
    /// Prints the prompt as structured JSON, with what was said and what is known of the turn
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ModeArg {
    /// It answers and changes nothing
    Query,
    /// It carries out a task
    Execute,
}

fn parse_form(text: &str) -> Result<OutputForm, String> {
    text.parse()
        .map_err(|error: OutputFormError| error.to_string())
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let project = args.project.open_and_tell()?;
    let request = request::request(args)?;
    let variable = |name: &str| env::var(name).ok();
    if args.raw {
        let part = agent_part(&project, &request, &variable).map_err(|e| agent_failure(&e))?;
        say_problems(&part.contribution.problems);
        say_redacted(&part.contribution.redacted);
        return print_raw(args, &part);
    }
    let original = request.context.clone();
    let (settings, counter) = args.settings(&request)?;
    let prompt = PromptRequest::new("", settings);
    let mut sources = Sources::default();
    sources.agent = Some(AgentSource::new(&project, request).with_variables(&variable));
    let request = TurnRequest::without_memory(prompt);
    let made = pollster::block_on(turn(sources, &request, &counter));
    let made = made.map_err(|error| turn_failure(&error))?;
    if let Some(agent) = made.agent.as_ref().filter(|_| args.json) {
        let assembly = &made.composed.assembly;
        let mut payload = agent.payload(assembly, &project, original.as_ref());
        payload.metadata.generated_at = Some(Timestamp::now().to_string());
        return Ok(output::print_json(&payload)?);
    }
    let show = match args.explain {
        true => Show::Ledger,
        false => Show::Prompt,
    };
    deliver(show, &made.composed, &made.composed.body(), &counter)
}

impl Args {
    /// The query, from the arguments or from stdin.
    fn query(&self) -> Result<Option<String>, Failure> {
        match self.query.as_deref() {
            Some("-") => Ok(Some(ended(stdin::read("the query")?))),
            Some(query) => Ok(Some(query.to_owned())),
            // A layout alone, and a context that brings a query, need none.
            None if self.raw || self.context.is_some() || !stdin::is_piped() => Ok(None),
            None => Ok(stdin::read_soon()?.map(ended)),
        }
    }

    /// The props that were given: an object, or a file with one.
    fn props(&self) -> Result<Option<Value>, Failure> {
        let Some(given) = &self.props else {
            return Ok(None);
        };
        let (json, name) = match given.strip_prefix('@') {
            Some(file) => (read_file(Path::new(file))?, file),
            None => (given.clone(), "--props"),
        };
        object(&json, name).map(|props| Some(Value::Map(props)))
    }

    /// How the prompt is put together, if there is something to answer.
    fn settings(&self, request: &AgentRequest) -> Result<(AssemblySettings, Counter), Failure> {
        if request.channel.query.trim().is_empty() {
            return Err(
                Failure::usage("a prompt ends in a query, and there is none")
                    .hint("say what is asked, or look at the layout alone with --raw"),
            );
        }
        if self.json && !self.format.is_text() {
            return Err(Failure::usage(format_args!(
                "the prompt of a payload is a text, which `{}` is not",
                self.format.as_str()
            ))
            .hint("leave out --json or --format"));
        }
        let (counter, traits) = self.counter.counter()?;
        let mut settings = AssemblySettings::new(self.format, self.budget);
        if let Some(traits) = traits {
            settings = settings.with_traits(traits);
        }
        Ok((settings, counter))
    }
}

/// A text from a pipe without the end of its last line.
fn ended(text: String) -> String {
    let text = text.strip_suffix('\n').unwrap_or(&text);
    text.strip_suffix('\r').unwrap_or(text).to_owned()
}

/// Reads a file, or stdin for `-`.
fn read_file(file: &Path) -> Result<String, Failure> {
    if file == Path::new("-") {
        return stdin::read("a file");
    }
    fs::read_to_string(file)
        .map_err(|error| Failure::new(format_args!("cannot read {}: {error}", file.display())))
}

fn object(json: &str, name: &str) -> Result<Map, Failure> {
    match serde_json::from_str(json) {
        Ok(Value::Map(map)) => Ok(map),
        Ok(other) => Err(Failure::usage(format_args!(
            "{name}: expected a JSON object, got {}",
            other.kind()
        ))),
        Err(error) => Err(Failure::usage(format_args!("{name}: {error}"))),
    }
}

/// Prints a rendered template alone.
fn print_raw(args: &Args, part: &AgentPart) -> Result<(), Failure> {
    #[derive(Serialize)]
    struct Report<'a> {
        text: &'a str,
        from: &'a str,
        problems: &'a [Problem],
    }
    let text = part.system.text.as_str();
    match args.json {
        true => Ok(output::print_json(&Report {
            text,
            from: &part.system.source.describe(),
            problems: &part.contribution.problems,
        })?),
        false => Ok(output::print_exactly(text)?),
    }
}
