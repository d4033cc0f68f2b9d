//! Builds the tree of a template from its tokens.
//!
//! Recursion is limited, and each token is looked at a constant number of times.

mod expression;

use std::collections::VecDeque;

use super::ast::{
    Block, BlockKind, Call, Literal, Node, Partial, PartialName, Program, Strip, Text,
};
use super::error::{Limited, Place, TemplateError, TemplateProblem};
use super::scan::{Opens, Scanner, Token};
use super::whitespace;
use crate::value::Value;

/// The most bytes of a template.
const MOST_BYTES: usize = 4 << 20;
/// The most blocks and sub-expressions within each other. The limit keeps recursion off the end of
/// the stack.
const MOST_DEPTH: usize = 64;

pub(super) fn parse(name: &str, source: &str) -> Result<Program, TemplateError> {
    if source.len() > MOST_BYTES {
        return Err(TemplateError {
            place: Place::of(name, source, 0),
            problem: TemplateProblem::limit(Limited::Source, MOST_BYTES as u64),
        });
    }
    let mut parser = Parser {
        name,
        source,
        scanner: Scanner::new(source),
        ahead: VecDeque::new(),
        depth: 0,
    };
    let mut program = parser.program()?;
    // The scanner ends with `End`; any other token here closes a block that was never opened.
    match parser.next() {
        (_, Token::End) => {}
        (at, token) => return Err(parser.unexpected(at, &token, "the end")),
    }
    // On the finished tree: the rules look at the neighbours of a tag.
    whitespace::control(&mut program, source);
    Ok(program)
}

struct Parser<'a> {
    name: &'a str,
    source: &'a str,
    scanner: Scanner<'a>,
    ahead: VecDeque<(usize, Token)>,
    depth: usize,
}

