//! Removes whitespace around tags: next to a `~`, and on lines that hold nothing but a block tag, a
//! comment or a partial.
//!
//! The steps and their order are those of Handlebars.js with all oddities: for example, the space
//! in front of the `{{/if}}` of an `{{else if}}` stays.

use std::ops::Range;

use super::ast::{Block, Node, Program, Strip, Text};
use super::scan::is_space;

pub(super) fn control(program: &mut Program, source: &str) {
    Control { source }.program(program, Level::Root);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Inner,
}

/// The amount of whitespace to remove.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Amount {
    /// The rest of the line.
    Line,
    /// All of it.
    All,
}

/// The whitespace control that a node asks for, and the tags of it that could stand alone on a
/// line.
#[derive(Default)]
struct Wish {
    strip: Strip,
    open_alone: bool,
    close_alone: bool,
    alone: bool,
}

struct Control<'a> {
    source: &'a str,
}

impl Control<'_> {
    fn program(&self, program: &mut Program, level: Level) {
        let body = &mut program.body;
        for at in 0..body.len() {
            // Inner blocks are controlled first, since `wish` descends into them.
            let Some(wish) = body.get_mut(at).and_then(|node| self.wish(node)) else {
                continue;
            };
            // Judged on the original text, before this node's own removals change what is shown.
            let before = self.is_blank_before(body, at, level);
            let after = self.is_blank_after(body, at + 1, level);
            // `~` first: what it removes must not be taken for the indentation of a partial below.
            if wish.strip.close {
                self.omit_right(body.get_mut(at + 1), Amount::All);
            }
            if wish.strip.open {
                self.omit_left(previous(body, at), Amount::All);
            }
            if wish.alone && before && after {
                self.omit_right(body.get_mut(at + 1), Amount::Line);
                if let Some(indent) = self.omit_left(previous(body, at), Amount::Line)
                    && let Some(Node::Partial(partial)) = body.get_mut(at)
                {
                    // The removed blanks come back in front of each line of the partial.
                    partial.indent = indent;
                }
            }
            if wish.open_alone && before {
                if let Some(Node::Block(block)) = body.get_mut(at) {
                    // The newline behind the opening tag belongs to the first text of the block.
                    let first = block.program.as_mut().or(block.inverse.as_mut());
                    self.omit_right(first.and_then(|it| it.body.first_mut()), Amount::Line);
                }
                self.omit_left(previous(body, at), Amount::Line);
            }
            if wish.close_alone && after {
                self.omit_right(body.get_mut(at + 1), Amount::Line);
                if let Some(Node::Block(block)) = body.get_mut(at) {
                    let last = block.inverse.as_mut().or(block.program.as_mut());
                    self.omit_left(last.and_then(|it| it.body.last_mut()), Amount::Line);
                }
            }
        }
    }

    fn wish(&self, node: &mut Node) -> Option<Wish> {
        let (strip, alone) = match node {
            Node::Text(_) => return None,
            Node::Mustache(mustache) => (mustache.strip, false),
            Node::Comment(strip) => (*strip, true),
            Node::Partial(partial) => (partial.strip, true),
            Node::Block(block) => return Some(self.block(block)),
        };
        Some(Wish {
            strip,
            alone,
            ..Wish::default()
        })
    }

    fn block(&self, block: &mut Block) -> Wish {
        let programs = [&mut block.program, &mut block.inverse];
        for program in programs.into_iter().flatten() {
            self.program(program, Level::Inner);
        }
        let (open, between, close) = (block.open, block.between, block.close);
        // An inverse block without `else` has only the inverse program.
        let (program, mut inverse) = match (&mut block.program, &mut block.inverse) {
            (Some(program), inverse) => (program, inverse.as_mut()),
            (None, Some(inverse)) => (inverse, None),
            (None, None) => return Wish::default(),
        };
        let wish = Wish {
            strip: Strip {
                open: open.open,
                close: close.close,
            },
            open_alone: self.is_blank_after(&program.body, 0, Level::Inner),
            close_alone: {
                // The closing tag of a chain of `else if` ends its last program.
                let last = inverse.as_deref_mut().and_then(after_else);
                let last = &last.unwrap_or(program).body;
                self.is_blank_before(last, last.len(), Level::Inner)
            },
            alone: false,
        };
        if open.close {
            self.omit_right(program.body.first_mut(), Amount::All);
        }
        let Some(inverse) = inverse.and_then(after_else) else {
            if close.open {
                self.omit_left(program.body.last_mut(), Amount::All);
            }
            return wish;
        };
        if between.open {
            self.omit_left(program.body.last_mut(), Amount::All);
        }
        if between.close {
            self.omit_right(inverse.body.first_mut(), Amount::All);
        }
        if close.open {
            self.omit_left(inverse.body.last_mut(), Amount::All);
        }
        if self.is_blank_before(&program.body, program.body.len(), Level::Inner)
            && self.is_blank_after(&inverse.body, 0, Level::Inner)
        {
            self.omit_left(program.body.last_mut(), Amount::Line);
            self.omit_right(inverse.body.first_mut(), Amount::Line);
        }
        wish
    }

    /// Returns true if the line is blank in front of the node `at`.
    fn is_blank_before(&self, body: &[Node], at: usize, level: Level) -> bool {
        let Some(before) = at.checked_sub(1).and_then(|before| body.get(before)) else {
            return level == Level::Root;
        };
        let Node::Text(text) = before else {
            return false;
        };
        let text = self.text(&text.original);
        let inked = text.trim_end_matches(is_space);
        let blank = text.get(inked.len()..).unwrap_or_default();
        // The start of a template counts as the start of a line, that of a block does not.
        blank.contains('\n') || (inked.is_empty() && at == 1 && level == Level::Root)
    }

    /// Returns true if the line is blank from the node `at` on.
    fn is_blank_after(&self, body: &[Node], at: usize, level: Level) -> bool {
        let Some(after) = body.get(at) else {
            return level == Level::Root;
        };
        let Node::Text(text) = after else {
            return false;
        };
        let text = self.text(&text.original);
        let inked = text.trim_start_matches(is_space);
        let blank = text.get(..text.len() - inked.len()).unwrap_or_default();
        let is_last = at + 1 == body.len();
        blank.contains('\n') || (inked.is_empty() && is_last && level == Level::Root)
    }

    /// Removes whitespace at the start of a text.
    fn omit_right(&self, node: Option<&mut Node>, amount: Amount) {
        let Some(Node::Text(text)) = node else {
            return;
        };
        let shown = self.text(&text.shown);
        let rest = match amount {
            Amount::All => shown.trim_start_matches(is_space),
            Amount::Line => {
                let rest = shown.trim_start_matches([' ', '\t']);
                let mut ends = ["\r\n", "\n", "\r"].into_iter();
                ends.find_map(|end| rest.strip_prefix(end)).unwrap_or(rest)
            }
        };
        text.shown.start = text.shown.end - rest.len();
    }

    /// Removes whitespace at the end of a text. If there was any, returns the blanks at its end in
    /// the source.
    fn omit_left(&self, node: Option<&mut Node>, amount: Amount) -> Option<Range<usize>> {
        let Some(Node::Text(text)) = node else {
            return None;
        };
        let shown = self.text(&text.shown);
        let rest = match amount {
            Amount::All => shown.trim_end_matches(is_space),
            Amount::Line => shown.trim_end_matches([' ', '\t']),
        };
        let is_less = rest.len() != shown.len();
        text.shown.end = text.shown.start + rest.len();
        is_less.then(|| self.indent(text))
    }

    /// The blanks at the end of a text in the source.
    fn indent(&self, text: &Text) -> Range<usize> {
        let inked = self
            .text(&text.original)
            .trim_end_matches([' ', '\t'])
            .len();
        text.original.start + inked..text.original.end
    }

    fn text(&self, range: &Range<usize>) -> &str {
        self.source.get(range.clone()).unwrap_or_default()
    }
}

fn previous(body: &mut [Node], at: usize) -> Option<&mut Node> {
    at.checked_sub(1).and_then(|before| body.get_mut(before))
}

/// The program behind the `{{else}}` or `{{else if x}}` that an inverse starts with.
fn after_else(inverse: &mut Program) -> Option<&mut Program> {
    if !inverse.chained {
        return Some(inverse);
    }
    inverse.chained_block()?.program.as_mut()
}
