//! The body of an answer as events.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body_util::BodyExt as _;
use hyper::body::{Frame, Incoming};
use tokio::time::timeout;

use super::client;
use crate::provider::decode::Api;
use crate::provider::key::scrubbed;
use crate::provider::reader::ReplyReader;
use crate::provider::{ProviderError, ReplyEvent, ReplyStream, Secret, Stage};

/// An answer that is being read. Dropping it closes the connection.
struct Answer {
    body: Incoming,
    reader: ReplyReader,
    events: VecDeque<ReplyEvent>,
    /// An error to tell after the events that came before it.
    error: Option<ProviderError>,
    is_over: bool,
    idle: Duration,
    address: String,
    secrets: Vec<Secret>,
}

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
        reader: ReplyReader::of_api(api),
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
                    let end = self.reader.end();
                    self.keep(end);
                    self.is_over = true;
                }
            }
        }
    }

    fn take(&mut self, frame: Frame<Bytes>) {
        // Trailers say nothing of the answer.
        if let Ok(bytes) = frame.into_data() {
            let read = self.reader.read(&bytes);
            self.is_over = self.reader.is_over();
            self.keep(read);
        }
    }

    fn keep(&mut self, read: Vec<Result<ReplyEvent, ProviderError>>) {
        for one in read {
            match one {
                Ok(event) => self.events.push_back(event),
                Err(error) => {
                    self.error = Some(error);
                    return;
                }
            }
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
