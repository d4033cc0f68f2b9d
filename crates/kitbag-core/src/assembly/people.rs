//! A prompt as people may see it: a line replaces each internal message.

use alloc::vec::Vec;

use super::{AssemblySettings, Draft, Kept, Rendered, render, render_piece};
use crate::chunk::{ContextChunk, Level};
use crate::message::Message;
use crate::role::Visibility;

const NOT_SHOWN: &str = "(an internal message: not shown)";

/// A prompt without the texts of its internal messages.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ForPeople {
    /// The draft, its internal messages replaced.
    pub draft: Draft,
    /// The prompt that it makes with the chunks, those of internal messages replaced as well.
    pub rendered: Rendered,
    /// The number of messages that were replaced.
    pub hidden: usize,
}

/// Renders a prompt for people; none if it has no internal message, so that they may see it as it
/// is.
#[must_use]
pub fn render_for_people(
    draft: &Draft,
    kept: &[Kept],
    settings: &AssemblySettings,
) -> Option<ForPeople> {
    let mut draft = draft.clone();
    let mut hidden = 0;
    for message in &mut draft.injected {
        if message.visibility == Visibility::Internal {
            message.content = NOT_SHOWN.into();
            hidden += 1;
        }
    }
    let said = draft.history.iter_mut().chain([&mut draft.current]);
    for message in said.chain(&mut draft.steps) {
        if !message.is_for_user() {
            // Names, calls and unknown fields can tell as much as the text.
            *message = Message {
                id: message.id.take(),
                tool_call_id: message.tool_call_id.take(),
                ..Message::new(message.role, NOT_SHOWN)
            };
            hidden += 1;
        }
    }
    let mut kept: Vec<Kept> = kept.to_vec();
    for one in &mut kept {
        if one.visibility == Visibility::Internal {
            // Rendered like a chunk with this text, so that the prompt keeps its shape.
            let chunk = ContextChunk::new(one.chunk_type.clone(), one.source.as_str(), NOT_SHOWN);
            let level = Level::new(one.detail, NOT_SHOWN);
            one.text = render_piece(&chunk, &level, settings.form);
            hidden += 1;
        }
    }
    (hidden > 0).then(|| ForPeople {
        rendered: render(&draft, &kept, settings),
        draft,
        hidden,
    })
}
