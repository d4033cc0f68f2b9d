//! The options for a message to answer: its sender, its conversation, the agent and the code.

use std::path::{Path, PathBuf};

use kitbag::Engine;
use kitbag::command;
use kitbag::core::budget::parse_input;
use kitbag::core::tokens::Tokens;
use kitbag::engine::{Contribution, EngineBuilder};
use kitbag::pack::{PackRequest, contribute};
use kitbag::project::Project;
use kitbag::store::{Incoming, Store};

use crate::commands::memory::sender::{knows_anybody, named_or_only, say_unknown};
use crate::commands::pack;
use crate::conversation::{ConversationArg, incoming_for};
use crate::failure::Failure;

/// A message that is answered, besides its words.
#[derive(clap::Args)]
pub(crate) struct AskedArgs {
    /// Sender of the message; required if the store has several
    #[arg(long, value_name = "NAME", help_heading = CONVERSATION)]
    sender: Option<String>,
    /// Channel that the message came in on
    #[arg(long, value_name = "NAME", default_value = "cli", help_heading = CONVERSATION)]
    channel: String,
    /// Conversation, by name or by id, such as 7.12 [default: the open one]
    #[arg(long, value_name = "NAME", help_heading = CONVERSATION)]
    conversation: Option<ConversationArg>,
    /// Agent that answers; required if the project has several. Without agents, a plain assistant answers
    #[arg(long, value_name = "ID", help_heading = PROMPT)]
    agent: Option<String>,
    /// Add the code that the message is about, from the folder of --root
    #[arg(short, long, help_heading = PROMPT)]
    pack: bool,
    /// Folder of the code that --pack adds
    #[arg(
        short = 'C',
        long,
        value_name = "FOLDER",
        default_value = ".",
        requires = "pack",
        help_heading = PROMPT
    )]
    root: PathBuf,
    /// Limit the prompt to this many tokens, such as 8000, 32k (32,000) or 32ki (32,768), or to the
    /// input's share of a window, such as `total=8000,input=70%` [default: 32k, or the model's limit if that
    /// is smaller]
    #[arg(
        short,
        long,
        value_name = "TOKENS",
        value_parser = parse_input,
        allow_negative_numbers = true,
        help_heading = PROMPT
    )]
    budget: Option<Tokens>,
}

const CONVERSATION: &str = "Conversation";
const PROMPT: &str = "Prompt";

impl AskedArgs {
    /// An engine with the project, and with the agent and the budget of the options.
    pub(crate) fn engine(&self, project: Project) -> EngineBuilder {
        let mut engine = Engine::builder().project(project);
        if let Some(id) = &self.agent {
            engine = engine.agent(id);
        }
        if let Some(budget) = self.budget {
            engine = engine.budget(budget);
        }
        engine
    }

    /// The folder of the code.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The message, still without words, with its sender and its conversation.
    pub(crate) async fn incoming(&self, store: Option<&Store>) -> Result<Incoming, Failure> {
        if let Some(named) = &self.conversation {
            // Before the store is asked: a contradiction between options needs no lookup.
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

    /// The named sender, or the only known one; `user` if the store knows nobody.
    async fn sender(&self, store: Option<&Store>) -> Result<String, Failure> {
        let named = self.sender.as_deref();
        let Some(store) = store else {
            return Ok(named.unwrap_or("user").to_owned());
        };
        if named.is_none() && !knows_anybody(store).await? {
            return Ok("user".to_owned());
        }
        let sender = named_or_only(store, named).await?;
        // A new name may be a mistyped one. It is answered nevertheless: everybody begins as a new name.
        say_unknown(store, named, None).await?;
        Ok(sender)
    }

    /// The code for the message, or for the message of `/context`. No other command needs code.
    pub(crate) fn workspace(
        &self,
        message: &str,
        engine: &Engine,
    ) -> Result<Option<Contribution>, Failure> {
        let command = command::read(&message.into());
        let message = match &command {
            Ok(None) => message,
            Ok(Some(command)) if command.name() == "context" => &command.rest,
            _ => return Ok(None),
        };
        if !self.pack || message.is_empty() {
            return Ok(None);
        }
        let mut request = PackRequest::new(&self.root, message).with_budget(engine.budget());
        if let Some(project) = engine.project() {
            let excluded = &project.config.pack.exclude;
            request.survey.exclude.clone_from(excluded);
        }
        let prepared = pack::prepared(&request)?;
        Ok(Some(contribute(
            &prepared,
            &request.options,
            engine.counter(),
        )))
    }
}
