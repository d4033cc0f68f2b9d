//! Parses paths, literals, sub-expressions and the arguments of a call.

use super::super::ast::{Call, Expression, Mustache, Node, PartialName, Path, Strip};
use super::super::error::TemplateError;
use super::super::scan::{Opens, Token};
use super::Parser;

const PATH: &str = "a path";

impl Parser<'_> {
    /// Parses a tag behind `{{`, `{{{` or `{{&`.
    pub(super) fn mustache(
        &mut self,
        at: usize,
        opens: Opens,
        open: bool,
    ) -> Result<Node, TemplateError> {
        if opens == Opens::Decorator {
            return Err(self.syntax(at, "a decorator", PATH));
        }
        let call = self.call()?;
        let strip = if opens == Opens::Unescaped {
            match self.next() {
                (_, Token::CloseUnescaped(close)) => Strip { open, close },
                (at, token) => return Err(self.unexpected(at, &token, "`}}}`")),
            }
        } else {
            self.close_tag(open)?
        };
        Ok(Node::Mustache(Box::new(Mustache {
            call,
            escaped: opens == Opens::Value,
            strip,
        })))
    }

    /// Parses `}}`.
    pub(super) fn close_tag(&mut self, open: bool) -> Result<Strip, TemplateError> {
        match self.next() {
            (_, Token::Close(close)) => Ok(Strip { open, close }),
            (at, token) => Err(self.unexpected(at, &token, "`}}`")),
        }
    }

    pub(super) fn expect(&mut self, token: &Token, shown: &str) -> Result<(), TemplateError> {
        let (at, found) = self.next();
        if found == *token {
            Ok(())
        } else {
            Err(self.unexpected(at, &found, shown))
        }
    }

    /// Parses a path with arguments.
    pub(super) fn call(&mut self) -> Result<Call, TemplateError> {
        let (at, path) = self.path()?;
        self.arguments(at, path)
    }

    /// Parses the name and the arguments of a partial.
    pub(super) fn partial_call(&mut self) -> Result<(PartialName, Call), TemplateError> {
        let (name, at, path) = if *self.peek() == Token::OpenCall {
            let (at, call) = self.sub_expression()?;
            (PartialName::Dynamic(call), at, Path::this())
        } else {
            let (at, path) = self.path()?;
            (PartialName::Fixed(path.original.clone()), at, path)
        };
        let call = self.arguments(at, path)?;
        // Handlebars.js refuses it, too.
        if call.params.len() > 1 {
            return Err(self.syntax(at, "a partial with several contexts", "one with one"));
        }
        Ok((name, call))
    }

    fn arguments(&mut self, at: usize, path: Path) -> Result<Call, TemplateError> {
        let (mut params, mut hash) = (Vec::new(), Vec::new());
        loop {
            let (start, token) = self.next();
            match (token, self.peek()) {
                (Token::Name { text, .. }, Token::Equals) => {
                    self.next();
                    hash.push((text, self.expression()?));
                    continue;
                }
                // One token too many was read, since only the sign behind a name tells a named argument.
                (token, _) => self.ahead.push_front((start, token)),
            }
            // Positional arguments cannot follow named ones.
            if !hash.is_empty() || !starts_expression(self.peek()) {
                return Ok(Call {
                    at,
                    path,
                    params,
                    hash,
                });
            }
            params.push(self.expression()?);
        }
    }

    fn expression(&mut self) -> Result<Expression, TemplateError> {
        if *self.peek() == Token::OpenCall {
            let (_, call) = self.sub_expression()?;
            return Ok(Expression::Call(Box::new(call)));
        }
        let (at, path) = self.path()?;
        Ok(match path.literal {
            Some(literal) => Expression::Literal(literal),
            None => Expression::Path(at, path),
        })
    }

    fn sub_expression(&mut self) -> Result<(usize, Call), TemplateError> {
        let (at, _) = self.next();
        self.within(at, |parser| {
            let call = parser.call()?;
            parser.expect(&Token::CloseCall, "`)`")?;
            Ok((at, call))
        })
    }

    /// Parses `as |a b|`, if it is there.
    pub(super) fn block_params(&mut self) -> Result<Vec<String>, TemplateError> {
        let mut names = Vec::new();
        if *self.peek() != Token::OpenParams {
            return Ok(names);
        }
        self.next();
        loop {
            match self.next() {
                (_, Token::Name { text, .. }) => names.push(text),
                // `as ||` names nothing, which Handlebars.js refuses as well.
                (_, Token::CloseParams) if !names.is_empty() => return Ok(names),
                (at, token) => return Err(self.unexpected(at, &token, "the name of a parameter")),
            }
        }
    }

    /// Parses a path, or a literal in place of one.
    pub(super) fn path(&mut self) -> Result<(usize, Path), TemplateError> {
        let (at, token) = self.next();
        let literal = match token {
            Token::At => return Ok((at, self.segments(at, true)?)),
            Token::Name { .. } => {
                self.ahead.push_front((at, token));
                return Ok((at, self.segments(at, false)?));
            }
            Token::Literal(literal) => literal,
            token => return Err(self.unexpected(at, &token, PATH)),
        };
        // In the place of a helper a literal is looked up like a name: `{{12}}` shows the field `12`.
        let name = literal.name();
        let path = Path {
            literal: Some(literal),
            ..Path::new(false, 0, vec![name.clone()], name)
        };
        Ok((at, path))
    }

    fn segments(&mut self, start: usize, data: bool) -> Result<Path, TemplateError> {
        let (mut depth, mut parts) = (0, Vec::new());
        let mut original = String::from(if data { "@" } else { "" });
        loop {
            let (at, token) = self.next();
            let Token::Name { text, bracketed } = token else {
                return Err(self.unexpected(at, &token, "a name"));
            };
            original.push_str(&text);
            // In brackets the same signs are an ordinary name.
            if !bracketed && matches!(text.as_str(), "." | ".." | "this") {
                if !parts.is_empty() {
                    return Err(self.syntax(start, &format!("`{original}`"), PATH));
                }
                // Only at the beginning, as the check above sees to: `a/../b` is no path.
                depth += usize::from(text == "..");
            } else {
                parts.push(text);
            }
            let Token::Separator(sign) = *self.peek() else {
                return Ok(Path::new(data, depth, parts, original));
            };
            self.next();
            original.push(sign);
        }
    }
}

fn starts_expression(token: &Token) -> bool {
    use Token::{At, Literal, Name, OpenCall};
    matches!(token, OpenCall | At | Name { .. } | Literal(_))
}
