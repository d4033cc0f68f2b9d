//! A provider that answers from a file, for demonstrations and tests.
//!
//! Each line is an object. The one counts whose `when` stands in the latest words of the message, in
//! whatever case, else the first that has none. Where `when` is a list, all of it stands somewhere in the
//! message with what was put before it; such lines come first. `text` comes word by word; `error` fails before the first byte, `cut` ends the
//! answer in its midst, and `raw` is the body of an answer as Anthropic's API would stream it, broken
//! as it may be. After `tool_calls`, the answers in `then` follow one by one in the same turn, the last of
//! them for ever.

use std::path::{Path, PathBuf};

use futures_util::stream;
use kitbag_core::content::ContentBlock;
use kitbag_core::message::{Message, ToolCall};
use kitbag_core::role::Role;
use serde::Deserialize;

use super::decode::{Api, Decoder};
use super::sse::SseReader;
use super::{Provider, ProviderError, ProviderFuture, ReplyEvent, StopReason, Usage};
use crate::wire::{Dialect, Request};

/// Answers from a file.
///
/// ```
/// use kitbag::provider::{Provider, ScriptProvider};
///
/// let script = ScriptProvider::new("demo", "answers.jsonl");
/// assert_eq!(script.name(), "demo");
/// assert!(script.check().unwrap_err().to_string().contains("answers.jsonl"));
/// ```
#[derive(Debug, Clone)]
pub struct ScriptProvider {
    name: String,
    file: PathBuf,
}

/// A line of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Answer {
    when: Option<When>,
    text: String,
    thinking: String,
    tool_calls: Vec<ToolCall>,
    usage: Option<Usage>,
    stop: Option<String>,
    error: Option<String>,
    cut: bool,
    raw: Option<String>,
    then: Vec<Answer>,
}

/// The words by which an answer is chosen.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum When {
    Words(String),
    All(Vec<String>),
}

impl When {
    /// Returns true where the words stand in one text.
    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Words(words) => text.contains(&words.to_lowercase()),
            Self::All(_) => false,
        }
    }

    /// Returns true where all words of a list stand in some of the texts.
    fn are_in(&self, texts: &[String]) -> bool {
        match self {
            Self::Words(_) => false,
            Self::All(all) => {
                let has = |words: &String| texts.iter().any(|text| text.contains(words));
                all.iter().all(|words| has(&words.to_lowercase()))
            }
        }
    }
}

impl ScriptProvider {
    /// A provider with the answers in a file.
    #[must_use]
    pub fn new(name: impl Into<String>, file: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into(),
            file: file.into(),
        }
    }

    fn answers(&self) -> Result<Vec<Answer>, ProviderError> {
        // Read for each request, so that a script can be edited during a chat.
        let text = std::fs::read_to_string(&self.file);
        let text = text.map_err(|error| wrong(&self.file, format!("cannot be read: {error}")))?;
        let lines = text.lines().enumerate();
        let lines = lines.filter(|(_, line)| !line.trim().is_empty());
        lines
            .map(|(at, line)| {
                serde_json::from_str(line).map_err(|error| {
                    wrong(&self.file, format!("is wrong at line {}: {error}", at + 1))
                })
            })
            .collect()
    }

    fn events(
        &self,
        request: &Request,
    ) -> Result<Vec<Result<ReplyEvent, ProviderError>>, ProviderError> {
        let (asked, steps) = match request.turn() {
            Ok(turn) => asked(&turn.current, &turn.contribution.draft.steps),
            Err(error) => return Err(wrong(&self.file, format!("was asked wrongly: {error}"))),
        };
        // The last words first: they are what was just asked.
        let texts = asked.iter().rev().filter_map(ContentBlock::as_text);
        let texts: Vec<String> = texts.map(str::to_lowercase).collect();
        let mut answers = self.answers()?;
        let is_for =
            |answer: &Answer, text: &str| answer.when.as_ref().is_some_and(|when| when.is_in(text));
        let has_all =
            |answer: &Answer| answer.when.as_ref().is_some_and(|when| when.are_in(&texts));
        // What was recalled stands before the words that are asked, a reminder behind them.
        let mut places = texts.iter();
        // Lists come first, since they are the more specific.
        let place = answers.iter().position(has_all);
        let place = place
            .or_else(|| places.find_map(|text| answers.iter().position(|one| is_for(one, text))));
        let place = place.or_else(|| answers.iter().position(|one| one.when.is_none()));
        let Some(place) = place else {
            let said: String = texts
                .first()
                .into_iter()
                .flat_map(|text| text.chars().take(60))
                .collect();
            let problem = format!("has no answer to `{}`", said.escape_debug());
            return Err(wrong(&self.file, problem));
        };
        // The order of the others no longer matters.
        let answer = answers.swap_remove(place).after(steps);
        if let Some(problem) = answer.error {
            return Err(wrong(&self.file, format!("says: {problem}")));
        }
        Ok(match &answer.raw {
            Some(raw) => decoded(raw),
            None => answer.events(),
        })
    }
}

