//! The body of an answer as events.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, Incoming};
use tokio::time::timeout;

use super::client;
use crate::provider::decode::{Api, Decoder, whole};
use crate::provider::key::scrubbed;
use crate::provider::sse::{SseReader, TooLarge};
use crate::provider::{ProviderError, ReplyEvent, ReplyStream, Secret, Stage};

/// An answer that is being read. Dropping it closes the connection.
struct Answer {
    body: Incoming,
    api: Api,
    format: Format,
    /// Whether something came by which to tell the form.
    is_begun: bool,
    events: VecDeque<ReplyEvent>,
    /// An error to tell after the events that came before it.
    error: Option<ProviderError>,
    is_over: bool,
    idle: Duration,
    address: String,
    secrets: Vec<Secret>,
}

/// The form in which it comes.
enum Format {
    Stream(SseReader, Decoder),
    /// One JSON object; as much of it as has come.
    Whole(Vec<u8>),
}

/// No more of a whole answer is read.
const LARGEST: usize = 32 << 20;

/// The events of a body whose first frame has come.
pub(super) fn stream(
    first: Frame<Bytes>,
    body: Incoming,
    api: Api,
    idle: Duration,
    address: String,
    secrets: Vec<Secret>,
) -> ReplyStream {
    let mut answer = Answer {
        body,
        api,
        format: Format::Stream(SseReader::default(), Decoder::new(api)),
        is_begun: false,
        events: VecDeque::new(),
        error: None,
        is_over: false,
        idle,
        address,
        secrets,
    };
    answer.take(first);
    Box::pin(stream::unfold(answer, async |mut answer| {
        let next = answer.next().await?;
        Some((next, answer))
    }))
}

impl Answer {
    async fn next(&mut self) -> Option<Result<ReplyEvent, ProviderError>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(Ok(event));
            }
            if let Some(error) = self.error.take() {
                self.is_over = true;
                return Some(Err(self.clean(error)));
            }
            if self.is_over {
                return None;
            }
            match timeout(self.idle, self.body.frame()).await {
                Err(_) => {
                    self.error = Some(ProviderError::Timeout {
                        address: self.address.clone(),
                        stage: Stage::Idle,
                        after: self.idle,
                    });
                }
                Ok(Some(Ok(frame))) => self.take(frame),
                Ok(Some(Err(error))) => {
                    let problem = client::reason(&error);
                    self.error = Some(ProviderError::Cut { problem });
                }
                Ok(None) => {
                    self.is_over = true;
                    let end = match &mut self.format {
                        Format::Stream(_, decoder) => decoder.end(),
                        Format::Whole(body) => {
                            whole::read(self.api, &String::from_utf8_lossy(body))
                        }
                    };
                    self.keep(end);
                }
            }
        }
    }

    fn take(&mut self, frame: Frame<Bytes>) {
        let Ok(bytes) = frame.into_data() else {
            return; // Trailers say nothing of the answer.
        };
        self.tell_form(&bytes);
        let events = match &mut self.format {
            Format::Stream(reader, _) => reader.read(&bytes),
            Format::Whole(body) => {
                body.extend_from_slice(&bytes);
                match body.len() > LARGEST {
                    true => Err(TooLarge),
                    false => Ok(Vec::new()),
                }
            }
        };
        let Ok(events) = events else {
            let problem = "a piece of it is too large".to_owned();
            self.error = Some(ProviderError::Malformed { problem });
            return;
        };
        for event in events {
            if self.is_over || self.error.is_some() {
                return;
            }
            if let Format::Stream(_, decoder) = &mut self.format {
                let read = decoder.read(&event);
                self.keep(read);
            }
        }
    }

    /// Tells an answer that comes as one object, although a stream was asked for. No line of a stream
    /// begins with a brace. Servers label either as the other.
    fn tell_form(&mut self, bytes: &[u8]) {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if let Some(first) = first.filter(|_| !self.is_begun) {
            self.is_begun = true;
            if *first == b'{' {
                self.format = Format::Whole(Vec::new());
            }
        }
    }

    fn keep(&mut self, read: Result<Vec<ReplyEvent>, ProviderError>) {
        match read {
            Ok(events) => {
                self.is_over |= events.last() == Some(&ReplyEvent::Done);
                self.events.extend(events);
            }
            Err(error) => self.error = Some(error),
        }
    }

    /// The error without the key, which a server may have repeated.
    fn clean(&self, mut error: ProviderError) -> ProviderError {
        if let ProviderError::BrokeOff { message: text }
        | ProviderError::Cut { problem: text }
        | ProviderError::Malformed { problem: text } = &mut error
        {
            *text = scrubbed(&self.secrets, std::mem::take(text));
        }
        error
    }
}
