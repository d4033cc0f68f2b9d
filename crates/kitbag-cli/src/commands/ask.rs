//! `kitbag ask`: a message is answered by a model, and the exchange is remembered.
//!
//! The prompt is the one that `kitbag context` shows; `--dry-run` prints the request and sends nothing. Both mask
//! secrets that were typed: screens are shared and recorded.

mod message;

use kitbag::Engine;
use kitbag::answer::AnswerError;
use kitbag::command::{self, Command, CommandReply};
use kitbag::core::problem::Problem;
use kitbag::engine::TurnPrompt;
use kitbag::provider::ProviderError;

use crate::answering::{self, AnsweringArgs, Approver, ReportedProblems, Responded, Servers};
use crate::commands::pack::summary::say_problems;
use crate::failure::Failure;
use crate::interrupt::Interrupts;
use crate::learning;
use crate::model::with_chosen_model;
use crate::output::{self, one_line};
use crate::progress::Progress;
use crate::store::{self, StoreArgs};
use crate::typed::TypedSecrets;

use message::{MessageArgs, ReadMessage};

/// Asks a model with the right context, and remembers the exchange
///
/// The prompt holds memory, the agent's own prompt and documents, and with --pack the code of the current
/// folder; `kitbag context` shows it. The answer is printed as it comes. A line on stderr gives its tokens,
/// its time, and its cost if the prices are known. A conversation ends when it was silent for
/// half an hour: after the next answer, the model summarises it and extracts facts from it. `memory:
/// {learning: rules}` in kitbag.yaml does this without a model, and `learning: off` turns it off.
///
/// A model is named as `provider/model`, or alone if the catalogue knows its provider: anthropic
/// (ANTHROPIC_API_KEY), openai (OPENAI_API_KEY), openrouter (OPENROUTER_API_KEY), ollama, and those under
/// `providers:` in kitbag.yaml. Keys come from the environment, a file or a program, never from an option.
///
/// With --tools the model may look things up itself; each call is a line on stderr. A tool that writes is
/// called only if --allow-tools names it.
///
/// A message that is a command, such as `/facts` or `/context`, is carried out without a model; `/help`
/// lists them. A space before the slash makes it a message.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag ask \"why is the order refused?\" --pack
  kitbag ask \"what did we decide on retries?\" -m openai/gpt-5
  git diff | kitbag ask \"write a commit message\" --no-memory
  kitbag ask \"which issues are open?\" --mcp --dry-run")]
pub(crate) struct Args {
    #[command(flatten)]
    message: MessageArgs,
    #[command(flatten)]
    answering: AnsweringArgs,
    /// Print the request that would be sent, byte for byte but for secrets in the message, and send nothing. MCP servers
    /// of skills are not started
    #[arg(long)]
    dry_run: bool,
    /// Print the answer, its usage and its turn as JSON once it is complete
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let ReadMessage {
        text: message,
        attachments,
    } = args.message.read()?;
    let command = command::read(&message.as_str().into());
    let is_message = matches!(command, Ok(None));
    if let Ok(Some(command)) = &command {
        check_for_one_message(command)?;
    }
    if args.dry_run
        && let Some(command) = command?
    {
        let name = command.name();
        let what = format_args!("`/{name}` is a command, which sends nothing");
        return Err(Failure::usage(what).hint("a space before the slash makes it a message"));
    }
    let servers = match args.dry_run {
        true => Servers::OnlyName,
        false => Servers::Start,
    };
    let engine = args.answering.engine(Approver::Options, servers)?;
    let asked = &args.answering.asked;
    let progress = Progress::start("gathering context");
    let workspace = asked.workspace(&message, &engine)?;
    // Without a key, nothing is created or stored. Commands need no key.
    if is_message && !args.dry_run {
        check(&engine)?;
    }
    store::run(async {
        let mut interrupts = Interrupts::listen();
        let prepare = async {
            let store = match (args.answering.no_memory, args.dry_run) {
                (true, _) => None,
                (false, true) => place.open_if_any().await?,
                (false, false) => Some(place.open_or_make_for(&engine).await?),
            };
            let engine = engine.with_store(store.map(with_chosen_model));
            let mut incoming = asked.incoming(engine.store()).await?;
            let engine = args.answering.with_tools(engine, &incoming).await?;
            incoming.message = message.as_str().into();
            if args.dry_run {
                engine.admit(&incoming).await.map_err(AnswerError::from)?;
            }
            let mut turn = engine.turn(incoming)?;
            turn.attachments = attachments;
            turn.contributions.extend(workspace);
            Ok::<_, Failure>((engine, turn))
        };
        // Dropping what was begun also ends the servers that it has started.
        let prepared = interrupts.unless_interrupted(prepare).await;
        let (engine, turn) = prepared.map_err(Failure::interrupted)??;
        if args.dry_run {
            let request = interrupts.unless_interrupted(engine.request(turn)).await;
            let (prompt, request) = request.map_err(Failure::interrupted)??;
            drop(progress);
            if let Some(route) = &prompt.route {
                output::say(format_args!("route: {}", one_line(&route.to_string())));
            }
            say_problems(&missing(&prompt));
            let body = request.body();
            let secrets = TypedSecrets::of(&message, engine.project());
            let shown = secrets.masked(&body);
            return Ok(output::print_exactly(&format!("{shown}\n"))?);
        }
        drop(progress);
        let mut told = ReportedProblems::default();
        let interrupted = async {
            interrupts.next().await;
        };
        match answering::respond(&engine, turn, (args.json, &mut told), interrupted).await? {
            Responded::Answer(Some(after)) => learning::learn(engine.learn_after(after)).await,
            Responded::Command(CommandReply {
                closed: Some(closed),
                ..
            }) => learning::learn(engine.learn_from(closed)).await,
            _ => {}
        }
        Ok(())
    })
}

/// The reasons why a request differs from the one that would be sent: the choice of the model, and servers that were
/// not started. Everything else stands in the ledger, which `kitbag context` shows.
fn missing(prompt: &TurnPrompt) -> Vec<Problem> {
    let problems = prompt.composed.assembly.ledger.problems.iter();
    let is_missing = |source: &str| source == "routing" || source.starts_with("mcp server");
    let problems = problems.filter(|problem| is_missing(&problem.source));
    problems.cloned().collect()
}

/// Refuses commands that change a chat: nothing follows this message.
fn check_for_one_message(command: &Command) -> Result<(), Failure> {
    let name = command.name();
    match name {
        "model" | "agent" if !command.rest.is_empty() => {
            let what = format_args!("`/{name}` is for chats, and this is a single message");
            let hint = format_args!("use `--{name}` for this message");
            Err(Failure::usage(what).hint(hint))
        }
        "quit" | "exit" => {
            let what = format_args!("`/{name}` ends a chat, and this is a single message");
            Err(Failure::usage(what).hint("a space before the slash makes it a message"))
        }
        _ => Ok(()),
    }
}

/// Refuses to ask a provider that could not answer.
fn check(engine: &Engine) -> Result<(), Failure> {
    engine.check().map_err(|error| {
        let is_key = matches!(
            &error,
            AnswerError::Provider {
                error: ProviderError::NoKey { .. },
                ..
            }
        );
        let failure = Failure::from(error);
        match is_key {
            true => failure.hint_also("`--dry-run` shows the request without one"),
            false => failure,
        }
    })
}
