//! The options that say whose message is answered, by whom, and from what.

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
    /// Sender of the message; needed if the store knows several
    #[arg(long, value_name = "NAME")]
    sender: Option<String>,
    /// Channel that the message came in on
    #[arg(long, value_name = "NAME", default_value = "cli")]
    channel: String,
    /// Conversation, by name or id, such as 7.12 [default: the open one]
    #[arg(long, value_name = "NAME")]
    conversation: Option<ConversationArg>,
    /// Agent that answers; needed if the project has several. Without agents, a plain
    /// assistant answers
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// Add the code that the message is about, from the folder of --root
    #[arg(long)]
    pack: bool,
    /// Folder of the code that --pack adds
    #[arg(long, value_name = "FOLDER", default_value = ".", requires = "pack")]
    root: PathBuf,
    /// Limit the prompt to this many tokens, such as 8000, 32k (32,000), 32ki (32,768), or the
    /// input's share of a window, as `total=8000,input=70%` [default: 32k, or less where the model
    /// takes less]
    #[arg(long, value_name = "TOKENS", value_parser = parse_input, allow_negative_numbers = true)]
    budget: Option<Tokens>,
}

impl AskedArgs {
    /// An engine with the project, the agent and the budget that were asked for.
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

    /// Whose message it is, and the conversation that it belongs to.
    pub(crate) async fn incoming(&self, store: Option<&Store>) -> Result<Incoming, Failure> {
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
        if named.is_none() && !knows_anybody(store).await? {
            return Ok("user".to_owned());
        }
        let sender = named_or_only(store, named).await?;
        say_unknown(store, named, None).await?;
        Ok(sender)
    }

    /// The code that the message is about, or the message whose prompt `/context` shows. No other command
    /// is about code.
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
        let request = PackRequest::new(&self.root, message).with_budget(engine.budget());
        let prepared = pack::prepared(&request)?;
        Ok(Some(contribute(
            &prepared,
            &request.options,
            engine.counter(),
        )))
    }
}
