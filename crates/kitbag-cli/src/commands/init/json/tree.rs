//! The places of values in JSON that may have comments and trailing commas.

use std::ops::Range;

use serde_json::Value;

/// A value with its place in the text.
#[derive(Debug)]
pub(super) enum Node {
    Object {
        span: Range<usize>,
        members: Vec<Member>,
    },
    Array {
        span: Range<usize>,
        items: Vec<Node>,
    },
    Other {
        span: Range<usize>,
    },
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member {
    /// Offset of its name.
    start: usize,
    key: String,
    value: Node,
}

/// Reads a text; an empty one is an empty object.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    if text.trim().is_empty() {
        return Ok(Node::Object {
            span: 0..0,
            members: Vec::new(),
        });
    }
    let plain = plain(text);
    // The parser finds every error here, so the reader below only sees valid JSON.
    serde_json::from_str::<Value>(&plain).map_err(|error| format!("it is not JSON: {error}"))?;
    let mut reader = Reader {
        text: plain.as_bytes(),
        at: 0,
    };
    Ok(reader.value())
}

impl Node {
    pub(super) fn span(&self) -> Range<usize> {
        match self {
            Self::Object { span, .. } | Self::Array { span, .. } | Self::Other { span } => {
                span.clone()
            }
        }
    }

    /// The value of the node.
    pub(super) fn value(&self, text: &str) -> Result<Value, String> {
        let text = plain(text.get(self.span()).unwrap_or_default());
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    /// The values in it.
    pub(super) fn children(&self) -> impl Iterator<Item = &Self> {
        let (members, items) = match self {
            Self::Object { members, .. } => (members.as_slice(), [].as_slice()),
            Self::Array { items, .. } => ([].as_slice(), items.as_slice()),
            Self::Other { .. } => ([].as_slice(), [].as_slice()),
        };
        members.iter().map(|member| &member.value).chain(items)
    }

    /// The members of an object, with their names.
    pub(super) fn members(&self) -> impl DoubleEndedIterator<Item = (&str, &Self)> {
        let members = match self {
            Self::Object { members, .. } => members.as_slice(),
            Self::Array { .. } | Self::Other { .. } => &[],
        };
        members
            .iter()
            .map(|member| (member.key.as_str(), &member.value))
    }

    /// The value that begins at this offset.
    pub(super) fn starting_at(&self, start: usize) -> Option<&Self> {
        match self.span().start == start {
            true => Some(self),
            false => self.children().find_map(|child| child.starting_at(start)),
        }
    }

    /// Places of the children, members with their names.
    pub(super) fn places(&self) -> Vec<Range<usize>> {
        match self {
            Self::Object { members, .. } => members
                .iter()
                .map(|member| member.start..member.value.span().end)
                .collect(),
            Self::Array { items, .. } => items.iter().map(Self::span).collect(),
            Self::Other { .. } => Vec::new(),
        }
    }

    /// The value under these names.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        self.child(&self.way_to(path)?)
    }

    /// The numbers of the children on the way to these names.
    pub(super) fn way_to(&self, path: &[&str]) -> Option<Vec<usize>> {
        let mut node = self;
        let mut way = Vec::new();
        for name in path {
            let Self::Object { members, .. } = node else {
                return None;
            };
            let place = members.iter().position(|member| member.key == *name)?;
            way.push(place);
            node = &members.get(place)?.value;
        }
        Some(way)
    }

    /// The value at the end of a way.
    pub(super) fn child(&self, way: &[usize]) -> Option<&Self> {
        way.iter()
            .try_fold(self, |node, place| node.children().nth(*place))
    }
}

/// The text with blanks in the place of comments and trailing commas. Every other byte keeps its offset.
pub(super) fn plain(text: &str) -> String {
    let mut plain = text.as_bytes().to_vec();
    blank_comments(&mut plain);
    let mut last_comma = None;
    let mut is_text = false;
    let mut is_escaped = false;
    for at in 0..plain.len() {
        let Some(&byte) = plain.get(at) else {
            break;
        };
        if is_text {
            (is_text, is_escaped) = (byte != b'"' || is_escaped, byte == b'\\' && !is_escaped);
            continue;
        }
        match byte {
            b'"' => (is_text, last_comma) = (true, None),
            b',' => last_comma = Some(at),
            b']' | b'}' => {
                if let Some(comma) = last_comma
                    .take()
                    .and_then(|comma: usize| plain.get_mut(comma))
                {
                    *comma = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => last_comma = None,
        }
    }
    // Only whole comments were replaced, so no character was cut and nothing is lost here.
    String::from_utf8_lossy(&plain).into_owned()
}

/// Replaces comments by blanks, except their line ends: errors of the parser keep their lines.
pub(super) fn blank_comments(text: &mut [u8]) {
    let mut at = 0;
    let mut is_text = false;
    while let Some(&byte) = text.get(at) {
        let next = text.get(at + 1).copied();
        let end = match (is_text, byte, next) {
            (true, b'\\', _) => {
                at += 2;
                continue;
            }
            (_, b'"', _) => {
                is_text = !is_text;
                None
            }
            (false, b'/', Some(b'/')) => {
                let rest = text.get(at..).unwrap_or_default();
                Some(
                    rest.iter()
                        .position(|it| *it == b'\n')
                        .unwrap_or(rest.len()),
                )
            }
            (false, b'/', Some(b'*')) => {
                let rest = text.get(at..).unwrap_or_default();
                // From the third byte on, since `/*/` is no whole comment.
                let end = rest.windows(2).skip(2).position(|it| it == b"*/");
                Some(end.map_or(rest.len(), |end| end + 4))
            }
            _ => None,
        };
        let length = end.unwrap_or(0);
        for byte in text.iter_mut().skip(at).take(length) {
            if !byte.is_ascii_whitespace() {
                *byte = b' ';
            }
        }
        at += length.max(1);
    }
}

/// Reads JSON that is known to be valid.
struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.text.get(self.at) {
            // In valid JSON the punctuation between values carries no information.
            match byte.is_ascii_whitespace() || *byte == b',' || *byte == b':' {
                true => self.at += 1,
                false => return Some(*byte),
            }
        }
        None
    }

    fn value(&mut self) -> Node {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'{') => {
                self.at += 1;
                let mut members = Vec::new();
                while self.peek().is_some_and(|byte| byte != b'}') {
                    let start = self.at;
                    let key = self.scalar();
                    let key = self.text.get(key).unwrap_or_default();
                    members.push(Member {
                        start,
                        // Parsed, since a key may be spelled with escapes. It is valid, as the whole text is.
                        key: serde_json::from_slice(key).unwrap_or_default(),
                        value: self.value(),
                    });
                }
                self.at += 1;
                let span = start..self.at;
                Node::Object { span, members }
            }
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                while self.peek().is_some_and(|byte| byte != b']') {
                    items.push(self.value());
                }
                self.at += 1;
                let span = start..self.at;
                Node::Array { span, items }
            }
            _ => Node::Other {
                span: self.scalar(),
            },
        }
    }

    fn scalar(&mut self) -> Range<usize> {
        let start = self.at;
        let is_text = self.text.get(start) == Some(&b'"');
        self.at += 1;
        while let Some(byte) = self.text.get(self.at) {
            match (is_text, byte) {
                // The escaped character may be a quote, which ends nothing.
                (true, b'\\') => self.at += 1,
                (true, b'"') => {
                    self.at += 1;
                    break;
                }
                (false, b',' | b']' | b'}') => break,
                (false, byte) if byte.is_ascii_whitespace() => break,
                _ => {}
            }
            self.at += 1;
        }
        start..self.at
    }
}
