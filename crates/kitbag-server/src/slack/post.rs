//! Posts an answer while it streams: the first words as a message, which is then replaced as the answer grows.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::Piece;
use super::client::Client;
use super::event::Said;

/// Slack takes about one change of a message a second.
const PAUSE: Duration = Duration::from_secs(1);
/// A longer answer is posted as several messages. Slack cuts texts of 40,000 characters.
const LONGEST: usize = 30_000;

/// Posts an answer in the thread of its question. What Slack refuses is logged, and changes nothing of the
/// answer itself.
pub(super) async fn stream(
    client: &Client,
    said: &Said,
    mut pieces: mpsc::UnboundedReceiver<Piece>,
) {
    let mut post = Post {
        client,
        said,
        text: String::new(),
        shown: String::new(),
        message: None,
    };
    let mut next = Instant::now();
    loop {
        match timeout_at(next, pieces.recv()).await {
            // The first words appear at once, so that people see that they were heard.
            Ok(Some(Piece::Text(text))) if next <= Instant::now() => {
                post.text.push_str(&text);
                post.show_beginning().await;
                next = Instant::now() + PAUSE;
            }
            Ok(Some(Piece::Text(text))) => post.text.push_str(&text),
            Ok(Some(Piece::Whole(text))) => post.text = text,
            Ok(None) => break,
            // Nothing to change: waits for words instead of asking Slack every second.
            Err(_) if post.text == post.shown => match pieces.recv().await {
                Some(Piece::Text(text)) => post.text.push_str(&text),
                Some(Piece::Whole(text)) => post.text = text,
                None => break,
            },
            Err(_) => {
                post.show_beginning().await;
                next = Instant::now() + PAUSE;
            }
        }
    }
    post.show_whole().await;
}

struct Post<'a> {
    client: &'a Client,
    said: &'a Said,
    /// The answer as far as it has come.
    text: String,
    /// The text of the message.
    shown: String,
    /// The name of the message.
    message: Option<String>,
}

impl Post<'_> {
    async fn show_beginning(&mut self) {
        let beginning = parts(&self.text).next().unwrap_or_default().to_owned();
        if beginning.trim().is_empty() || beginning == self.shown {
            return;
        }
        let said = self.said;
        let told = match &self.message {
            None => {
                let thread = said.thread.as_deref();
                let posted = self.client.post(&said.channel, thread, &beginning).await;
                posted.map(|name| self.message = Some(name))
            }
            Some(name) => self.client.update(&said.channel, name, &beginning).await,
        };
        match told {
            Ok(()) => self.shown = beginning,
            Err(problem) => tracing::error!(event = "slack_not_posted", problem),
        }
    }

    async fn show_whole(&mut self) {
        self.show_beginning().await;
        let (said, thread) = (self.said, self.said.thread.as_deref());
        for part in parts(&self.text).skip(1) {
            if let Err(problem) = self.client.post(&said.channel, thread, part).await {
                tracing::error!(event = "slack_not_posted", problem);
            }
        }
    }
}

/// The parts of a text, each short enough for a message.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest
            .char_indices()
            // By characters, as Slack counts.
            .nth(LONGEST)
            .map_or(rest.len(), |(at, _)| at);
        let (part, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(part)
    })
}
