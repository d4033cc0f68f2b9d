//! `--conversation`: a conversation by its id, such as 7.12, or by its name.

use std::convert::Infallible;
use std::str::FromStr;

use kitbag::store::{ConversationChoice, ConversationId, ExportFilter, Incoming, Store};

use crate::failure::Failure;

/// A conversation that somebody names.
#[derive(Debug, Clone)]
pub(crate) enum ConversationArg {
    Id(ConversationId),
    Name(String),
}

impl FromStr for ConversationArg {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(text
            .parse()
            // Everything that is no id is a name, so that this never fails.
            .map_or_else(|_| Self::Name(text.to_owned()), Self::Id))
    }
}

impl ConversationArg {
    /// Refuses a sender next to an id, which already determines the sender.
    pub(crate) fn check(&self, sender: Option<&str>) -> Result<(), Failure> {
        match (self, sender) {
            (Self::Id(id), Some(_)) => Err(Failure::usage(format_args!(
                "the id {id} already determines the sender"
            ))
            .hint("leave out `--sender`, or give the conversation's name")),
            _ => Ok(()),
        }
    }
}

/// A message that continues the conversation of this id, on its own channel.
pub(crate) async fn incoming_for(
    store: Option<&Store>,
    id: ConversationId,
) -> Result<Incoming, Failure> {
    let everywhere = ExportFilter::default();
    let known = match store {
        Some(store) => store.latest_conversations(&everywhere, u32::MAX).await?,
        None => Vec::new(),
    };
    // Over all senders: an id already says whose conversation it is.
    let found = known.into_iter().find(|known| known.conversation.id == id);
    let found = found.ok_or_else(|| {
        Failure::new(format_args!("there is no conversation `{id}`"))
            .hint("`kitbag memory history` lists conversations")
    })?;
    let mut incoming = Incoming::new(&found.channel, &found.sender, "");
    incoming.conversation = ConversationChoice::Id(id);
    Ok(incoming)
}
