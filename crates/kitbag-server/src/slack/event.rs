//! The deliveries of Slack: a challenge, or a message to the app. Everything else is of no concern.

use serde::Deserialize;

/// A delivery that is of concern.
pub(super) enum Delivery {
    /// Slack asks if the address is ours.
    Challenge(String),
    /// Somebody said something to the app.
    Said(Said),
}

/// A message to the app.
#[derive(Debug, Clone)]
pub(super) struct Said {
    /// The channel, or the direct conversation.
    pub(super) channel: String,
    /// The id of whoever said it.
    pub(super) user: String,
    /// The words, with the files that came along, each on a line.
    pub(super) text: String,
    /// The thread to answer in; none in a direct conversation without one.
    pub(super) thread: Option<String>,
    at: String,
    is_direct: bool,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Outer {
    UrlVerification {
        challenge: String,
    },
    EventCallback {
        event: Box<Event>,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    subtype: Option<String>,
    #[serde(default)]
    bot_id: Option<String>,
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    text: String,
    #[serde(default)]
    channel: Option<String>,
    #[serde(default)]
    channel_type: Option<String>,
    #[serde(default)]
    ts: Option<String>,
    #[serde(default)]
    thread_ts: Option<String>,
    #[serde(default)]
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    mimetype: Option<String>,
}

impl Delivery {
    /// Reads a body; none where it is of no concern.
    pub(super) fn read(body: &[u8]) -> Option<Self> {
        match serde_json::from_slice(body).ok()? {
            Outer::UrlVerification { challenge } => Some(Self::Challenge(challenge)),
            Outer::EventCallback { event } => Said::of(*event).map(Self::Said),
            Outer::Other => None,
        }
    }
}

impl Said {
    /// A mention of the app in a channel, or a direct message. What bots say, the app itself among them, is
    /// no question, and neither is an edit.
    fn of(event: Event) -> Option<Self> {
        let is_direct = event.channel_type.as_deref() == Some("im");
        let is_to_us = event.kind == "app_mention" || (event.kind == "message" && is_direct);
        // Edits, joins and deletions are messages too, by their type.
        let is_plain = matches!(event.subtype.as_deref(), None | Some("file_share"));
        if !is_to_us || !is_plain || event.bot_id.is_some() {
            return None;
        }
        let at = event.ts?;
        let mut text = plain(&event.text);
        for file in &event.files {
            let name = file.name.as_deref().unwrap_or("without a name");
            let kind = file.mimetype.as_deref().unwrap_or("of unknown kind");
            // Named and not fetched: the model knows that there was one, and can say that it cannot read it.
            text.push_str(&format!("\n[file: {name}, {kind}]"));
        }
        let text = text.trim().to_owned();
        let thread = match is_direct {
            true => event.thread_ts,
            // An answer to a message outside a thread begins one, so that channels stay readable.
            false => event.thread_ts.or_else(|| Some(at.clone())),
        };
        Some(Self {
            channel: event.channel?,
            user: event.user?,
            text,
            thread,
            at,
            is_direct,
        })
        .filter(|said| !said.text.is_empty())
    }

    /// The name of the message, which no other has: a mention is delivered as two events.
    pub(super) fn key(&self) -> String {
        format!("slack-{}-{}", self.at, self.channel)
    }

    /// The sender whose conversation it is: all who speak in a channel share its threads.
    pub(super) fn sender(&self) -> &str {
        match self.is_direct {
            true => &self.user,
            false => &self.channel,
        }
    }

    /// The conversation of a thread; none for direct messages without one, which go on with the open one.
    pub(super) fn conversation(&self) -> Option<String> {
        let thread = self.thread.as_ref()?;
        Some(format!("{}-{thread}", self.channel))
    }
}

/// The text as it was typed, without the mention of the app at its beginning.
fn plain(text: &str) -> String {
    let text = text.trim();
    let rest = text
        .strip_prefix("<@")
        .and_then(|rest| rest.split_once('>'));
    let text = rest.map_or(text, |(_, rest)| rest.trim());
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        // Last: `&amp;lt;` is the text `&lt;`.
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn said(event: Value) -> Option<Said> {
        let body = json!({"type": "event_callback", "event_id": "Ev1", "event": event});
        match Delivery::read(body.to_string().as_bytes())? {
            Delivery::Said(said) => Some(said),
            Delivery::Challenge(_) => None,
        }
    }

    #[test]
    fn c10_mentions_and_direct_messages_are_questions() {
        let mention = json!({"type": "app_mention", "user": "U1", "channel": "C1", "ts": "1.5",
            "text": "<@U0> is 1 &lt; 2 &amp;amp;?", "files": [{"name": "a.pdf", "mimetype": "application/pdf"}]});
        let said_in_channel = said(mention.clone()).unwrap();
        assert_eq!(
            said_in_channel.text,
            "is 1 < 2 &amp;?\n[file: a.pdf, application/pdf]"
        );
        assert_eq!(said_in_channel.sender(), "C1");
        assert_eq!(said_in_channel.conversation().unwrap(), "C1-1.5");
        let direct = json!({"type": "message", "channel_type": "im", "user": "U1", "channel": "D1",
            "ts": "2.5", "text": "hello"});
        let said_directly = said(direct.clone()).unwrap();
        assert_eq!(
            (said_directly.sender(), said_directly.conversation()),
            ("U1", None)
        );
        for (base, field, value) in [
            (&mention, "bot_id", json!("B1")),
            (&direct, "bot_id", json!("B1")),
            (&direct, "subtype", json!("message_changed")),
            (&direct, "channel_type", json!("channel")),
            (&direct, "text", json!(" ")),
            (&mention, "user", Value::Null),
            (&mention, "type", json!("reaction_added")),
        ] {
            let mut event = base.clone();
            event[field] = value;
            assert!(said(event.clone()).is_none(), "{event}");
        }
        for body in [
            "",
            "[]",
            "{\"type\":\"event_callback\"}",
            "{\"type\":\"x\"}",
        ] {
            assert!(Delivery::read(body.as_bytes()).is_none(), "{body}");
        }
    }
}
