//! Cuts the source of a template into tokens, exactly where Handlebars.js does.
//!
//! A token that has no place in the language is a token too, so that the parser says what it expected.

mod tag;

use std::ops::Range;

use super::ast::{Literal, Strip};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Text(Range<usize>),
    Comment(Strip),
    /// A comment that nothing ends.
    OpenComment,
    /// `{{{{`
    OpenRaw,
    /// `}}}}`
    CloseRaw,
    /// `{{{{/name}}}}`
    EndRaw(String),
    /// `{{` `{{&` `{{{` `{{#` `{{^` …: what it opens, and whether a `~` stands in it.
    Open(Opens, bool),
    /// `}}`, and whether a `~` stands in it.
    Close(bool),
    /// `}}}`, likewise.
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

/// What a tag is the start of.
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
    /// After a backslash that takes the braces their meaning.
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
            states: vec![State::Text],
        }
    }

    /// The next token and where it starts.
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

    /// Text up to the next braces, which a backslash before them changes.
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
        range.end -= usize::from(text.ends_with('\\'));
        self.states.push(match is_escaped {
            true => State::Escaped,
            false => State::Tag,
        });
        (!range.is_empty()).then_some(Token::Text(range))
    }

    /// The braces that lost their meaning, and the text behind them.
    fn escaped(&mut self) -> Option<Token> {
        self.states.pop();
        let rest = self.rest();
        let behind = rest.get(2..).unwrap_or_default();
        let length = behind.find("{{").map_or(rest.len(), |length| {
            let text = behind.get(..length).unwrap_or_default();
            let backslashes = text.len() - text.trim_end_matches('\\').len();
            2 + length - backslashes.min(2)
        });
        Some(Token::Text(self.range(length)))
    }

    /// The text of a raw block, in which only raw blocks have a meaning.
    fn raw(&mut self) -> Option<Token> {
        let rest = self.rest();
        if let Some(behind) = rest.strip_prefix("{{{{") {
            if let Some(named) = behind.strip_prefix('/') {
                let length = named.find(|char| !tag::is_name(char)).unwrap_or_default();
                let (name, after) = named.split_at_checked(length).unwrap_or_default();
                if !name.is_empty() && after.starts_with("}}}}") {
                    self.states.pop();
                    let range = self.range(name.len() + 9);
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
                self.at = self.source.len();
                Token::End
            }
        })
    }

    /// A text that holds no NUL, which no text of a template may.
    fn without_nul(&mut self, range: Range<usize>) -> Token {
        let text = self.source.get(range.clone()).unwrap_or_default();
        if text.contains('\0') {
            Token::Invalid
        } else {
            Token::Text(range)
        }
    }
}

/// What JavaScript takes for whitespace.
pub(super) fn is_space(char: char) -> bool {
    (char.is_whitespace() && char != '\u{85}') || char == '\u{feff}'
}
