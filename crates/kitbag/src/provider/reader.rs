//! Reads an answer out of its bytes, in whatever form it comes: as a stream of events, or as one object.

use super::decode::{Api, Decoder, whole};
use super::sse::{SseReader, TooLarge};
use super::{ProviderError, ReplyEvent};
use crate::wire::Dialect;

/// Reads the bytes of an answer as they come.
///
/// ```
/// use kitbag::provider::{Reply, ReplyReader};
/// use kitbag::wire::Dialect;
///
/// let body = r#"{"choices": [{"message": {"content": "Good morning."}, "finish_reason": "stop"}]}"#;
/// let mut reader = ReplyReader::new(Dialect::OpenAi).unwrap();
/// let mut reply = Reply::default();
/// let mut events = reader.read(body.as_bytes());
/// events.extend(reader.end());
/// for event in events {
///     reply.add(event?);
/// }
/// assert_eq!(reply.text(), "Good morning.");
/// # Ok::<(), kitbag::provider::ProviderError>(())
/// ```
#[derive(Debug)]
pub struct ReplyReader {
    api: Api,
    format: Format,
    /// Set once something came by which to tell the form.
    is_begun: bool,
    is_over: bool,
}

/// The form in which an answer comes.
#[derive(Debug)]
enum Format {
    Stream(SseReader, Decoder),
    /// One JSON object; as much of it as has come.
    Whole(Vec<u8>),
}

/// No more of a whole answer is read.
const LARGEST: usize = 32 << 20;

impl ReplyReader {
    /// A reader of answers in a dialect; nothing for one that is not spoken over HTTP.
    #[must_use]
    pub fn new(dialect: Dialect) -> Option<Self> {
        Api::of(dialect).map(Self::of_api)
    }

    pub(super) fn of_api(api: Api) -> Self {
        Self {
            api,
            format: Format::Stream(SseReader::default(), Decoder::new(api)),
            is_begun: false,
            is_over: false,
        }
    }

    /// Takes the next bytes, and returns the events that they complete. Nothing is read behind the last event, or
    /// behind an error that the provider reports. An event of a stream that cannot be read is an error, too, and the
    /// stream goes on, so that its end is known.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<Result<ReplyEvent, ProviderError>> {
        // Decided by the first byte, because servers send either form under either content type.
        self.tell_form(bytes);
        let mut read = Vec::new();
        match &mut self.format {
            // Some servers go on with a second answer or with padding.
            _ if self.is_over => {}
            Format::Stream(reader, decoder) => match reader.read(bytes) {
                Ok(events) => {
                    let mut events = events.iter();
                    while !self.is_over
                        && let Some(event) = events.next()
                    {
                        let decoded = each_result(decoder.read(event));
                        self.is_over = decoded.iter().any(is_last);
                        read.extend(decoded);
                    }
                }
                Err(TooLarge) => {
                    self.is_over = true;
                    read.push(Err(too_large()));
                }
            },
            // Nothing can be read before all of it has come, so its length must be bounded.
            Format::Whole(body) if body.len() + bytes.len() > LARGEST => {
                self.is_over = true;
                read.push(Err(too_large()));
            }
            Format::Whole(body) => body.extend_from_slice(bytes),
        }
        read
    }

    /// Ends where the bytes do, and returns what was left to tell: an error if the answer is not whole.
    pub fn end(&mut self) -> Vec<Result<ReplyEvent, ProviderError>> {
        // Ending twice must not report the same error twice.
        if std::mem::replace(&mut self.is_over, true) {
            return Vec::new();
        }
        each_result(match &mut self.format {
            Format::Stream(_, decoder) => decoder.end(),
            Format::Whole(body) => whole::read(self.api, &String::from_utf8_lossy(body)),
        })
    }

    /// Returns whether the last event has come, or an error behind which nothing comes.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
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
}

fn each_result(
    read: Result<Vec<ReplyEvent>, ProviderError>,
) -> Vec<Result<ReplyEvent, ProviderError>> {
    match read {
        Ok(events) => events.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    }
}

const fn is_last(read: &Result<ReplyEvent, ProviderError>) -> bool {
    match read {
        Ok(event) => matches!(event, ReplyEvent::Done),
        Err(error) => !matches!(error, ProviderError::Malformed { .. }),
    }
}

fn too_large() -> ProviderError {
    let problem = "a piece of it is too large".to_owned();
    ProviderError::Malformed { problem }
}
