//! A provider that answers from a file, for demonstrations and tests.
//!
//! Each line is an object. The first one counts whose `when` stands in the message, in whatever case,
//! or which has none. `text` comes word by word; `error` fails before the first byte, `cut` ends the
//! answer in its midst, and `raw` is the body of an answer as Anthropic's API would stream it, broken
//! as it may be.

use std::path::{Path, PathBuf};

use futures_util::stream;
use kitbag_core::content::{Content, ContentBlock};
use kitbag_core::message::ToolCall;
use serde::Deserialize;

use super::decode::Decoder;
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
    when: Option<String>,
    text: String,
    thinking: String,
    tool_calls: Vec<ToolCall>,
    usage: Option<Usage>,
    stop: Option<String>,
    error: Option<String>,
    cut: bool,
    raw: Option<String>,
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
        let message = match request.turn() {
            Ok(turn) => asked(&turn.current.content).to_lowercase(),
            Err(error) => return Err(wrong(&self.file, format!("was asked wrongly: {error}"))),
        };
        let fits = |answer: &Answer| {
            let when = answer.when.as_ref();
            when.is_none_or(|when| message.contains(&when.to_lowercase()))
        };
        let answer = self.answers()?.into_iter().find(fits);
        let answer = answer.ok_or_else(|| {
            let said: String = message.chars().take(60).collect();
            wrong(
                &self.file,
                format!("has no answer to `{}`", said.escape_debug()),
            )
        })?;
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
        Dialect::Anthropic
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

/// The words that are asked: the last of the blocks, for what was recalled may stand before them.
fn asked(content: &Content) -> String {
    let blocks = content.to_blocks();
    let last = blocks.iter().rev().find_map(ContentBlock::as_text);
    last.unwrap_or_default().to_owned()
}

/// The events of a body, up to the first error.
fn decoded(raw: &str) -> Vec<Result<ReplyEvent, ProviderError>> {
    let mut decoder = Decoder::new(Dialect::Anthropic);
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
