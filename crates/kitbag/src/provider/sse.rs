//! Server-sent events: turns bytes, in pieces of any size, into whole events.
//!
//! Comments, ids, retry times and unknown fields are skipped, as the specification asks.

/// The largest event, in bytes. A larger one is not of this format, and would fill the memory.
const LARGEST: usize = 32 << 20;

/// Reads a stream piece by piece.
#[derive(Debug, Default)]
pub(crate) struct SseReader {
    /// The line that has not ended yet.
    line: Vec<u8>,
    /// Set when the last byte was a carriage return, whose newline may follow.
    after_return: bool,
    has_begun: bool,
    name: String,
    data: Option<String>,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SseEvent {
    /// Its name; empty where it has none.
    pub(crate) name: String,
    /// Its lines of data, joined.
    pub(crate) data: String,
}

/// An event is too large.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

impl SseReader {
    /// Takes the next bytes, and returns the events that they complete.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, TooLarge> {
        let mut events = Vec::new();
        for &byte in bytes {
            let ends_return = std::mem::take(&mut self.after_return);
            match byte {
                // A line may end with both, possibly in two pieces; the second of them ends no further line.
                b'\n' if ends_return => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    events.extend(self.end_line());
                }
                _ => self.line.push(byte),
            }
        }
        let held = self.data.as_ref().map_or(0, String::len);
        // Checked after each piece, so that a line without an end cannot grow without a limit.
        match self.line.len() + held > LARGEST {
            true => Err(TooLarge),
            false => Ok(events),
        }
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        // A byte order mark may begin the stream, but no other line.
        let text = match text.strip_prefix('\u{feff}') {
            Some(rest) if is_first => rest,
            _ => &text,
        };
        if text.is_empty() {
            let name = std::mem::take(&mut self.name);
            // An event without data is dropped, as the specification says.
            let data = self.data.take()?;
            return Some(SseEvent { name, data });
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("event", _) => value.clone_into(&mut self.name),
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", none) => *none = Some(value.to_owned()),
            // Comments have an empty name.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read_whole(bytes: &[u8]) -> Vec<SseEvent> {
        SseReader::default().read(bytes).unwrap()
    }

    fn event(name: &str, data: &str) -> SseEvent {
        let (name, data) = (name.to_owned(), data.to_owned());
        SseEvent { name, data }
    }

    #[test]
    fn events_are_read_as_the_specification_says() {
        let text = "\u{feff}: hello\nevent: a\ndata: one\ndata:two\nid: 7\nretry: 5\nodd: x\n\n\
                    data\n\ndata:  two blanks\r\n\r\nevent: nothing\r\rdata: last\n";
        let events = read_whole(text.as_bytes());
        let expected = [
            event("a", "one\ntwo"),
            event("", ""),
            event("", " two blanks"),
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(read_whole(b"data: a\xffb\n\n"), [event("", "a\u{fffd}b")]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut reader = SseReader::default();
        let piece = vec![b'x'; LARGEST / 2 + 1];
        assert!(reader.read(&piece).is_ok());
        assert_eq!(reader.read(&piece), Err(TooLarge));
    }

    fn lines() -> impl Strategy<Value = Vec<u8>> {
        let line = prop::sample::select(vec![
            "event: a",
            "data: é",
            "data: two",
            ": note",
            "",
            "",
            "id: 1",
            "\u{feff}data: x",
            "data",
        ]);
        let end = prop::sample::select(vec!["\n", "\r\n", "\r"]);
        prop::collection::vec((line, end), 0..30).prop_map(|all| {
            all.iter()
                .flat_map(|(line, end)| [*line, *end])
                .collect::<String>()
                .into()
        })
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_events(
            bytes in lines(),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
            cuts.sort_unstable();
            let mut reader = SseReader::default();
            let mut events = Vec::new();
            let mut from = 0;
            for to in cuts.into_iter().chain([bytes.len()]) {
                events.extend(reader.read(&bytes[from..to]).unwrap());
                from = to;
            }
            prop_assert_eq!(events, read_whole(&bytes));
        }

        #[test]
        fn every_form_of_line_end_gives_the_same_events(bytes in lines()) {
            let text = String::from_utf8(bytes.clone()).unwrap();
            let plain = text.replace("\r\n", "\n").replace('\r', "\n");
            prop_assert_eq!(read_whole(&bytes), read_whole(plain.as_bytes()));
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = SseReader::default().read(&bytes);
        }
    }
}
