//! Authorise: checks that the sender may send messages on this channel. Refusals are stored without
//! the text of the message.

use kitbag_store::Incoming;

use crate::engine::Engine;

/// A message was refused: its sender may not send messages on its channel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{sender} may not send messages on channel {channel}: {reason}")]
#[non_exhaustive]
pub struct Refused {
    /// The channel.
    pub channel: String,
    /// The sender.
    pub sender: String,
    /// The reason.
    pub reason: &'static str,
}

impl Refused {
    /// The remedy.
    #[must_use]
    pub fn hint(&self) -> String {
        match self.reason {
            UNKNOWN => "correct the configuration".to_owned(),
            _ => format!(
                "`channels: {{{}: {{senders: […]}}}}` in kitbag.yaml names who may",
                self.channel
            ),
        }
    }
}

pub(super) const UNRESTRICTED: &str = "nothing restricts it";
const NOT_LISTED: &str = "not among the channel's senders";
const UNKNOWN: &str = "the configuration cannot be read, and may restrict who may";

impl Engine {
    /// Checks that a sender may send messages on a channel, and stores a refusal. Responding to a message
    /// includes this check; it is for programs that do or show something else first.
    ///
    /// # Errors
    /// When the sender may not.
    pub async fn admit(&self, incoming: &Incoming) -> Result<(), Refused> {
        authorise(self, incoming).await.map(|_| ())
    }
}

/// Admits a message, and returns the reason.
pub(super) async fn authorise(
    engine: &Engine,
    incoming: &Incoming,
) -> Result<&'static str, Refused> {
    let Some(project) = &engine.project else {
        return Ok(UNRESTRICTED);
    };
    let (channel, sender) = (&incoming.channel, &incoming.sender);
    let channels = &project.config.channels;
    if channels.admit(channel, sender) {
        return Ok("admitted");
    }
    // A configuration that cannot be read may hold a list of senders, so it admits nobody.
    let reason = match channels.is_unknown() {
        true => UNKNOWN,
        false => NOT_LISTED,
    };
    tracing::warn!(event = "refused", channel, sender, reason);
    if let Some(store) = &engine.store
        && let Err(error) = store
            .refuse(channel, sender, reason, (engine.clock)())
            .await
    {
        // A store that fails must not admit anybody: the message is refused nevertheless.
        tracing::error!(event = "refusal_not_kept", %error);
    }
    Err(Refused {
        channel: channel.clone(),
        sender: sender.clone(),
        reason,
    })
}
