//! Scans the tokens within a tag.

use super::{Literal, Opens, Scanner, State, Strip, Token, is_space};
use crate::value::{Number, Value};

/// Returns true if a name may contain the character. The ranges are those of the lexer of
/// Handlebars.js.
pub(super) fn is_name(char: char) -> bool {
    !is_space(char)
        && !matches!(char,
            '!'..='#' | '%'..=',' | '.' | '/' | ';'..='>' | '@' | '['..='^' | '`' | '{'..='~')
}

/// Returns true if a name may end in front of the character.
fn ends_name(next: Option<char>) -> bool {
    next.is_some_and(|next| {
        matches!(next, '=' | '~' | '}' | '/' | '.' | ')' | '|') || is_space(next)
    })
}

/// Returns true if a number or a word such as `true` may end in front of the character.
fn ends_literal(next: Option<char>) -> bool {
    next.is_some_and(|next| matches!(next, '~' | '}' | ')') || is_space(next))
}

fn without_space(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

impl Scanner<'_> {
    /// The next token in a tag; none if only whitespace was skipped.
    pub(super) fn tag(&mut self) -> Option<Token> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Some(Token::End);
        };
        if is_space(first) {
            self.at += rest.len() - without_space(rest).len();
            return None;
        }
        let (length, token) = match first {
            '(' => (1, Token::OpenCall),
            ')' => (1, Token::CloseCall),
            '=' => (1, Token::Equals),
            '@' => (1, Token::At),
            '|' => (1, Token::CloseParams),
            '/' => (1, Token::Separator('/')),
            // Before the single dot, which it begins with.
            '.' if rest.starts_with("..") => (2, name("..")),
            '.' if ends_name(rest.chars().nth(1)) => (1, name(".")),
            '.' => (1, Token::Separator('.')),
            '{' if rest.starts_with("{{") => return Some(self.open()),
            '}' | '~' => return Some(self.close()),
            '"' | '\'' => return Some(self.quoted(first)),
            '[' => return Some(self.bracketed()),
            _ => return Some(self.word()),
        };
        self.at += length;
        Some(token)
    }

    /// Scans a tag that starts with `{{`.
    fn open(&mut self) -> Token {
        let rest = self.rest();
        if rest.starts_with("{{{{") {
            self.at += 4;
            return Token::OpenRaw;
        }
        // A `~` may stand directly behind the braces of any tag.
        let (tilde, inner) = stripped(rest.get(2..).unwrap_or_default());
        // Before the signs: `{{^}}` is an `else`, and `{{^x}}` an inverse block.
        if let Some(token) = self.otherwise(tilde, inner) {
            return token;
        }
        if inner.starts_with('!') {
            return self.comment(tilde, inner);
        }
        let spaced = without_space(inner);
        let opener = OPENERS.iter().find(|(sign, _)| inner.starts_with(sign));
        let (length, opens) = match opener {
            Some((sign, opens)) => (sign.len(), *opens),
            // Behind the signs: `{{^else` is an inverse block and no `else`.
            None if is_else(spaced) => (inner.len() - spaced.len() + 4, Opens::ElseIf),
            None => (0, Opens::Value),
        };
        self.at += 2 + usize::from(tilde) + length;
        Token::Open(opens, tilde)
    }

    /// Scans `{{else}}` and `{{^}}`, which are single tokens.
    fn otherwise(&mut self, open: bool, inner: &str) -> Option<Token> {
        // Both spellings are the same token to Handlebars.js.
        let behind = match inner.strip_prefix('^') {
            Some(behind) => behind,
            None => without_space(inner).strip_prefix("else")?,
        };
        let (close, end) = stripped(without_space(behind));
        let after = end.strip_prefix("}}")?;
        // `after` is the end of the source, so its length tells the offset.
        self.at = self.source.len() - after.len();
        self.states.pop();
        Some(Token::Else(Strip { open, close }))
    }

    fn comment(&mut self, open: bool, inner: &str) -> Token {
        // The hyphens that open a long comment may close it as well.
        let is_long = inner.starts_with("!--");
        let end = inner.match_indices("}}").find(|(at, _)| {
            let text = inner.get(..*at).unwrap_or_default();
            !is_long || text.ends_with("--") || text.ends_with("--~")
        });
        let Some((at, _)) = end else {
            return Token::OpenComment;
        };
        let close = inner.get(..at).is_some_and(|text| text.ends_with('~'));
        self.at += 2 + usize::from(open) + at + 2;
        self.states.pop();
        Token::Comment(Strip { open, close })
    }

    /// Scans a token that starts with `}` or `~`.
    fn close(&mut self) -> Token {
        let rest = self.rest();
        // The longest first: `}}}}` begins with all of the others.
        let closers = [
            ("}}}}", Token::CloseRaw),
            ("}}}", Token::CloseUnescaped(false)),
            ("}~}}", Token::CloseUnescaped(true)),
            ("}}", Token::Close(false)),
            ("~}}", Token::Close(true)),
        ];
        let mut closers = closers.into_iter();
        let Some((sign, token)) = closers.find(|(sign, _)| rest.starts_with(sign)) else {
            return self.invalid();
        };
        self.at += sign.len();
        self.states.pop();
        // Behind `}}}}` the raw text begins.
        if token == Token::CloseRaw {
            self.states.push(State::Raw);
        }
        token
    }

    fn quoted(&mut self, quote: char) -> Token {
        match self.delimited(quote) {
            Some(text) => literal(text.replace(&format!("\\{quote}"), &quote.to_string())),
            None => self.invalid(),
        }
    }

    fn bracketed(&mut self) -> Token {
        let Some(inner) = self.delimited(']') else {
            return self.invalid();
        };
        let mut text = String::with_capacity(inner.len());
        let mut chars = inner.chars().peekable();
        while let Some(char) = chars.next() {
            // A backslash at the end belongs to the closing bracket.
            match (char, chars.peek()) {
                ('\\', None) => {}
                ('\\', Some(&next @ ('\\' | ']'))) => {
                    text.push(next);
                    chars.next();
                }
                _ => text.push(char),
            }
        }
        // Handlebars.js keeps the brackets of a name with a line break, since its pattern for
        // removing them does not match there.
        if text.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
            return name(&format!("[{text}]"));
        }
        Token::Name {
            text,
            bracketed: true,
        }
    }

    /// The text from the opening sign up to the next `end` without a backslash in front; if all
    /// have one, up to the last.
    fn delimited(&mut self, end: char) -> Option<String> {
        let inner = self.rest().get(1..).unwrap_or_default();
        let mut escaped = false;
        let mut last = None;
        for (at, char) in inner.char_indices() {
            if char == end {
                last = Some(at);
                if !escaped {
                    break;
                }
            }
            escaped = char == '\\';
        }
        let text = inner.get(..last?)?;
        self.at += text.len() + 2;
        Some(text.to_owned())
    }

    fn word(&mut self) -> Token {
        let rest = self.rest();
        // Numbers first: `1` could be a name as well.
        if let Some((length, number)) = number(rest) {
            self.at += length;
            return literal(Value::Number(number));
        }
        // `as |` names parameters, but `as` alone may be a field.
        if let Some(behind) = rest.strip_prefix("as")
            && behind.starts_with(is_space)
            && let Some(after) = without_space(behind).strip_prefix('|')
        {
            self.at = self.source.len() - after.len();
            return Token::OpenParams;
        }
        let length = rest.find(|char| !is_name(char)).unwrap_or(rest.len());
        let (word, behind) = rest.split_at_checked(length).unwrap_or_default();
        let next = behind.chars().next();
        if word.is_empty() || !ends_name(next) {
            return self.invalid();
        }
        self.at += word.len();
        match word {
            "true" if ends_literal(next) => literal(true),
            "false" if ends_literal(next) => literal(false),
            "undefined" if ends_literal(next) => Token::Literal(Literal::Undefined),
            "null" if ends_literal(next) => literal(Value::Null),
            _ => name(word),
        }
    }

    fn invalid(&mut self) -> Token {
        self.at += self.rest().chars().next().map_or(0, char::len_utf8);
        Token::Invalid
    }
}

