//! Commands: what a person asks for in the middle of a conversation, answered without a model.
//!
//! [`COMMANDS`] is the one table of them; help, completion and suggestions come from it. Of memory
//! a command sees and changes what prompts of its sender on its channel see, and nothing else. Its words are
//! neither stored nor recalled.

mod checkpoint;
mod context;
mod conversation;
mod error;
mod facts;
mod forget;
mod help;
mod history;
mod memory;
mod read;
mod remind;
mod settings;
mod skills;
mod status;
mod table;

use kitbag_store::{ConversationChoice, ConversationId, ExportFilter, Incoming, Store};

use crate::engine::{Contribution, Engine};

pub use conversation::Ended;
pub use error::CommandError;
pub use forget::{ForgetPreview, forgotten};
pub use read::{Command, read};
pub use remind::reminder_key;
pub use status::describe_turn;
pub use table::{COMMANDS, CommandSpec};

use table::CommandName;

/// The reply to a command, and what the channel that it came from goes on with.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CommandReply {
    /// The reply, for people.
    pub text: String,
    /// The engine for the messages that follow, where the command chose another model or agent.
    pub engine: Option<Box<Engine>>,
    /// The conversation of the messages that follow, where the command began another.
    pub conversation: Option<ConversationChoice>,
    /// The conversation that the command closed, to [learn from](Engine::learn_from).
    pub closed: Option<ConversationId>,
    /// Asks for the end of the chat. A channel that has no end goes on.
    pub ends_chat: bool,
}

impl From<String> for CommandReply {
    fn from(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }
}

impl Engine {
    /// Follows a command of the message's sender. `others` is what sources besides memory bring to the
    /// turn.
    pub(crate) async fn follow(
        &self,
        command: &Command,
        incoming: &Incoming,
        others: &[Contribution],
    ) -> Result<CommandReply, CommandError> {
        tracing::debug!(event = "command", name = command.name());
        let rest = command.rest.as_str();
        let asked = CommandCall {
            engine: self,
            incoming,
            command: command.spec,
            rest,
        };
        match command.spec.id {
            CommandName::Help => help::help(rest).map(Into::into),
            CommandName::Status => status::status(asked).await,
            CommandName::Context => context::context(asked, others).await,
            CommandName::Memory => memory::memory(asked).await,
            CommandName::Facts => facts::facts(asked).await,
            CommandName::Forget => forget::forget(asked).await,
            CommandName::History => history::history(asked).await,
            CommandName::Remind => remind::remind(asked).await,
            CommandName::Skills => skills::skills(asked).await,
            CommandName::Skill if rest.is_empty() => {
                Err(asked.wrong("needs the name of a skill and a message"))
            }
            CommandName::Skill => Err(asked.wrong(format!(
                "needs a message behind the name: `/skill {rest} …`"
            ))),
            CommandName::Model => settings::model(asked),
            CommandName::Agent => settings::agent(asked),
            CommandName::Checkpoint => checkpoint::checkpoint(asked).await,
            CommandName::New => conversation::new(asked).await,
            CommandName::Quit => conversation::quit(asked),
        }
    }
}

/// A command, and where it was given.
#[derive(Clone, Copy)]
struct CommandCall<'a> {
    engine: &'a Engine,
    incoming: &'a Incoming,
    command: &'static CommandSpec,
    /// The words behind the command.
    rest: &'a str,
}

impl<'a> CommandCall<'a> {
    fn store(self) -> Result<&'a Store, CommandError> {
        let command = self.command.name;
        let store = self.engine.store.as_ref();
        store.ok_or(CommandError::NoMemory { command })
    }

    fn sender(self) -> &'a str {
        &self.incoming.sender
    }

    fn channel(self) -> &'a str {
        &self.incoming.channel
    }

    /// The messages of the sender on this channel: those that prompts here may recall.
    fn own(self) -> ExportFilter {
        let Incoming {
            sender, channel, ..
        } = self.incoming;
        ExportFilter::new(Some(sender.clone()), Some(channel.clone()))
    }

    /// The conversation that the next message goes on with.
    async fn conversation(self) -> Result<Option<ConversationId>, CommandError> {
        let open = self.engine.conversation(self.incoming).await?;
        Ok(open.map(|(id, _)| id))
    }

    fn wrong(self, problem: impl Into<String>) -> CommandError {
        CommandError::Usage {
            command: self.command,
            problem: problem.into(),
        }
    }

    /// Refuses words behind a command that takes none.
    fn takes_nothing(self) -> Result<(), CommandError> {
        match self.rest.is_empty() {
            true => Ok(()),
            false => Err(self.wrong("takes no words")),
        }
    }
}
