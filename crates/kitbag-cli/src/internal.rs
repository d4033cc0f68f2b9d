//! `--internal`: internal messages are for the model alone, and only an operator may look at them.

use std::borrow::Cow;

use kitbag::engine::{BodyForPeople, Composed, ReplayedPrompt};

use crate::output::{self, counted};

#[derive(clap::Args)]
pub(crate) struct InternalArgs {
    /// Show internal messages too, for an operator who wants to see what the model sees
    #[arg(long)]
    internal: bool,
}

impl InternalArgs {
    /// The body of a prompt to print. Says the number of hidden messages.
    pub(crate) fn body_of<'a>(&self, composed: &'a Composed) -> Cow<'a, str> {
        match self.internal {
            true => composed.body(),
            false => say_hidden(composed.body_for_people()),
        }
    }

    /// The body of a replayed prompt.
    pub(crate) fn body_of_replayed<'a>(&self, replayed: &'a ReplayedPrompt) -> Cow<'a, str> {
        match self.internal {
            true => Cow::Borrowed(&replayed.body),
            false => say_hidden(replayed.body_for_people()),
        }
    }
}

fn say_hidden(body: BodyForPeople<'_>) -> Cow<'_, str> {
    if body.hidden > 0 {
        // On stderr, so that stdout holds the prompt alone.
        let (one, several) = ("internal message is", "internal messages are");
        let count = counted(body.hidden as u64, one, several);
        output::say(format_args!("note: {count} hidden; --internal shows them"));
    }
    body.text
}
