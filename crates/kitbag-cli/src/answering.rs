//! Answering messages: the options, the call and the words about it that `ask` and `chat` share.

mod failure;
mod markdown;
mod printer;
mod report;
mod tools;

use std::collections::BTreeSet;
use std::future::Future;
use std::pin::pin;

use kitbag::Engine;
use kitbag::answer::{Answer, AnswerError, NodeLimits};
use kitbag::checkpoint::Checkpoints;
use kitbag::command::CommandReply;
use kitbag::core::context::McpServer;
use kitbag::core::problem::Problem;
use kitbag::engine::TurnRequest;
use kitbag::learn::AfterTurn;
use kitbag::provider::ReplyEvent;
use kitbag::receive::Response;
use kitbag::skill::{StartedServers, not_started};
use kitbag::store::Incoming;
use kitbag::tool::Tools;
use kitbag_mcp::SkillServers;
use serde_json::json;

use crate::asked::AskedArgs;
use crate::commands::pack::summary::{say_problems, say_redacted};
use crate::failure::Failure;
use crate::output;
use crate::project::ProjectArgs;

use failure::provider_failure;
use printer::AnswerPrinter;
pub(crate) use tools::Approver;
use tools::ToolArgs;

/// Options that choose the model, the prompt and the tools of an answer.
#[derive(clap::Args)]
pub(crate) struct AnsweringArgs {
    #[command(flatten)]
    pub(crate) asked: AskedArgs,
    /// The model that answers, such as claude-opus-4-8 or ollama/llama3.2 [default: the agent's, else
    /// `settings: {model: …}` in kitbag.yaml]
    #[arg(
        short,
        long,
        value_name = "NAME",
        env = "KITBAG_MODEL",
        hide_env_values = true
    )]
    model: Option<String>,
    /// Recall nothing and store nothing
    #[arg(long)]
    pub(crate) no_memory: bool,
    /// Answer in four steps: understand, think, act (with the tools of --tools and --mcp), and reply
    #[arg(long = "loop")]
    nodes: bool,
    /// With --loop, carry out at most this many steps of a plan [default: 6]
    #[arg(long, value_name = "NUMBER", requires = "nodes", value_parser = clap::value_parser!(u32).range(1..))]
    loop_steps: Option<u32>,
    #[command(flatten)]
    tools: ToolArgs,
    #[command(flatten)]
    project: ProjectArgs,
}

impl AnsweringArgs {
    /// The engine that answers; its store is still to be opened, and its tools with that.
    pub(crate) fn engine(&self, approver: Approver, servers: Servers) -> Result<Engine, Failure> {
        let project = self.project.open_and_tell()?;
        let tasks = Checkpoints::in_root(self.asked.root());
        let engine = self.asked.engine(project).configured_provider();
        let mut engine = engine.checkpoints(tasks);
        // An empty KITBAG_MODEL is the same as none.
        if let Some(model) = self.model.as_deref().filter(|name| !name.is_empty()) {
            engine = engine.model(model);
        }
        if self.nodes {
            let limits = NodeLimits::default();
            engine = engine.nodes(match self.loop_steps {
                Some(steps) => limits.with_steps(steps),
                None => limits,
            });
        }
        // One set for all turns of a chat: a server that a skill has started goes on running between them.
        let started = SkillServers::default();
        let engine = match servers {
            Servers::Start => {
                engine.skill_servers(move |wanted| Box::pin(started.clone().start(wanted)))
            }
            Servers::OnlyName => engine.skill_servers(async |wanted| only_named(&wanted)),
        };
        let engine = self.tools.approved(engine, approver).build()?;
        // Problems of settings, once at the start. Problems of a turn come with its answer.
        say_problems(engine.problems());
        Ok(engine)
    }

    /// The same engine with the tools that were asked for, over its store and for whoever sends the
    /// message.
    pub(crate) async fn with_tools(
        &self,
        engine: Engine,
        sent: &Incoming,
    ) -> Result<Engine, Failure> {
        let tools = self.tools.tools(&engine, sent, self.asked.root()).await?;
        Ok(engine.with_tools(tools))
    }
}

