//! `kitbag context`: the prompt that a message would be answered with.
//!
//! Sends nothing and changes nothing. Whatever sends a prompt makes it with the same call.

use std::borrow::Cow;
use std::env;
use std::path::PathBuf;

use jiff::Timestamp;
use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::budget::parse_input;
use kitbag::core::tokens::Tokens;
use kitbag::core::view::View;
use kitbag::engine::{
    AgentRequest, AgentSource, Contribution, PromptRequest, Sources, TurnRequest, turn,
};
use kitbag::layout::{ChannelTurn, Platform};
use kitbag::pack::{PackRequest, contribute};
use kitbag::project::Project;
use kitbag::store::{Incoming, MemoryRequest, Store};
use kitbag::tokens::Counter;

use super::memory::sender::{named_or_only, say_unknown};
use super::pack;
use crate::conversation::{ConversationArg, incoming_for};
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

/// Prints the prompt that a message would be answered with
///
/// The prompt holds what is remembered of the conversation and of the sender, the agent's own prompt
/// and documents, and with --pack the code of the folder you are in. All of it competes for one
/// budget. Nothing is sent, and nothing changes. Internal messages, which are for the model alone, are
/// shown only with --internal.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The message to answer; without it, or with `-`, it is read from stdin
    message: Option<String>,
    /// Who sent the message; needed only if the store knows several senders
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// The channel that the message came in on
    #[arg(long, value_name = "NAME", default_value = "cli")]
    channel: String,
    /// The conversation, by its name or by its id, such as 7.12 [default: the open one]
    #[arg(long, value_name = "NAME")]
    conversation: Option<ConversationArg>,
    /// The agent that answers; needed only if the project has several. Without agents, a plain
    /// assistant answers
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Prints the prompt of a node: understand, think, act, reply, or one that kitbag.yaml defines
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// Adds the code that the message is about, from the folder of --root
    #[arg(long)]
    pack: bool,
    /// The folder of the code that --pack adds
    #[arg(long, value_name = "FOLDER", default_value = ".", requires = "pack")]
    root: PathBuf,
    /// The most tokens that the prompt may have, such as 8000, 32k (32,000), 32ki (32,768), or the
    /// input's share of a window, as `total=8000,input=70%`
    #[arg(long, value_name = "TOKENS", default_value = "32k", value_parser = parse_input, allow_negative_numbers = true)]
    budget: Tokens,
    /// The form of the prompt: flat, pack, markdown, xml, node, anthropic, openai, responses or json
    /// [default: flat, and node for a node]
    #[arg(long, value_name = "FORM")]
    format: Option<OutputForm>,
    #[command(flatten)]
    counter: CounterArgs,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    internal: InternalArgs,
    /// Prints the ledger as a table: everything that was considered, in or out, and why
    #[arg(long)]
    explain: bool,
    /// Prints the prompt and the ledger as JSON
    #[arg(long, conflicts_with = "explain")]
    json: bool,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let message = args.message()?;
    let (counter, traits) = args.counter.counter()?;
    let project = args.project.open_and_tell()?;
    let node = args.node(&project)?;
    let settings =
        AssemblySettings::new(args.form(), args.budget).with_traits(traits.unwrap_or_default());
    let mut prompt = PromptRequest::new(message.as_str(), settings);
    prompt.model = args.counter.model().map(String::from);

    let progress = Progress::start("looking at what is known");
    let workspace = args.workspace(&message, &counter)?;
    let made = store::run(async {
        let store = place.open_if_any().await?.map(with_chosen_model);
        let mut incoming = args.incoming(store.as_ref()).await?;
        incoming.message = message.as_str().into();
        let agent = args.agent(&project, &incoming.channel)?;
        let memory = MemoryRequest::new(incoming, Timestamp::now());
        let mut request = TurnRequest::new(memory, prompt);
        request.node = node;
        let mut sources = Sources::default();
        sources.store = store.as_ref();
        sources.agent = agent;
        sources.contributions.extend(workspace);
        Ok(turn(sources, &request, &counter).await?)
    })?;
    drop(progress);
    let body = match args.show() {
        Show::Ledger => Cow::default(),
        _ => args.internal.body_of(&made.composed),
    };
    deliver(args.show(), &made.composed, &body, &counter)
}

impl Args {
    /// The message, from the arguments or from stdin.
    fn message(&self) -> Result<String, Failure> {
        let message = match self.message.as_deref() {
            Some("-") => input::read("the message")?,
            Some(message) => message.to_owned(),
            None if input::is_piped() => input::read_soon()?.unwrap_or_default(),
            None => String::new(),
        };
        if message.trim().is_empty() {
            return Err(Failure::usage("there is no message to answer")
                .hint("say what is asked: `kitbag context \"…\"`"));
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
        if project.config.nodes.contains_key(name) {
            let what = format!("the node `{}` has mistakes in kitbag.yaml", one_line(name));
            return Err(Failure::new(what).hint("`kitbag layout check` names them"));
        }
        let mut known = vec!["understand", "think", "act", "reply"];
        let own = project.config.nodes.iter();
        known.extend(own.filter_map(|(name, view)| view.as_ref().map(|_| name.as_str())));
        let (name, known) = (one_line(name), one_line(&known.join(", ")));
        let hint = format!("the nodes are {known}; `nodes:` in kitbag.yaml defines more");
        Err(Failure::usage(format_args!("there is no node `{name}`")).hint(hint))
    }

    /// The agent of the project, if it has any. Layouts see the channel's name, so that it must be a
    /// plain word where an agent answers.
    fn agent<'a>(
        &self,
        project: &'a Project,
        channel: &str,
    ) -> Result<Option<AgentSource<'a>>, Failure> {
        if self.agent.is_none() && project.config.agents.is_empty() {
            return Ok(None);
        }
        let mut turn = ChannelTurn::default();
        turn.platform = channel.parse::<Platform>().map_err(Failure::usage)?;
        let mut request = AgentRequest::new(turn);
        request.agent.clone_from(&self.agent);
        let source = AgentSource::new(project, request);
        Ok(Some(source.with_variables(&variable)))
    }

    /// Whose message it is, and the conversation that it belongs to.
    async fn incoming(&self, store: Option<&Store>) -> Result<Incoming, Failure> {
        if let Some(named) = &self.conversation {
            named.check(self.sender.as_deref())?;
        }
        if let Some(ConversationArg::Id(id)) = self.conversation {
            return incoming_for(store, id).await;
        }
        let incoming = Incoming::new(&self.channel, self.sender(store).await?, "");
        Ok(match &self.conversation {
            Some(ConversationArg::Name(name)) => incoming.in_conversation(name),
            _ => incoming,
        })
    }

    /// The sender that was named, or the only one that is known; where nobody is, anybody.
    async fn sender(&self, store: Option<&Store>) -> Result<String, Failure> {
        let named = self.sender.as_deref();
        let Some(store) = store else {
            return Ok(named.unwrap_or("user").to_owned());
        };
        if named.is_none() && store.sender_names(1).await?.is_empty() {
            return Ok("user".to_owned());
        }
        let sender = named_or_only(store, named).await?;
        say_unknown(store, named, None).await?;
        Ok(sender)
    }

    /// The code that the message is about.
    fn workspace(&self, message: &str, counter: &Counter) -> Result<Option<Contribution>, Failure> {
        if !self.pack {
            return Ok(None);
        }
        let request = PackRequest::new(&self.root, message).with_budget(self.budget);
        let prepared = pack::prepared(&request)?;
        Ok(Some(contribute(&prepared, &request.options, counter)))
    }
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}
