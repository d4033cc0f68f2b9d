//! Makes the tree of a template out of its tokens.
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

/// The largest template.
const MOST_BYTES: usize = 4 << 20;
/// How many blocks and sub-expressions may be within each other.
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
    match parser.next() {
        (_, Token::End) => {}
        (at, token) => return Err(parser.unexpected(at, &token, "the end")),
    }
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
    /// Statements up to a token that starts none.
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

    /// What follows `{{#`, `{{#*` or `{{^`.
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
        if opens == Opens::Inverse {
            std::mem::swap(&mut block.program, &mut block.inverse);
        }
        Ok(block.into())
    }

    /// A block from its path up to what closes it.
    fn section(&mut self, opens: Opens, open: bool) -> Result<Block, TemplateError> {
        let call = self.call()?;
        let params = self.block_params()?;
        let open = self.close_tag(open)?;
        let mut program = self.program()?;
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
        if opens != Opens::DecoratorBlock {
            return Ok(BlockKind::Section);
        }
        match (call.path.original.as_str(), call.inline_name()) {
            ("inline", Some(name)) => Ok(BlockKind::Inline(name)),
            ("inline", None) => Err(self.syntax(at, "an inline partial without a name", "a text")),
            (name, _) => Err(self.syntax(at, &format!("the decorator `{name}`"), "`inline`")),
        }
    }

    /// `{{else if x}}` is an `{{else}}` that consists of one block, which the outer close closes too.
    fn else_if(&mut self, open: bool) -> Result<(Strip, Program), TemplateError> {
        let mut block = self.section(Opens::ElseIf, open)?;
        // As in Handlebars.js: the last one is closed by the end of the whole, the others by the
        // `else` that they are followed by.
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
            // Handlebars.js knows no name that would close it either.
            return Err(self.unbalanced(&call, "nothing that could close it".to_owned()));
        };
        let mut block = Block::new(BlockKind::Partial(name), call, program, None, open);
        block.close = close;
        Ok(block.into())
    }

    /// `{{/name}}` of the block that was opened by `call`.
    fn close_block(&mut self, call: &Call) -> Result<Strip, TemplateError> {
        match self.next() {
            (_, Token::Open(Opens::End, open)) => {
                let (_, path) = self.path()?;
                let strip = self.close_tag(open)?;
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

    /// Counts one more level for as long as `parse` runs.
    fn within<T>(
        &mut self,
        at: usize,
        parse: impl FnOnce(&mut Self) -> Result<T, TemplateError>,
    ) -> Result<T, TemplateError> {
        if self.depth == MOST_DEPTH {
            let problem = TemplateProblem::limit(Limited::Depth, MOST_DEPTH as u64);
            return Err(self.error(at, problem));
        }
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
    /// A block with what stands behind its `else`; what closes it comes later.
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
