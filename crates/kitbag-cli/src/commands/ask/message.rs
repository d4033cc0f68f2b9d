//! The words of a message, and what is attached to them.

use std::path::PathBuf;

use kitbag::command;
use kitbag::core::neutral::fence;

use crate::failure::Failure;
use crate::input;

#[derive(clap::Args)]
pub(super) struct MessageArgs {
    /// The message; without it, or with `-`, stdin is the message. With it, text that is piped in is attached
    message: Option<String>,
    /// Attach this text to the message; `-` reads stdin to its end. May be repeated
    #[arg(long, value_name = "FILE")]
    attach: Vec<PathBuf>,
}

/// A message with what is attached to it.
pub(super) struct ReadMessage {
    pub(super) text: String,
    /// The number of attachments in it.
    pub(super) attachments: usize,
}

impl MessageArgs {
    /// The message with its attachments.
    pub(super) fn read(&self) -> Result<ReadMessage, Failure> {
        let attaches_stdin = self.attach.iter().any(|file| input::is_stdin(file));
        let said = self.message.as_deref().filter(|said| *said != "-");
        let mut message = match said {
            Some(said) => said.to_owned(),
            None if attaches_stdin => String::new(),
            None if self.message.is_some() => input::read("the message")?,
            None if input::is_piped() => input::read_soon()?.unwrap_or_default(),
            None => String::new(),
        };
        if message.trim().is_empty() {
            return Err(Failure::usage("there is no message to answer")
                .hint("give a message: `kitbag ask \"…\"`"));
        }
        // A command is one line, and about nothing that could be attached.
        if !matches!(command::read(&message.as_str().into()), Ok(None)) {
            if !self.attach.is_empty() {
                return Err(Failure::usage("nothing can be attached to a command")
                    .hint("a space before the slash makes it a message"));
            }
            return Ok(ReadMessage {
                text: message,
                attachments: 0,
            });
        }
        let mut attachments = 0;
        for file in &self.attach {
            let text = input::read_text(file, "the attachment")?;
            let name = match input::is_stdin(file) {
                true => "stdin".into(),
                false => file.to_string_lossy(),
            };
            attachments += attach(&mut message, &name, &text);
        }
        if said.is_some() && self.attach.is_empty() && input::is_piped() {
            attachments += attach(
                &mut message,
                "stdin",
                &input::read_soon()?.unwrap_or_default(),
            );
        }
        Ok(ReadMessage {
            text: message,
            attachments,
        })
    }
}

/// Attaches a text, and returns the number of attachments that this makes: none where it is empty.
fn attach(message: &mut String, name: &str, text: &str) -> usize {
    let text = text.trim_end();
    if text.is_empty() {
        return 0;
    }
    let fence = fence(text);
    message.push_str(&format!("\n\nAttached, {name}:\n{fence}\n{text}\n{fence}"));
    1
}
