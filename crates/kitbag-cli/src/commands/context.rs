//! `kitbag context`: the prompt for a message.
//!
//! Sends nothing and changes nothing. Commands that send a prompt make it with the same call.

use std::borrow::Cow;

use kitbag::core::assembly::OutputForm;
use kitbag::core::view::View;
use kitbag::project::Project;

use crate::asked::AskedArgs;
use crate::counter::CounterArgs;
use crate::failure::Failure;
use crate::input;
use crate::internal::InternalArgs;
use crate::model::with_chosen_model;
use crate::output::one_line;
use crate::progress::Progress;
use crate::project::ProjectArgs;
use crate::prompt::{Show, deliver};
use crate::store::{self, StoreArgs};
use crate::typed::TypedSecrets;

/// Prints the prompt that would be sent for a message, and sends nothing
///
/// The prompt holds memory of the conversation and of the sender, the agent's own prompt and documents, and
/// with --pack the code of the current folder. All of it competes for one budget. Memory stays as it is.
/// Internal messages, which are for the model alone, are shown only with --internal. Secrets in the message are
/// masked on the screen; the model would get them.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag context \"why is the order refused?\" --pack --explain
  kitbag context \"and now?\" --agent baker --format anthropic
  kitbag context \"and now?\" --node think")]
pub(crate) struct Args {
    /// The message to answer; without it, or with `-`, it is read from stdin
    message: Option<String>,
    #[command(flatten)]
    asked: AskedArgs,
    /// Print the prompt of a node: understand, think, act, reply, or one that kitbag.yaml defines
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// Form of the prompt: flat, pack, markdown, xml, node, anthropic, openai, responses or json
    /// [default: flat, and node for a node]
    #[arg(short, long, value_name = "FORM")]
    format: Option<OutputForm>,
    #[command(flatten)]
    counter: CounterArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    internal: InternalArgs,
    /// Print the ledger as a table: every candidate, in or out, with the reason
    #[arg(long)]
    explain: bool,
    /// Print the prompt and the ledger as JSON
    #[arg(long, conflicts_with = "explain")]
    json: bool,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let message = args.message()?;
    let (counter, traits) = args.counter.counter()?;
    let project = args.project.open_and_tell()?;
    let node = args.node(&project)?;
    let engine = args.asked.engine(project);
    let engine = engine.traits(traits.unwrap_or_default());
    let engine = match args.counter.model() {
        // A model brings its own counter, window and cache; a tokenizer alone only counts.
        Some(model) => engine.model(model),
        None => engine.counter(counter),
    };

    let progress = Progress::start("gathering context");
    // Before the store is opened: an unknown agent or model needs no database.
    let engine = engine.build()?;
    let workspace = args.asked.workspace(&message, &engine)?;
    let secrets = TypedSecrets::of(&message, engine.project());
    let (made, counter) = store::run(async {
        let store = place.open_if_any().await?;
        let engine = engine.with_store(store.map(with_chosen_model));
        let mut incoming = args.asked.incoming(engine.store()).await?;
        incoming.message = message.as_str().into();
        let mut turn = engine.turn(incoming)?;
        turn.prompt.settings.form = args.form();
        turn.node = node;
        turn.contributions.extend(workspace);
        let counter = engine.calibrated_counter().await?;
        Ok((engine.prompt(turn).await?, counter))
    })?;
    drop(progress);
    let body = match args.show() {
        // The ledger names sources alone, so there is no body whose internal messages must be hidden.
        Show::Ledger => Cow::default(),
        _ => args.internal.body_of(&made.composed),
    };
    let body = secrets.masked(&body);
    deliver(args.show(), &made.composed, &body, counter.as_ref())
}

impl Args {
    /// The message, from the arguments or from stdin.
    fn message(&self) -> Result<String, Failure> {
        let message = match self.message.as_deref() {
            Some("-") => input::read("the message")?,
            Some(message) => message.to_owned(),
            // The pipe may be idle, left open by the program that started us.
            None if input::is_piped() => input::read_soon()?.unwrap_or_default(),
            None => String::new(),
        };
        if message.trim().is_empty() {
            return Err(Failure::usage("there is no message to answer")
                .hint("give a message: `kitbag context \"…\"`"));
        }
        Ok(message)
    }

    fn show(&self) -> Show {
        match (self.json, self.explain) {
            (true, _) => Show::Json,
            (_, true) => Show::Ledger,
            _ => Show::Prompt,
        }
    }

    fn form(&self) -> OutputForm {
        let usual = match self.node {
            Some(_) => OutputForm::Node,
            None => OutputForm::Flat,
        };
        self.format.unwrap_or(usual)
    }

    fn node(&self, project: &Project) -> Result<Option<View>, Failure> {
        let Some(name) = &self.node else {
            return Ok(None);
        };
        if let Some(view) = project.config.node(name) {
            return Ok(Some(view.clone()));
        }
        // A node with errors is in the configuration without a value: the message must not say that it is unknown.
        if project.config.nodes.contains_key(name) {
            let what = format!("the node `{}` has errors in kitbag.yaml", one_line(name));
            return Err(Failure::new(what).hint("`kitbag layout check` names them"));
        }
        let mut known = vec!["understand", "think", "act", "reply"];
        let own = project.config.nodes.iter();
        known.extend(own.filter_map(|(name, view)| view.as_ref().map(|_| name.as_str())));
        let (name, known) = (one_line(name), one_line(&known.join(", ")));
        let hint = format!("the nodes are {known}; `nodes:` in kitbag.yaml defines more");
        Err(Failure::usage(format_args!("there is no node `{name}`")).hint(hint))
    }
}
