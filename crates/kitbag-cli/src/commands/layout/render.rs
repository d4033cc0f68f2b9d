//! Renders a layout for an agent and a query, as every channel would.

mod choice;
mod request;

use std::env;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::problem::Problem;
use kitbag::core::tokens::Tokens;
use kitbag::engine::{
    AgentPart, AgentRequest, PromptRequest, Sources, TurnRequest, agent_part, turn,
};
use kitbag::layout::{Map, Platform, SecurityKey, Value};
use kitbag::tokens::Counter;
use serde::Serialize;

use crate::commands::pack::summary::{say_problems, say_redacted};
use crate::counter::CounterArgs;
use crate::failure::Failure;
use crate::input;
use crate::output;
use crate::project::ProjectArgs;
use crate::prompt::{Show, deliver};

/// Prints the prompt that a layout makes for a query
///
/// The prompt is made as for a real message: the layout as system prompt, the earlier messages, and the query
/// in its wrapper. With --raw, prints only the rendered template.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag layout render --agent reviewer \"What does this project do?\"
  kitbag layout render --layout kitbag/default --raw
  kitbag layout render \"and now?\" --messages earlier.json --explain")]
pub(crate) struct Args {
    /// The query or the task; `-` for stdin
    query: Option<String>,
    /// Take the layout from this manifest
    #[arg(long, value_name = "MANIFEST", help_heading = LAYOUT)]
    file: Option<PathBuf>,
    /// The layout's id, in the manifest or the project [default: the agent's layout]
    #[arg(long, value_name = "ID", help_heading = LAYOUT)]
    layout: Option<String>,
    /// The agent's id [default: the only agent of the project]
    #[arg(long, value_name = "ID", help_heading = LAYOUT)]
    agent: Option<String>,
    /// Purpose of the prompt [default: query]
    #[arg(long, value_enum, help_heading = LAYOUT)]
    mode: Option<ModeArg>,
    /// The channel: cli (the default), slack, mcp, http or another
    #[arg(long, value_name = "NAME", help_heading = LAYOUT)]
    platform: Option<Platform>,
    /// Props for the layout, as a JSON object or `@FILE`
    #[arg(long, value_name = "JSON", help_heading = CONTEXT)]
    props: Option<String>,
    /// Earlier messages, as a JSON array of {"text", "isAssistant", "metadata"}
    #[arg(long, value_name = "FILE", conflicts_with = "context", help_heading = CONTEXT)]
    messages: Option<PathBuf>,
    /// The tools on offer, as a JSON array of {"name", "description", "input_schema"}
    #[arg(long, value_name = "FILE", conflicts_with = "context", help_heading = CONTEXT)]
    tools: Option<PathBuf>,
    /// A document that the channel supplies; may be repeated
    #[arg(long, value_name = "NAME=FILE", conflicts_with = "context", help_heading = CONTEXT)]
    document: Vec<String>,
    /// The whole context of the template, as a JSON object
    #[arg(long, value_name = "FILE", conflicts_with = "agent", help_heading = CONTEXT)]
    context: Option<PathBuf>,
    /// The language of the prompt, such as en or pt-BR
    #[arg(long, value_name = "TAG", help_heading = LAYOUT)]
    language: Option<String>,
    /// Security key, 32 hexadecimal digits [default: random]
    #[arg(long, value_name = "HEX", help_heading = LAYOUT)]
    key: Option<SecurityKey>,
    /// Limit the prompt to this many tokens
    #[arg(short, long, value_name = "TOKENS", default_value = "32k")]
    budget: Tokens,
    /// Form of the prompt: flat, pack, markdown, xml, node, anthropic, openai, responses or json
    #[arg(short, long, value_name = "FORM", default_value = "flat")]
    format: OutputForm,
    #[command(flatten)]
    counter: CounterArgs,
    #[command(flatten)]
    project: ProjectArgs,
    /// Print only the rendered template
    #[arg(long, conflicts_with = "format")]
    raw: bool,
    /// Print the ledger as a table: every document and message, in or out, with the reason
    #[arg(long, conflicts_with_all = ["raw", "json"])]
    explain: bool,
    /// Print the prompt as structured JSON, with the messages and the template's context
    #[arg(long)]
    json: bool,
}

