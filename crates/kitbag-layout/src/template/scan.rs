//! Cuts the source of a template into tokens, exactly where Handlebars.js does.
//!
//! A sign that has no meaning is a token too, so that the parser can say what it expected instead.

mod tag;

use std::ops::Range;

use super::ast::{Literal, Strip};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Text(Range<usize>),
    Comment(Strip),
    /// A comment without an end.
    OpenComment,
    /// `{{{{`
    OpenRaw,
    /// `}}}}`
    CloseRaw,
    /// `{{{{/name}}}}`
    EndRaw(String),
    /// `{{` `{{&` `{{{` `{{#` `{{^` …: what it opens, and true if it has a `~`.
    Open(Opens, bool),
    /// `}}`, and true if it has a `~`.
    Close(bool),
    /// `}}}`, and true if it has a `~`.
    CloseUnescaped(bool),
    /// `{{else}}` or `{{^}}`
    Else(Strip),
    OpenCall,
    CloseCall,
    Equals,
    Name {
        text: String,
        bracketed: bool,
    },
    Separator(char),
    Literal(Literal),
    At,
    /// `as |`
    OpenParams,
    /// `|`
    CloseParams,
    Invalid,
    End,
}

/// The construct that a tag opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    Value,
    Unescaped,
    Ampersand,
    Decorator,
    Block,
    DecoratorBlock,
    Inverse,
    ElseIf,
    Partial,
    PartialBlock,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Between tags.
    Text,
    /// Behind a backslash that makes the next braces plain text.
    Escaped,
    /// Within a tag.
    Tag,
    /// Within a raw block.
    Raw,
}

pub(super) struct Scanner<'a> {
    source: &'a str,
    at: usize,
    states: Vec<State>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            source,
            at: 0,
            // A stack, since raw blocks may contain raw blocks.
            states: vec![State::Text],
        }
    }

    /// The next token with its offset.
    pub(super) fn next_token(&mut self) -> (usize, Token) {
        loop {
            let start = self.at;
            let token = match self.states.last().copied().unwrap_or(State::Text) {
                State::Text => self.text(),
                State::Escaped => self.escaped(),
                State::Tag => self.tag(),
                State::Raw => self.raw(),
            };
            match token {
                Some(Token::Text(range)) => return (range.start, self.without_nul(range)),
                Some(token) => return (start, token),
                None => {}
            }
        }
    }

    fn rest(&self) -> &'a str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn range(&mut self, length: usize) -> Range<usize> {
        let start = self.at;
        self.at += length;
        start..self.at
    }

    /// Text up to the next braces. A backslash in front of them makes them plain text, and two are
    /// one plain backslash.
    fn text(&mut self) -> Option<Token> {
        let rest = self.rest();
        let Some(length) = rest.find("{{") else {
            return Some(if rest.is_empty() {
                Token::End
            } else {
                Token::Text(self.range(rest.len()))
            });
        };
        let text = rest.get(..length).unwrap_or_default();
        let mut range = self.range(length);
        let is_escaped = text.ends_with('\\') && !text.ends_with("\\\\");
        // In both cases one backslash is a sign and not text.
        // Tokens are ranges of the source, so the backslash is cut off and not replaced.
        range.end -= usize::from(text.ends_with('\\'));
        self.states.push(match is_escaped {
            true => State::Escaped,
            false => State::Tag,
        });
        (!range.is_empty()).then_some(Token::Text(range))
    }

    /// Escaped braces, and the text behind them.
    fn escaped(&mut self) -> Option<Token> {
        self.states.pop();
        let rest = self.rest();
        let behind = rest.get(2..).unwrap_or_default();
        let length = behind.find("{{").map_or(rest.len(), |length| {
            let text = behind.get(..length).unwrap_or_default();
            // They belong to the braces that follow, which may be escaped as well.
            let backslashes = text.len() - text.trim_end_matches('\\').len();
            2 + length - backslashes.min(2)
        });
        Some(Token::Text(self.range(length)))
    }

    /// The text of a raw block, in which only other raw blocks are recognised.
    fn raw(&mut self) -> Option<Token> {
        let rest = self.rest();
        if let Some(behind) = rest.strip_prefix("{{{{") {
            if let Some(named) = behind.strip_prefix('/') {
                let length = named.find(|char| !tag::is_name(char)).unwrap_or_default();
                let (name, after) = named.split_at_checked(length).unwrap_or_default();
                if !name.is_empty() && after.starts_with("}}}}") {
                    self.states.pop();
                    // Four braces, a slash, and four braces.
                    let range = self.range(name.len() + 9);
                    // A raw block inside another is text of the outer one.
                    return Some(if self.states.last() == Some(&State::Raw) {
                        Token::Text(range)
                    } else {
                        Token::EndRaw(name.to_owned())
                    });
                }
            } else if !behind.is_empty() {
                self.states.push(State::Raw);
                return Some(Token::Text(self.range(4)));
            }
        }
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let behind = rest.get(first..).unwrap_or_default();
        Some(match behind.find("{{{{") {
            Some(length) => Token::Text(self.range(first + length)),
            None => {
                // Without an end the rest of the source is skipped, and the parser reports the
                // missing one.
                self.at = self.source.len();
                Token::End
            }
        })
    }

    /// A text, which must not contain NUL.
    fn without_nul(&mut self, range: Range<usize>) -> Token {
        let text = self.source.get(range.clone()).unwrap_or_default();
        if text.contains('\0') {
            Token::Invalid
        } else {
            Token::Text(range)
        }
    }
}

/// Returns true for whitespace in JavaScript, which differs from Rust's in two characters.
pub(super) fn is_space(char: char) -> bool {
    (char.is_whitespace() && char != '\u{85}') || char == '\u{feff}'
}
