//! `/forget`: deletes messages of the sender on this channel, or a fact about the sender, after listing
//! them.

mod preview;

use kitbag_store::{Forget, Forgotten, MessageFilter, MessageId, Store};

use super::{CommandCall, CommandError, CommandReply};
use crate::words::counted;

pub use preview::ForgetPreview;

/// The most messages that are listed before they are deleted.
const LISTED: u32 = 10;

pub(super) async fn forget(asked: CommandCall<'_>) -> Result<CommandReply, CommandError> {
    let store = asked.store()?;
    let (first, behind) = asked.rest.split_once(' ').unwrap_or((asked.rest, ""));
    // `yes` is the first word, where the words to look for cannot have it by chance.
    let (words, is_sure) = match first {
        "yes" => (behind.trim_start(), true),
        _ => (asked.rest, false),
    };
    let what = what(asked, store, words).await?;
    if is_sure {
        let gone = store.forget(what).await?;
        return Ok(forgotten(&gone).into());
    }
    // In a chat nobody can be asked in between, so the question and the answer are two commands.
    let preview = ForgetPreview::of(store, &what, LISTED).await?;
    let mut text = preview.text("would forget");
    if !preview.is_empty() {
        text = format!(
            "{}\n`/forget yes {words}` does so for good",
            text.trim_end()
        );
    }
    Ok(text.into())
}

async fn what(asked: CommandCall<'_>, store: &Store, words: &str) -> Result<Forget, CommandError> {
    let (kind, named) = words.split_once(' ').unwrap_or((words, ""));
    let named = named.trim();
    let sender = asked.sender().to_owned();
    match (kind, named) {
        ("about", words) => {
            let filter = MessageFilter::default().with_words(words);
            if filter.words.is_empty() {
                return Err(asked.wrong("needs words to look for behind `about`"));
            }
            Ok(Forget::Messages(asked.own().among(filter)))
        }
        ("fact", key) if !key.is_empty() => {
            let channel = asked.channel().to_owned();
            // Also a fact that no longer holds can be forgotten, with its history.
            let values = store.fact_history_on(&channel, &sender, key).await?;
            if values.is_empty() {
                return Err(asked.wrong(format!("knows no fact `{key}` about {sender}")));
            }
            let key = key.to_owned();
            Ok(Forget::FactOn {
                channel,
                sender,
                key,
            })
        }
        ("message", id) => {
            let found = id.parse::<MessageId>().ok();
            match found {
                Some(id) if is_own(asked, store, id).await? => Ok(Forget::Message(id)),
                _ => Err(asked.wrong(format!("knows no message `{id}` of {sender}"))),
            }
        }
        _ => Err(asked.wrong("needs to know what to forget")),
    }
}

/// Tells whether a message is in a conversation of the sender on this channel: nobody may delete the
/// messages of others by guessing an id.
async fn is_own(
    asked: CommandCall<'_>,
    store: &Store,
    id: MessageId,
) -> Result<bool, CommandError> {
    let filter = asked
        .own()
        .among(MessageFilter::default().in_conversation(id.conversation()));
    Ok(!store.latest_conversations(&filter, 1).await?.is_empty())
}

/// The number of deleted things of each kind, in words.
#[must_use]
pub fn forgotten(gone: &Forgotten) -> String {
    let counts = [
        (gone.messages, "message", "messages"),
        (gone.facts, "value of facts", "values of facts"),
        (gone.summaries, "summary", "summaries"),
        (gone.prompts, "archived prompt", "archived prompts"),
    ];
    let counts = counts.iter().filter(|(count, ..)| *count > 0);
    let counts: Vec<String> = counts
        .map(|&(count, one, several)| counted(count, one, several))
        .collect();
    match counts.is_empty() {
        true => "forgot nothing".to_owned(),
        false => format!("forgot {}", counts.join(", ")),
    }
}
