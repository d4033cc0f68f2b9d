//! Tells commands from messages.

use kitbag_core::content::Content;
use kitbag_layout::nearest::within_two;

use super::CommandError;
use super::table::{COMMANDS, CommandName, CommandSpec};

/// A message that is a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    pub(super) spec: &'static CommandSpec,
    /// The words behind the command.
    pub rest: String,
}

impl Command {
    /// The name of the command, without the slash.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.spec.name
    }
}

/// Reads a command; none where the message is for the model.
///
/// A command is a message of one line and of words alone whose very first character is a slash and
/// whose first word is in the table, but for `/skill NAME …`, which the model answers. So `//` begins a comment and `/etc/hosts` a path, and a space before
/// the slash sends `/help` itself to the model. A slash with another word is for the model too
/// (`/tmp is full`), unless the word stands alone or is a slip away from a command: then the sender is
/// asked what was meant.
///
/// # Errors
/// When the message looks like a command that does not exist.
///
/// ```
/// use kitbag::command::read;
///
/// let command = read(&"/memory the bakery".into())?;
/// assert_eq!(command.map(|it| (it.name(), it.rest)), Some(("memory", "the bakery".into())));
/// assert_eq!(read(&"/etc/hosts is empty".into())?, None);
/// # Ok::<(), kitbag::command::CommandError>(())
/// ```
pub fn read(message: &Content) -> Result<Option<Command>, CommandError> {
    let is_words = match message {
        Content::Null => false,
        Content::Text(_) => true,
        Content::Blocks(blocks) => blocks.iter().all(|block| block.as_text().is_some()),
    };
    let text = message.text();
    let text = text.trim_end();
    let Some(line) = text.strip_prefix('/').filter(|_| is_words) else {
        return Ok(None);
    };
    let (word, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphabetic());
    if !is_word || line.contains(['\n', '\r']) {
        return Ok(None);
    }
    let name = word.to_ascii_lowercase();
    if let Some(spec) = COMMANDS.iter().find(|spec| spec.name == name) {
        let rest = rest.trim().to_owned();
        // A name alone asks for nothing.
        let is_message = spec.id == CommandName::Skill && rest.contains(char::is_whitespace);
        return Ok((!is_message).then_some(Command { spec, rest }));
    }
    let known: Vec<&str> = COMMANDS.iter().map(|spec| spec.name).collect();
    let near = within_two(&name, &known);
    match rest.is_empty() || near.is_some() {
        true => Err(CommandError::Unknown { name, near }),
        false => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(text: &str) -> String {
        match read(&text.into()) {
            Ok(Some(command)) => format!("{} {:?}", command.name(), command.rest),
            Ok(None) => "message".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn o05_each_name_of_the_table_is_a_command_of_its_own() {
        for spec in COMMANDS {
            assert_eq!(
                reading(&format!("/{}", spec.name)),
                format!("{} \"\"", spec.name)
            );
            assert!(spec.usage().len() + spec.help.len() < 110, "{}", spec.name);
        }
    }

    #[test]
    fn o05_a_command_is_one_line_that_begins_with_its_name() {
        for (text, expected) in [
            ("/facts", "facts \"\""),
            ("/Facts  ", "facts \"\""),
            ("/skill baking", "skill \"baking\""),
            ("/forget  about Porto ", "forget \"about Porto\""),
            ("/facts\n", "facts \"\""),
            ("/fcats", "there is no command `/fcats`"),
            ("/fcats please", "there is no command `/fcats`"),
            ("/tmp", "there is no command `/tmp`"),
        ] {
            assert_eq!(reading(text), expected, "{text:?}");
        }
        for message in [
            "",
            "/",
            "/ ",
            "// TODO: /facts",
            "//facts",
            " /facts",
            "/etc/hosts is empty",
            "/etc/hosts",
            "/tmp is full",
            "/facts\nand more",
            "/facts: none",
            "/2026-11-18",
            "/fakten über mich",
            "/übersicht",
            "what does /facts do?",
            "/skill baking how long?",
        ] {
            assert_eq!(reading(message), "message", "{message:?}");
        }
    }
}
