//! A message as a provider's request carries it: the words that differ between providers.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::OutputForm;
use super::spoken::{field, result_content, said_by};
use crate::content::{Content, ContentBlock};
use crate::inject::reminder;
use crate::message::Message;
use crate::neutral::one_line;
use crate::problem::{Problem, ProblemKind};
use crate::role::Role;

/// Returns the message without reasoning that only another provider can read, with its speaker's
/// name among its words if the request has no field for it.
pub(super) fn carried(message: &Message, form: OutputForm, problems: &mut Vec<Problem>) -> Message {
    let mut message = message.clone();
    // Not every model takes the system role among messages.
    if form == OutputForm::Anthropic && message.role == Role::System {
        message.content = Content::Text(reminder(&message.content.text()));
        message.role = Role::User;
    }
    if let Content::Blocks(blocks) = &mut message.content {
        blocks.retain(|block| can_read(form, block));
        if form == OutputForm::OpenAi {
            let unreadable = blocks.iter().map(unreadable_documents).sum();
            for _ in 0..unreadable {
                let detail = "a document that is not text cannot be sent in this form";
                problems.push(Problem::new("", ProblemKind::NotCarried, detail));
            }
        }
    }
    let has_field = |name: &String| form == OutputForm::OpenAi && is_identifier(name);
    // Only Chat Completions has a field for names, and only for some of them. A result of a tool is
    // nobody's words, so its name is dropped.
    if let Some(name) = message.name.take_if(|name| !has_field(name))
        && message.role != Role::Tool
    {
        say_name(&mut message.content, &name);
    }
    message
}

/// Tells whether the form's provider can read a block: reasoning is signed or encrypted by the
/// provider that made it.
fn can_read(form: OutputForm, block: &ContentBlock) -> bool {
    match block {
        ContentBlock::Thinking(_) => form == OutputForm::Anthropic,
        ContentBlock::Opaque(raw) => {
            form == OutputForm::Responses || field(raw, "type") != "reasoning"
        }
        _ => true,
    }
}

/// Counts the documents in a block that are not text.
fn unreadable_documents(block: &ContentBlock) -> usize {
    match block {
        ContentBlock::Document(raw) => {
            let is_text = field(raw, "source").contains(r#""type":"text""#);
            usize::from(!is_text)
        }
        ContentBlock::ToolResult { raw, .. } => {
            let blocks = result_content(raw).to_blocks();
            blocks.iter().map(unreadable_documents).sum()
        }
        _ => 0,
    }
}

/// Tells whether the Chat Completions API takes the name of a speaker.
fn is_identifier(name: &str) -> bool {
    let refused = |c: char| c.is_whitespace() || "<|\\/>".contains(c);
    (1..=64).contains(&name.len()) && !name.contains(refused)
}

/// Puts the name before the words. Results of tools stay first, as the Messages API requires.
fn say_name(content: &mut Content, name: &str) {
    match content {
        Content::Null => {}
        Content::Text(text) => *text = said_by(name, text),
        Content::Blocks(blocks) => {
            let is_said = |block: &ContentBlock| {
                !matches!(
                    block,
                    ContentBlock::ToolResult { .. } | ContentBlock::Thinking(_)
                )
            };
            let Some(at) = blocks.iter().position(is_said) else {
                return;
            };
            match blocks.get_mut(at) {
                Some(ContentBlock::Text { text, raw: None }) => *text = said_by(name, text),
                _ => blocks.insert(at, ContentBlock::text(format!("{}:", one_line(name)))),
            }
        }
    }
}
