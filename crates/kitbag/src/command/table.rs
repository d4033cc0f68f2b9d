//! The table of commands.

/// A command as help shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandSpec {
    /// Its name, without the slash.
    pub name: &'static str,
    /// The words that it takes, as a usage line shows them.
    pub arguments: &'static str,
    /// One line of help.
    pub help: &'static str,
    pub(super) id: CommandName,
}

/// The commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandName {
    Help,
    Status,
    Context,
    History,
    New,
    Memory,
    Facts,
    Forget,
    Remind,
    Skills,
    Skill,
    Model,
    Agent,
    Checkpoint,
    Quit,
}

// Named, because the errors of `/help` refer to its usage.
pub(super) const HELP: CommandSpec = spec(
    CommandName::Help,
    "help",
    "[COMMAND]",
    "lists the commands, or tells about one",
);

/// All commands, in the order in which help lists them.
pub const COMMANDS: &[CommandSpec] = &[
    HELP,
    spec(
        CommandName::Status,
        "status",
        "",
        "the conversation, the model, and what the last turn took",
    ),
    spec(
        CommandName::Context,
        "context",
        "[MESSAGE]",
        "what the next prompt holds, and what was left out",
    ),
    spec(
        CommandName::History,
        "history",
        "[COUNT]",
        "the latest messages of this conversation",
    ),
    spec(
        CommandName::New,
        "new",
        "",
        "ends this conversation with a summary and begins another",
    ),
    spec(
        CommandName::Memory,
        "memory",
        "[WORDS]",
        "what is remembered, or what is remembered about some words",
    ),
    spec(CommandName::Facts, "facts", "", "what is known about you"),
    spec(
        CommandName::Forget,
        "forget",
        "[yes] about WORDS | fact KEY | message ID",
        "lists what would go; with `yes` in front it goes for good",
    ),
    spec(
        CommandName::Remind,
        "remind",
        "[TEXT | remove KEY]",
        "keeps a text in every prompt, lists such texts, or removes one",
    ),
    spec(
        CommandName::Skills,
        "skills",
        "",
        "the skills that there are, and which are active and why",
    ),
    spec(
        CommandName::Skill,
        "skill",
        "NAME MESSAGE",
        "a message for the model, with the text of a skill",
    ),
    spec(
        CommandName::Model,
        "model",
        "[NAME]",
        "tells which model answers, or chooses another for this chat",
    ),
    spec(
        CommandName::Agent,
        "agent",
        "[NAME]",
        "lists the agents, or chooses another for this chat",
    ),
    spec(
        CommandName::Checkpoint,
        "checkpoint",
        "[TASK]",
        "saves this conversation as a task, to go on with elsewhere",
    ),
    spec(
        CommandName::Quit,
        "quit",
        "",
        "ends the chat, as Ctrl-D does",
    ),
    spec(
        CommandName::Quit,
        "exit",
        "",
        "ends the chat, as `/quit` does",
    ),
];

const fn spec(
    id: CommandName,
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
) -> CommandSpec {
    CommandSpec {
        name,
        arguments,
        help,
        id,
    }
}

impl CommandSpec {
    /// The command with the words that it takes: `/context [MESSAGE]`.
    #[must_use]
    pub fn usage(&self) -> String {
        format!("/{} {}", self.name, self.arguments)
            .trim_end()
            .to_owned()
    }
}
