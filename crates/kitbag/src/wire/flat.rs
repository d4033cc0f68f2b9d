//! A request that is one text, which a program reads on its stdin.
//!
//! Its text is in [`PROMPT`]; the other fields reach the program as its own arguments.

use kitbag_core::context::Context;
use kitbag_core::message::Message;

use super::received::{ReceivedTurn, WireError};
use super::{PROMPT, Request};
use crate::engine::{Composed, Contribution};

impl Request {
    /// The request with the text of a prompt.
    pub(super) fn with_text_of(&self, composed: &Composed) -> Self {
        let mut request = self.clone();
        request.set(PROMPT, &composed.body());
        request
    }
}

/// The turn that a flat request asks for.
pub(super) fn turn(request: &Request) -> Result<ReceivedTurn, WireError> {
    let context = Context::from_prompt_string(&request.body()).map_err(|error| {
        let reason = error.to_string();
        WireError::NotARequest { reason }
    })?;
    let said = context
        .history
        .into_iter()
        .map(|entry| match entry.role.as_str() {
            "user" => Message::user(entry.content),
            _ => Message::assistant(entry.content),
        });
    let mut contribution = Contribution::default();
    contribution.draft.identity = Some(context.system_prompt);
    contribution.draft.history = said.collect();
    Ok(ReceivedTurn {
        contribution,
        current: Message::user(context.current_message),
        model: request.model(),
        max_output: None,
    })
}
