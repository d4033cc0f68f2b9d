//! Parses a text within bounds, and puts the results together.
//!
//! The bounds count steps of the parser and entries of tables, never time: the same text gives the
//! same result on every machine.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::ControlFlow;

use tree_sitter::{ParseOptions, Parser, Tree};

use super::grammar::{self, Grammar};
use super::reader::Reader;
use super::{Lines, Syntax, folds, frames, macros, units};
use crate::language::Language;

/// Reads a text with its grammar; none if there is no grammar or the text is beyond the bounds.
pub(super) fn read(language: Language, lines: &Lines<'_>) -> Option<Syntax> {
    let grammar = grammar::of(language)?;
    let text = match language {
        Language::C | Language::Cpp => macros::hidden(lines.text()),
        Language::Bash => ascii(lines.text()),
        _ => Cow::Borrowed(lines.text()),
    };
    let tree = parse(grammar, &text)?;
    // The changed text has the lines and the length of the original, so positions in the tree hold
    // for both.
    let walked = frames::read(&tree, grammar, lines)?;
    let mut reader = Reader::new(grammar, lines, &walked.counting);
    let items = reader.file(tree.root_node());
    let mut syntax = units::divide(&items, lines, &walked.cuts);
    syntax.folds = folds::of(&items);
    syntax.definitions = reader.definitions;
    syntax.imports = reader.imports;
    syntax.frames = walked.frames;
    Some(syntax)
}

/// The text with a letter in the place of each byte that is not ASCII. The Bash grammar asks C's
/// `isdigit` about whatever follows a brace, which reads beyond its table for such characters and can
/// bring the process down. Names are read from the text itself.
fn ascii(text: &str) -> Cow<'_, str> {
    let letter = |byte: u8| {
        if byte.is_ascii() {
            char::from(byte)
        } else {
            'x'
        }
    };
    match text.is_ascii() {
        true => Cow::Borrowed(text),
        false => text.bytes().map(letter).collect(),
    }
}

/// The longest text that is parsed, in bytes.
const LONGEST: usize = 4 << 20;

/// The bytes of text that the parser may take between two reports; it reports every hundred steps.
/// The most laborious of ten thousand real files took 43.
const BYTES_PER_REPORT: usize = 10;

/// The parser is handed the text in pieces of this size, and may ask for each piece so often.
/// Some grammars look ahead to the end of the text at every word of a broken file.
const PIECE: usize = 4 << 10;
// Such a scanner took 20 s for 140 kB of shell. Real files ask for a piece 4 times at most.
const READINGS: usize = 50;

fn parse(grammar: &Grammar, text: &str) -> Option<Tree> {
    if text.len() > LONGEST {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&grammar.language).ok()?;
    // In a cell: both callbacks of the parser look at it.
    let pieces = Cell::new(text.len() / PIECE * READINGS + 1_000);
    let mut reports = text.len() / BYTES_PER_REPORT + 200;
    let mut report = |_: &tree_sitter::ParseState| {
        reports = reports.saturating_sub(1);
        if reports == 0 || pieces.get() == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut report);
    let mut read = |at: usize, _| {
        pieces.set(pieces.get().saturating_sub(1));
        let end = text.len().min(at + PIECE);
        match pieces.get() {
            0 => &[],
            _ => text.as_bytes().get(at..end).unwrap_or(&[]),
        }
    };
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    // What was read to a false end is not the text.
    tree.filter(|_| pieces.get() > 0)
}