/// The treatment of the MCP servers of active skills.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Servers {
    Start,
    /// They are problems of the prompt, which is only shown.
    OnlyName,
}

fn only_named(servers: &[McpServer]) -> StartedServers {
    let problem = |server| not_started(server, "a dry run starts no programs of skills");
    StartedServers::new(Tools::default(), servers.iter().map(problem).collect())
}

/// The outcome of a turn that was printed, and the work that it leaves.
pub(crate) enum Responded {
    /// The reply to a command, with what the channel goes on with.
    Command(CommandReply),
    /// An answer, with what there is to learn from afterwards.
    Answer(Option<AfterTurn>),
}

/// Problems that were told already: skills that cannot be used are the same in every turn.
#[derive(Default)]
pub(crate) struct ReportedProblems(BTreeSet<String>);

impl ReportedProblems {
    /// The problems without those of skills and their servers that were told before.
    fn news(&mut self, problems: &[Problem]) -> Vec<Problem> {
        let is_news = |problem: &&Problem| {
            // A failed pack may differ each time; a skill that cannot be read stays so until the chat ends.
            let is_lasting = problem.source == "skills" || problem.source.starts_with("mcp server");
            !is_lasting || self.0.insert(problem.to_string())
        };
        problems.iter().filter(is_news).cloned().collect()
    }
}

/// Responds to a turn: prints an answer as text while it comes, or as JSON when all of it is there, or
/// the reply to a command. The answer is stopped when `interrupted` completes.
pub(crate) async fn respond(
    engine: &Engine,
    turn: TurnRequest,
    (as_json, told): (bool, &mut ReportedProblems),
    interrupted: impl Future<Output = ()> + Send,
) -> Result<Responded, Failure> {
    let mut shown = AnswerPrinter::new(as_json);
    let mut show = |event: &ReplyEvent| shown.show(event);
    // Pinned here, because the engine polls the same signal from several places.
    let response = engine.respond(turn, &mut show, pin!(interrupted)).await;
    // Before anything else is printed, so that an answer that was cut off ends its line.
    shown.end()?;
    let answer = match response {
        Ok(Response::Command(reply)) => {
            match as_json {
                true => output::print_json(&json!({"text": reply.text}))?,
                false => output::print(&reply.text)?,
            }
            return Ok(Responded::Command(reply));
        }
        Ok(Response::Answer(answer)) => Ok(answer),
        Err(error) => Err(error),
    };
    let after = match &answer {
        Ok(answer) => engine.after(answer).await,
        // A turn that failed has nothing to learn from; the part that arrived is already stored.
        Err(_) => None,
    };
    tell(answer, as_json, told)?;
    Ok(Responded::Answer(after))
}

/// Prints what there is to say about an answer, whole or not.
fn tell(
    answer: Result<Box<Answer>, AnswerError>,
    as_json: bool,
    told: &mut ReportedProblems,
) -> Result<(), Failure> {
    // What came before a failure is shown with its usage, since it was billed.
    let (answer, failure) = match answer {
        Ok(answer) => (Some(answer), None),
        Err(AnswerError::Provider { error, came }) => (came, Some(provider_failure(error))),
        Err(AnswerError::Store { error, came }) => (came, Some(error.into())),
        Err(AnswerError::Stopped { came }) => (came, Some(Failure::new("stopped"))),
        Err(AnswerError::Ended {
            extension,
            reason,
            came,
        }) => {
            let what = format_args!("the extension `{extension}` ended the turn: {reason}");
            (came, Some(Failure::new(what)))
        }
        Err(other) => return Err(other.into()),
    };
    if let Some(answer) = &answer {
        if as_json {
            report::print_json(answer)?;
        }
        let assembly = &answer.prompt.composed.assembly;
        say_problems(&told.news(&assembly.ledger.problems));
        say_redacted(&answer.prompt.composed.redacted);
        report::say(answer);
    }
    failure.map_or(Ok(()), Err)
}