impl Provider for ScriptProvider {
    fn name(&self) -> &str {
        &self.name
    }

    fn dialect(&self) -> Dialect {
        // The dialect with the most parts, so that a script can try all of them.
        Dialect::Anthropic
    }

    fn model(&self) -> Option<&str> {
        Some("script")
    }

    fn is_scripted(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), ProviderError> {
        self.answers().map(drop)
    }

    fn stream<'a>(&'a self, request: &'a Request) -> ProviderFuture<'a> {
        Box::pin(async {
            let events = self.events(request)?;
            Ok(Box::pin(stream::iter(events)) as _)
        })
    }
}

impl Answer {
    /// The answer after this many steps of the turn.
    fn after(mut self, steps: usize) -> Self {
        let last = steps.min(self.then.len());
        match last.checked_sub(1) {
            Some(place) => self.then.swap_remove(place),
            None => self,
        }
    }

    fn events(self) -> Vec<Result<ReplyEvent, ProviderError>> {
        let pieces = |text: &str| {
            let pieces = text.split_inclusive(' ').map(str::to_owned);
            pieces.collect::<Vec<String>>()
        };
        let mut events = Vec::new();
        events.extend(pieces(&self.thinking).into_iter().map(ReplyEvent::Thinking));
        events.extend(pieces(&self.text).into_iter().map(ReplyEvent::Text));
        let has_calls = !self.tool_calls.is_empty();
        events.extend(self.tool_calls.into_iter().map(ReplyEvent::ToolCall));
        events.extend(self.usage.map(ReplyEvent::Usage));
        let mut events: Vec<_> = events.into_iter().map(Ok).collect();
        // No stop and no end, as a connection that broke would leave it.
        if self.cut {
            let problem = "the script ends here".to_owned();
            events.push(Err(ProviderError::Cut { problem }));
            return events;
        }
        let stop = match &self.stop {
            Some(reason) => StopReason::of(reason),
            None if has_calls => StopReason::ToolUse,
            None => StopReason::End,
        };
        events.extend([Ok(ReplyEvent::Stop(stop)), Ok(ReplyEvent::Done)]);
        events
    }
}

/// The blocks of the message to answer, with the reminders behind it, and the number of steps since. Where a
/// turn ended at a limit, the next message stands beside the last results.
fn asked(current: &Message, steps: &[Message]) -> (Vec<ContentBlock>, usize) {
    let is_said = |block: &ContentBlock| {
        let text = block.as_text();
        text.is_some_and(|text| !text.trim_start().starts_with(REMINDER))
    };
    let mut asked = current.content.to_blocks();
    let mut count = 0;
    for step in steps {
        let blocks = step.content.to_blocks();
        match step.role {
            Role::Assistant => count += 1,
            Role::User if blocks.iter().any(is_said) => {
                // Words of the user between results begin a message of their own.
                asked = blocks;
                count = 0;
            }
            Role::User => asked.extend(blocks),
            Role::System | Role::Tool => {}
        }
    }
    (asked, count)
}

/// Begins the operator's words at the end of a prompt.
const REMINDER: &str = "<system-reminder>";

/// The events of a body, up to the first error.
fn decoded(raw: &str) -> Vec<Result<ReplyEvent, ProviderError>> {
    let mut decoder = Decoder::new(Api::Anthropic);
    let mut events = Vec::new();
    for event in SseReader::default()
        .read(raw.as_bytes())
        .unwrap_or_default()
    {
        match decoder.read(&event) {
            Ok(read) => events.extend(read.into_iter().map(Ok)),
            Err(error) => {
                events.push(Err(error));
                return events;
            }
        }
        // What follows the end of an answer is ignored, as a client would.
        if matches!(events.last(), Some(Ok(ReplyEvent::Done))) {
            return events;
        }
    }
    match decoder.end() {
        Ok(read) => events.extend(read.into_iter().map(Ok)),
        Err(error) => events.push(Err(error)),
    }
    events
}

fn wrong(file: &Path, problem: String) -> ProviderError {
    ProviderError::Script {
        file: file.display().to_string(),
        problem,
    }
}
