//! The body of an answer on its way to the client: its bytes unchanged, while a reader parses them.
//!
//! Of a stream, whole events are passed on, so that one that breaks off ends with an event that says so. A
//! client that goes away drops the body, and with it the connection to the upstream.

use std::io;
use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use http::StatusCode;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use kitbag::provider::{ProviderError, Reply, ReplyReader};
use kitbag::wire::Dialect;
use serde_json::json;
use tokio::time::timeout;

use crate::otel::Call;

use super::learn::Learner;
use super::payer::Payer;
use super::refusal::error_json;

/// An answer that is passed on.
pub(super) struct Answer {
    pub(super) body: Incoming,
    pub(super) dialect: Dialect,
    /// The longest pause between two pieces.
    pub(super) idle: Duration,
    /// Set where it comes as a stream of events.
    pub(super) is_stream: bool,
    /// Reads it, where it can be read.
    pub(super) reader: Option<ReplyReader>,
    /// Keeps what was said, once the answer is whole.
    pub(super) learner: Option<Learner>,
    /// The call, if calls are reported.
    pub(super) call: Option<Call>,
    /// Whoever pays for it.
    pub(super) payer: Option<Payer>,
}

struct Passing {
    answer: Answer,
    reply: Reply,
    /// The beginning of an event.
    held: BytesMut,
    /// Set where the beginning of a long event was passed on, and its end is still to come.
    is_within: bool,
    /// The time since the latest piece.
    silent: Duration,
    /// True once a part of the answer has arrived.
    is_begun: bool,
    /// True once an event could not be read, which is logged once.
    is_unreadable: bool,
    last: Option<Last>,
}

/// The end of the body, which takes several steps.
enum Last {
    Fail(String),
    End,
}

/// A longer event is passed on in pieces.
const LONGEST_HELD: usize = 1 << 20;

/// A client may take a longer silence for a lost connection. Until then it gets what readers of its API's streams pass
/// over: four times at least before an upstream is given up.
const SILENCE: Duration = Duration::from_secs(15);

impl Answer {
    /// The body for the client.
    pub(super) fn into_body(self) -> Body {
        let passing = Passing {
            answer: self,
            reply: Reply::default(),
            held: BytesMut::new(),
            is_within: false,
            silent: Duration::ZERO,
            is_begun: false,
            is_unreadable: false,
            last: None,
        };
        Body::from_stream(stream::unfold(passing, async |mut passing| {
            let next = passing.next().await?;
            Some((next, passing))
        }))
    }
}

