//! Tagged text: every part is an element, for models that are used to tags.
//!
//! What an element holds is verbatim, up to the closing tag with the element's own name, which
//! nothing inside can spell. It is no XML for a parser of XML: code is not escaped.

use alloc::string::String;

use super::pack::by_part;
use super::spoken::spoken;
use super::{Laid, Placed};
use crate::assembly::draft::Draft;
use crate::assembly::piece::element;
use crate::assembly::segment::TextSegments;
use crate::band::Band;
use crate::inject::ContextMessage;
use crate::role::Role;

pub(super) fn lay_out(draft: &Draft, chunks: &Placed<'_>) -> Laid {
    let mut out = TextSegments::default();
    if !draft.identity.is_empty() {
        out.push(Band::Identity, &element("system", &[], &draft.identity));
    }
    let system = draft.injected(Band::System);
    for message in system.filter(|message| !message.content.is_empty()) {
        out.push(Band::System, &instruction("system", message));
    }

    out.push(Band::Session, "<context>\n");
    for kept in by_part(chunks) {
        out.push(Band::Session, &kept.text);
    }
    for message in draft.injected(Band::Session) {
        let said = said(message.role.as_str(), &message.content);
        out.push(Band::Session, &said);
    }
    out.push(Band::Session, "</context>\n");

    conversation(draft, chunks, &mut out);
    for kept in chunks.before(draft.history.len()).chain(chunks.volatile()) {
        out.push(Band::Volatile, &kept.text);
    }

    let request = spoken(&draft.current);
    if !request.is_empty() {
        out.push(Band::Current, &element("request", &[], &request));
    }
    for step in &draft.steps {
        out.push(Band::Steps, &said(step.role.as_str(), &spoken(step)));
    }
    if let Some(task_type) = draft.task_type {
        let instructions = element("instructions", &[], task_type.instructions());
        out.push(Band::Current, &instructions);
    }
    for message in draft.injected(Band::SuffixSystem) {
        out.push(Band::SuffixSystem, &instruction("instructions", message));
    }
    chunks.finish(out)
}

/// A context message among the instructions, unless somebody else than the operator speaks.
fn instruction(name: &str, message: &ContextMessage) -> String {
    match message.role {
        Role::System => element(name, &[], &message.content),
        role => said(role.as_str(), &message.content),
    }
}

/// Writes what was said, in an element of its own unless nothing was said.
fn conversation(draft: &Draft, chunks: &Placed<'_>, out: &mut TextSegments) {
    let mut opening = Some("<conversation>\n");
    for message in draft.injected(Band::Conversation) {
        out.push(Band::Conversation, opening.take().unwrap_or_default());
        let said = said(message.role.as_str(), &message.content);
        out.push(Band::Conversation, &said);
    }
    for (index, message) in draft.history.iter().enumerate() {
        out.push(Band::History, opening.take().unwrap_or_default());
        for kept in chunks.before(index) {
            out.push(Band::History, &kept.text);
        }
        let said = said(message.role.as_str(), &spoken(message));
        out.push(Band::History, &said);
    }
    if opening.is_none() {
        out.push(Band::History, "</conversation>\n");
    }
}

fn said(role: &str, text: &str) -> String {
    element("message", &[("role", role)], text)
}