impl Parser<'_> {
    /// Parses statements up to a token that starts none.
    fn program(&mut self) -> Result<Program, TemplateError> {
        let mut body = Vec::new();
        while let Some(node) = self.statement()? {
            body.push(node);
        }
        Ok(Program {
            body,
            ..Program::default()
        })
    }

    fn statement(&mut self) -> Result<Option<Node>, TemplateError> {
        use Opens::{
            Ampersand, Block, Decorator, DecoratorBlock, Inverse, Partial, PartialBlock, Unescaped,
            Value,
        };
        let (at, token) = self.next();
        Ok(Some(match token {
            Token::Text(range) => Node::Text(Text::new(range)),
            Token::Comment(strip) => Node::Comment(strip),
            Token::OpenRaw => self.within(at, Self::raw_block)?,
            Token::Open(Partial, open) => self.partial(open)?,
            Token::Open(PartialBlock, open) => {
                self.within(at, |parser| parser.partial_block(open))?
            }
            Token::Open(opens @ (Block | DecoratorBlock | Inverse), open) => {
                self.within(at, |parser| parser.block(at, opens, open))?
            }
            Token::Open(opens @ (Value | Unescaped | Ampersand | Decorator), open) => {
                self.mustache(at, opens, open)?
            }
            // The token belongs to the caller: the end, `else` or a closing tag.
            token => {
                self.ahead.push_front((at, token));
                return Ok(None);
            }
        }))
    }

    fn raw_block(&mut self) -> Result<Node, TemplateError> {
        let call = self.call()?;
        self.expect(&Token::CloseRaw, "`}}}}`")?;
        let mut body = Vec::new();
        loop {
            match self.next() {
                (_, Token::Text(range)) => body.push(Node::Text(Text::new(range))),
                (_, Token::EndRaw(closed)) => {
                    if call.path.spelled() != Literal::Value(Value::Text(closed.clone())) {
                        return Err(self.unbalanced(&call, closed));
                    }
                    break;
                }
                (at, token) => return Err(self.unexpected(at, &token, "the end of a raw block")),
            }
        }
        let program = Program {
            body,
            ..Program::default()
        };
        let open = Strip::default();
        Ok(Block::new(BlockKind::Section, call, program, None, open).into())
    }

    /// Parses a block behind `{{#`, `{{#*` or `{{^`.
    fn block(&mut self, at: usize, opens: Opens, open: bool) -> Result<Node, TemplateError> {
        let mut block = self.section(opens, open)?;
        block.kind = self.block_kind(at, opens, &block.call)?;
        if let (BlockKind::Inline(_), Some(_)) = (&block.kind, &block.inverse) {
            return Err(self.syntax(at, "an inline partial with `else`", "one without"));
        }
        block.close = self.close_block(&block.call)?;
        if let Some(chained) = block.inverse.as_mut().and_then(Program::chained_block) {
            chained.close = block.close;
        }
        // `{{^x}}` is a block whose content is the `else` part.
        if opens == Opens::Inverse {
            std::mem::swap(&mut block.program, &mut block.inverse);
        }
        Ok(block.into())
    }

    /// Parses a block from its path up to its closing tag.
    fn section(&mut self, opens: Opens, open: bool) -> Result<Block, TemplateError> {
        let call = self.call()?;
        let params = self.block_params()?;
        let open = self.close_tag(open)?;
        let mut program = self.program()?;
        // Parameters belong to the block's content, not to its `else` part.
        program.params = params;
        let otherwise = match self.next() {
            (_, Token::Else(strip)) => Some((strip, self.program()?)),
            (at, Token::Open(Opens::ElseIf, open)) if opens != Opens::Inverse => {
                Some(self.within(at, |parser| parser.else_if(open))?)
            }
            other => {
                self.ahead.push_front(other);
                None
            }
        };
        Ok(Block::new(
            BlockKind::Section,
            call,
            program,
            otherwise,
            open,
        ))
    }

    fn block_kind(&self, at: usize, opens: Opens, call: &Call) -> Result<BlockKind, TemplateError> {
        // `inline` is the only decorator that Handlebars.js brings.
        if opens != Opens::DecoratorBlock {
            return Ok(BlockKind::Section);
        }
        match (call.path.original.as_str(), call.inline_name()) {
            ("inline", Some(name)) => Ok(BlockKind::Inline(name)),
            ("inline", None) => Err(self.syntax(at, "an inline partial without a name", "a text")),
            (name, _) => Err(self.syntax(at, &format!("the decorator `{name}`"), "`inline`")),
        }
    }

    /// Parses `{{else if x}}`, an `{{else}}` with a single block, which the outer closing tag
    /// closes as well.
    fn else_if(&mut self, open: bool) -> Result<(Strip, Program), TemplateError> {
        let mut block = self.section(Opens::ElseIf, open)?;
        // Like Handlebars.js: the last of a chain is closed by the end of the whole, each other one
        // by the `else` behind it.
        if let Some(chained) = block.inverse.as_mut().and_then(Program::chained_block) {
            chained.close = block.between;
        }
        let strip = block.open;
        let program = Program {
            body: vec![block.into()],
            chained: true,
            ..Program::default()
        };
        Ok((strip, program))
    }

    fn partial(&mut self, open: bool) -> Result<Node, TemplateError> {
        let (name, call) = self.partial_call()?;
        let strip = self.close_tag(open)?;
        Ok(Node::Partial(Box::new(Partial {
            name,
            call,
            indent: 0..0,
            strip,
        })))
    }

    fn partial_block(&mut self, open: bool) -> Result<Node, TemplateError> {
        let (name, call) = self.partial_call()?;
        let open = self.close_tag(open)?;
        let program = self.program()?;
        let close = self.close_block(&call)?;
        let PartialName::Fixed(name) = name else {
            // Handlebars.js has no name that could close it either.
            return Err(self.unbalanced(&call, "nothing that could close it".to_owned()));
        };
        let mut block = Block::new(BlockKind::Partial(name), call, program, None, open);
        block.close = close;
        Ok(block.into())
    }

    /// Parses the `{{/name}}` of the block that `call` opened.
    fn close_block(&mut self, call: &Call) -> Result<Strip, TemplateError> {
        match self.next() {
            (_, Token::Open(Opens::End, open)) => {
                let (_, path) = self.path()?;
                let strip = self.close_tag(open)?;
                // Spellings are compared as written: `{{#a.b}}` is not closed by `{{/a/b}}`.
                if path.spelled() != call.path.spelled() {
                    return Err(self.unbalanced(call, path.original));
                }
                Ok(strip)
            }
            (at, token) => {
                let expected = format!("`{{{{/{}}}}}`", call.path.original);
                Err(self.unexpected(at, &token, &expected))
            }
        }
    }

    /// Counts one more level while `parse` runs.
    fn within<T>(
        &mut self,
        at: usize,
        parse: impl FnOnce(&mut Self) -> Result<T, TemplateError>,
    ) -> Result<T, TemplateError> {
        if self.depth == MOST_DEPTH {
            let problem = TemplateProblem::limit(Limited::Depth, MOST_DEPTH as u64);
            return Err(self.error(at, problem));
        }
        // Restored by hand, which is safe: an error ends the whole parsing.
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn next(&mut self) -> (usize, Token) {
        let ahead = self.ahead.pop_front();
        ahead.unwrap_or_else(|| self.scanner.next_token())
    }

    fn peek(&mut self) -> &Token {
        let token = self.next();
        self.ahead.push_front(token);
        self.ahead.front().map_or(&Token::End, |(_, token)| token)
    }

    fn error(&self, at: usize, problem: TemplateProblem) -> TemplateError {
        TemplateError {
            place: Place::of(self.name, self.source, at),
            problem,
        }
    }

    fn syntax(&self, at: usize, found: &str, expected: &str) -> TemplateError {
        let (found, expected) = (found.to_owned(), expected.to_owned());
        self.error(at, TemplateProblem::Syntax { found, expected })
    }

    fn unexpected(&self, at: usize, token: &Token, expected: &str) -> TemplateError {
        let found = match token {
            Token::End => "the end".to_owned(),
            Token::OpenComment => "a comment without an end".to_owned(),
            _ => {
                let rest = self.source.get(at..).unwrap_or_default();
                // Twenty characters show the place without repeating a whole layout.
                let line: String = rest.chars().take(20).take_while(|c| *c != '\n').collect();
                format!("`{line}`")
            }
        };
        self.syntax(at, &found, expected)
    }

    fn unbalanced(&self, call: &Call, closed: String) -> TemplateError {
        let opened = call.path.original.clone();
        self.error(call.at, TemplateProblem::Unbalanced { opened, closed })
    }
}

impl Block {
    /// Makes a block with its `else` part. The closing tag is added later.
    fn new(
        kind: BlockKind,
        call: Call,
        program: Program,
        otherwise: Option<(Strip, Program)>,
        open: Strip,
    ) -> Self {
        let (between, inverse) = otherwise.unzip();
        Self {
            kind,
            call,
            program: Some(program),
            inverse,
            open,
            between: between.unwrap_or_default(),
            close: Strip::default(),
        }
    }
}

impl From<Block> for Node {
    fn from(block: Block) -> Self {
        Self::Block(Box::new(block))
    }
}