impl Passing {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        loop {
            match self.last.take() {
                Some(Last::Fail(problem)) => {
                    self.last = Some(Last::End);
                    // What was written before goes out while nothing is ready.
                    tokio::task::yield_now().await;
                    // The connection is broken off: an end in order would be taken for that of the answer.
                    return Some(Err(io::Error::other(problem)));
                }
                Some(Last::End) => {
                    self.last = Some(Last::End);
                    return None;
                }
                None => {}
            }
            let frame = match self.frame().await {
                Frame::Data(data) => data,
                Frame::Silence => return Some(Ok(self.keep_alive())),
                Frame::End => match self.end() {
                    Ok(()) => {
                        self.last = Some(Last::End);
                        match self.held.is_empty() {
                            true => return None,
                            false => return Some(Ok(self.held.split().freeze())),
                        }
                    }
                    Err(problem) => return Some(self.broken(problem)),
                },
                Frame::Broken(problem) => return Some(self.broken(problem)),
            };
            if let Some(call) = &mut self.answer.call {
                call.begins_to_answer();
            }
            self.read(&frame);
            if !self.answer.is_stream && self.answer.body.is_end_stream() {
                // Nobody asks for more than the length that was told.
                drop(self.end());
            }
            let passed = self.whole_events(frame);
            if !passed.is_empty() {
                return Some(Ok(passed));
            }
        }
    }

    async fn frame(&mut self) -> Frame {
        let Answer {
            idle, is_stream, ..
        } = self.answer;
        loop {
            let left = idle.saturating_sub(self.silent);
            let pause = if is_stream {
                // A quarter, so that a short limit allows several before it ends.
                left.min(SILENCE).min(idle / 4)
            } else {
                left
            };
            match timeout(pause, self.answer.body.frame()).await {
                Ok(Some(Ok(frame))) => {
                    self.silent = Duration::ZERO;
                    self.is_begun = true;
                    // Trailers are of the connection.
                    if let Ok(data) = frame.into_data() {
                        return Frame::Data(data);
                    }
                }
                Ok(Some(Err(error))) => {
                    let problem = format!("the answer of the upstream was cut off: {error}");
                    return Frame::Broken(problem);
                }
                Ok(None) => return Frame::End,
                Err(_) => {
                    self.silent += pause;
                    if self.silent >= idle {
                        let seconds = idle.as_secs_f32();
                        let problem = format!("the upstream sent nothing for {seconds} s");
                        return Frame::Broken(problem);
                    }
                    // Within an event it would be a part of it.
                    if is_stream && self.held.is_empty() && !self.is_within {
                        return Frame::Silence;
                    }
                }
            }
        }
    }

    /// Anthropic's clients know an event for it. Before the first one of an answer, which has to be another, they get
    /// the comment of all streams.
    fn keep_alive(&self) -> Bytes {
        Bytes::from_static(match self.answer.dialect {
            Dialect::Anthropic if self.is_begun => b"event: ping\ndata: {\"type\": \"ping\"}\n\n",
            _ => b": keep-alive\n\n",
        })
    }

    fn read(&mut self, bytes: &[u8]) {
        if self.answer.reader.is_none()
            && let Some(payer) = &mut self.answer.payer
        {
            payer.add_unread(bytes);
        }
        let read = self.answer.reader.as_mut().map(|reader| reader.read(bytes));
        for event in read.into_iter().flatten() {
            match event {
                Ok(event) => self.reply.add(event),
                // The client gets it as it is. What was said is not known any more, and so not learned.
                Err(_) => {
                    // Without the error, which quotes the event: contents are never logged.
                    if !std::mem::replace(&mut self.is_unreadable, true) {
                        tracing::info!(event = "answer_unreadable");
                    }
                    self.answer.learner = None;
                }
            }
        }
    }

    /// Ends the reading. Fails if the upstream ended the connection in order, but not the answer.
    fn end(&mut self) -> Result<(), String> {
        if let Some(reader) = &mut self.answer.reader {
            for event in reader.end() {
                match event {
                    Ok(event) => self.reply.add(event),
                    // Its text quotes the answer, and the problem is logged.
                    Err(ProviderError::Malformed { .. }) if self.answer.is_stream => {
                        return Err("the answer of the upstream cannot be read".to_owned());
                    }
                    Err(error) if self.answer.is_stream => return Err(error.to_string()),
                    // Whatever it is, the client has all of it.
                    Err(_) => {}
                }
            }
        }
        self.close();
        Ok(())
    }

    /// Tells of the answer, counts what it cost, and keeps what was said if all of it came.
    fn close(&mut self) {
        if let Some(mut call) = self.answer.call.take() {
            call.answered(&self.reply);
        }
        self.count_usage();
        if let Some(learner) = self.answer.learner.take().filter(|_| self.reply.is_whole) {
            learner.learn(std::mem::take(&mut self.reply));
        }
    }

    /// Counts what the provider billed, as far as it said so.
    fn count_usage(&mut self) {
        if let Some(payer) = self.answer.payer.take() {
            payer.pay(&self.reply);
        }
    }

    /// The event that tells a client of a broken answer; for an answer that is no stream, nothing can be told.
    fn broken(&mut self, problem: String) -> io::Result<Bytes> {
        tracing::info!(event = "answer_cut", problem);
        if let Some(call) = &mut self.answer.call {
            // The text of the problem may quote the provider; the kind is enough for a collector.
            call.failed("cut");
        }
        if !self.answer.is_stream {
            self.last = Some(Last::End);
            return Err(io::Error::other(problem));
        }
        let mut event = error_event(self.answer.dialect, &problem);
        if self.is_within {
            // It would be a part of the event that broke off.
            event.insert_str(0, "\n\n");
        }
        self.last = Some(Last::Fail(problem));
        Ok(Bytes::from(event))
    }

    /// The events that are whole, with those that a piece completes.
    fn whole_events(&mut self, frame: Bytes) -> Bytes {
        if !self.answer.is_stream {
            return frame;
        }
        if self.held.is_empty() && ends_event(&frame) {
            self.is_within = false;
            return frame;
        }
        // The end of an event may stand across the edge of two pieces; nothing before that was one.
        let searched = self.held.len().saturating_sub(LONGEST_END - 1);
        self.held.extend_from_slice(&frame);
        match end_of_events(self.held.get(searched..).unwrap_or_default()) {
            0 if self.held.len() > LONGEST_HELD => {
                self.is_within = true;
                self.held.split().freeze()
            }
            0 => Bytes::new(),
            end => {
                self.is_within = false;
                self.held.split_to(searched + end).freeze()
            }
        }
    }
}

impl Drop for Passing {
    /// An answer that breaks off is billed all the same. A client that has read the last event may leave before the
    /// upstream closes the connection: the answer is whole then, too.
    fn drop(&mut self) {
        self.close();
    }
}

enum Frame {
    Data(Bytes),
    Silence,
    End,
    Broken(String),
}

/// The blank lines that end an event.
const ENDS: [&[u8]; 3] = [b"\n\n", b"\n\r\n", b"\r\r"];
const LONGEST_END: usize = 3;

fn ends_event(bytes: &[u8]) -> bool {
    ENDS.iter().any(|end| bytes.ends_with(end))
}

/// The byte behind the last whole event.
fn end_of_events(bytes: &[u8]) -> usize {
    let last = |end: &&[u8]| {
        let mut windows = bytes.windows(end.len());
        windows
            .rposition(|window| window == *end)
            .map(|at| at + end.len())
    };
    ENDS.iter().filter_map(last).max().unwrap_or(0)
}

fn error_event(dialect: Dialect, problem: &str) -> String {
    let error = error_json(dialect, StatusCode::BAD_GATEWAY, problem, None);
    match dialect {
        Dialect::Anthropic => format!("event: error\ndata: {error}\n\n"),
        Dialect::Responses => {
            let message = format!("kitbag: {problem}");
            let error = json!({"type": "error", "code": "server_error", "message": message,
                "param": null, "sequence_number": 0});
            format!("event: error\ndata: {error}\n\n")
        }
        _ => format!("data: {error}\n\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x06_whole_events_are_told_from_beginnings() {
        assert_eq!(end_of_events(b"data: 1\n\ndata: 2"), 9);
        assert_eq!(end_of_events(b"data: 1\r\n\r\n"), 11);
        assert_eq!(end_of_events(b"data: 1\n\r\ndata"), 10);
        assert_eq!(end_of_events(b"data: 1\n"), 0);
        assert!(ends_event(b"data: [DONE]\n\n"));
    }
}