/// The signs behind `{{` that select what a tag opens. No sign stands in front of a longer one that
/// begins with it.
const OPENERS: [(&str, Opens); 9] = [
    (">", Opens::Partial),
    ("#>", Opens::PartialBlock),
    ("#*", Opens::DecoratorBlock),
    ("#", Opens::Block),
    ("/", Opens::End),
    ("^", Opens::Inverse),
    ("{", Opens::Unescaped),
    ("&", Opens::Ampersand),
    ("*", Opens::Decorator),
];

/// Splits off a leading `~`.
fn stripped(text: &str) -> (bool, &str) {
    let rest = text.strip_prefix('~');
    (rest.is_some(), rest.unwrap_or(text))
}

fn literal(value: impl Into<Value>) -> Token {
    Token::Literal(Literal::Value(value.into()))
}

fn name(text: &str) -> Token {
    Token::Name {
        text: text.to_owned(),
        bracketed: false,
    }
}

fn is_else(text: &str) -> bool {
    text.strip_prefix("else").is_some_and(|behind| {
        !behind.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_')
    })
}

fn number(text: &str) -> Option<(usize, Number)> {
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let sign = usize::from(text.starts_with('-'));
    let whole = digits(text.get(sign..)?);
    if whole == 0 {
        return None;
    }
    let mut length = sign + whole;
    if let Some(behind) = text.get(length..)?.strip_prefix('.') {
        length += match digits(behind) {
            0 => 0,
            fraction => 1 + fraction,
        };
    }
    let (number, behind) = text.split_at_checked(length)?;
    // `1a` is a name and no number.
    if !ends_literal(behind.chars().next()) {
        return None;
    }
    Some((length, number.parse::<f64>().ok()?.into()))
}