/// Headings of the help, in which twenty options would be one list otherwise.
const LAYOUT: &str = "Layout";
const CONTEXT: &str = "Context of the template";

#[derive(Clone, Copy, clap::ValueEnum)]
enum ModeArg {
    /// Answer, and change nothing
    Query,
    /// Carry out a task
    Execute,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    let project = args.project.open_and_tell()?;
    let request = request::request(args)?;
    let variable = |name: &str| env::var(name).ok();
    if args.raw {
        let part = agent_part(&project, &request, &variable)?;
        // A raw template has no ledger, in which the problems would otherwise stand.
        say_problems(&part.contribution.problems);
        say_redacted(&part.contribution.redacted);
        return print_raw(args, &part);
    }
    let original = request.context.clone();
    let (settings, counter) = args.settings(&request)?;
    let prompt = PromptRequest::new("", settings);
    let mut sources = Sources::default();
    sources.project = Some(&project);
    sources.variable = &variable;
    let mut turn_request = TurnRequest::without_memory(prompt);
    turn_request.agent = Some(request);
    let made = pollster::block_on(turn(sources, turn_request, &counter))?;
    if let Some(agent) = made.agent.as_ref().filter(|_| args.json) {
        let assembly = &made.composed.assembly;
        let mut payload = agent.payload(assembly, &project, original.as_ref());
        // Set here, because the library reads no clock for a payload.
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
            Some("-") => Ok(Some(ended(input::read("the query")?))),
            Some(query) => Ok(Some(query.to_owned())),
            // The raw layout needs no query, and a context brings its own.
            None if self.raw || self.context.is_some() || !input::is_piped() => Ok(None),
            None => Ok(input::read_soon()?.map(ended)),
        }
    }

    /// The given props: an object, or a file with one.
    fn props(&self) -> Result<Option<Value>, Failure> {
        let Some(given) = &self.props else {
            return Ok(None);
        };
        let (name, json) = match given.strip_prefix('@') {
            Some(file) => input::read_data(Path::new(file), "the props")?,
            None => ("--props".to_owned(), given.clone()),
        };
        object(&json, &name).map(|props| Some(Value::Map(props)))
    }

    /// The form of the prompt, if there is something to answer.
    fn settings(&self, request: &AgentRequest) -> Result<(AssemblySettings, Counter), Failure> {
        if request.channel.query.trim().is_empty() {
            let what = "a prompt ends with a query, and none is given";
            let hint = "give a query, or print only the layout with --raw";
            return Err(Failure::usage(what).hint(hint));
        }
        // A payload holds the prompt as one string, which a request is not.
        if self.json && !self.format.is_text() {
            let form = self.format.as_str();
            let what = format!("--json needs a form that is a text, and `{form}` is not");
            return Err(Failure::usage(what).hint("leave out --json or --format"));
        }
        let (counter, traits) = self.counter.counter()?;
        let settings = AssemblySettings::new(self.format, self.budget);
        Ok((settings.with_traits(traits.unwrap_or_default()), counter))
    }
}

/// A piped text without its last line end, which `echo` adds.
fn ended(text: String) -> String {
    let text = text.strip_suffix('\n').unwrap_or(&text);
    text.strip_suffix('\r').unwrap_or(text).to_owned()
}

fn object(json: &str, name: &str) -> Result<Map, Failure> {
    match serde_json::from_str(json) {
        Ok(Value::Map(map)) => Ok(map),
        Ok(other) => {
            let kind = other.kind();
            Err(Failure::usage(format_args!(
                "{name}: expected a JSON object, got {kind}"
            )))
        }
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
