//! Parses a text within bounds, and puts the results together.
//!
//! The bounds count steps of the parser and entries of tables, never time: the same text gives the
//! same result on every machine.

use std::borrow::Cow;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::cuts::Cuts;
use super::grammar::{self, Grammar};
use super::reader::Reader;
use super::{Lines, Syntax, folds, macros, units};
use crate::language::Language;

/// Reads a text with its grammar; none if there is no grammar or the text is beyond the bounds.
pub(super) fn read(language: Language, lines: &Lines<'_>) -> Option<Syntax> {
    let grammar = grammar::of(language)?;
    let text = match language {
        Language::C | Language::Cpp => macros::hidden(lines.text()),
        _ => Cow::Borrowed(lines.text()),
    };
    let tree = parse(grammar, &text)?;
    let cuts = Cuts::of(&tree, grammar, lines)?;
    let mut reader = Reader::new(grammar, lines);
    let items = reader.file(tree.root_node());
    let mut syntax = units::divide(&items, lines, &cuts);
    syntax.folds = folds::of(&items);
    syntax.definitions = reader.definitions;
    syntax.imports = reader.imports;
    Some(syntax)
}

/// The longest text that is parsed, in bytes.
const LONGEST: usize = 4 << 20;

/// How often the parser may report, per byte of text; it reports about every hundred steps.
/// Real sources stay below a thirtieth of this.
const REPORTS_PER_BYTE: usize = 1;

fn parse(grammar: &Grammar, text: &str) -> Option<Tree> {
    if text.len() > LONGEST {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&grammar.language).ok()?;
    let mut left = text.len() * REPORTS_PER_BYTE + 1_000;
    let mut report = |_: &tree_sitter::ParseState| {
        left = left.saturating_sub(1);
        if left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut report);
    let bytes = text.as_bytes();
    parser.parse_with_options(
        &mut |at, _| bytes.get(at..).unwrap_or(&[]),
        None,
        Some(options),
    )
}
