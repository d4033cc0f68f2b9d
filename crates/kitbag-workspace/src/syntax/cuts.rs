//! Where a long stretch may be cut: between the statements of the parse tree, best at a blank line.

use tree_sitter::Tree;

use super::Lines;
use super::grammar::{Grammar, Role};
use super::items::span;
use super::lines::is_closing;

/// For every line, how good a cut before it would be.
pub(super) struct Cuts {
    /// By line; the entry of line 0 is unused.
    costs: Vec<u32>,
}

const INSIDE_A_STATEMENT: u32 = 400;
const BEFORE_A_BLANK_LINE: u32 = 300;
const BEFORE_A_CLOSING_LINE: u32 = 200;
const AFTER_A_COMMENT: u32 = 100;
const PER_LEVEL: u32 = 4;
/// A blank line outweighs one level and a half: a body has about two nodes per level.
const NO_BLANK_LINE: u32 = 12;

impl Cuts {
    /// Weighs every line of a parsed text; none if its nodes are nested beyond bounds.
    pub(super) fn of(tree: &Tree, grammar: &Grammar, lines: &Lines<'_>) -> Option<Self> {
        let count = lines.count() as usize;
        let mut depth = vec![0_u32; count + 2];
        let mut clean = vec![true; count + 2];
        let mut comment = vec![false; count + 2];
        let mut left = 1_000_000 + count * 100;
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            let (first, last) = span(node);
            let role = grammar.role(node);
            if matches!(role, Role::Comment | Role::Attribute) {
                for line in first..=last {
                    if let Some(slot) = comment.get_mut(line as usize) {
                        *slot = true;
                    }
                }
            }
            left = left.checked_sub((last - first) as usize + 1)?;
            for line in first + 1..=last {
                if let Some(slot) = depth.get_mut(line as usize) {
                    *slot += 1;
                }
                if let Some(slot) = clean.get_mut(line as usize) {
                    *slot = role == Role::Block;
                }
            }
            if first < last && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Some(Self::weigh(&depth, &clean, &comment, lines));
                }
            }
        }
    }

    /// Without a tree, blank lines and indentation are all there is.
    pub(super) fn of_text(lines: &Lines<'_>) -> Self {
        let count = lines.count() as usize;
        let mut depth = vec![0; count + 2];
        for (line, slot) in (0_u32..).zip(depth.iter_mut()) {
            let text = lines.get(line);
            let indented = text.len() - text.trim_start().len();
            *slot = u32::try_from(indented.min(40)).unwrap_or(0) / 2;
        }
        Self::weigh(
            &depth,
            &vec![true; count + 2],
            &vec![false; count + 2],
            lines,
        )
    }

    fn weigh(depth: &[u32], clean: &[bool], comment: &[bool], lines: &Lines<'_>) -> Self {
        let at = |table: &[bool], line: u32| table.get(line as usize).copied().unwrap_or(false);
        let costs = (0..=lines.count())
            .map(|line| {
                let above = lines.get(line.saturating_sub(1)).trim();
                let mut cost = depth.get(line as usize).copied().unwrap_or(0) * PER_LEVEL;
                if !at(clean, line) {
                    cost += INSIDE_A_STATEMENT;
                }
                if lines.get(line).trim().is_empty() {
                    cost += BEFORE_A_BLANK_LINE;
                } else if is_closing(lines.get(line)) {
                    cost += BEFORE_A_CLOSING_LINE;
                }
                if !above.is_empty() {
                    cost += NO_BLANK_LINE;
                    if at(comment, line.saturating_sub(1)) {
                        cost += AFTER_A_COMMENT;
                    }
                }
                cost
            })
            .collect();
        Self { costs }
    }

    /// Cuts the lines `first..=last` into pieces of at most `longest` lines, where that can be at
    /// least `shortest`.
    pub(super) fn pieces(
        &self,
        first: u32,
        last: u32,
        shortest: u32,
        longest: u32,
    ) -> Vec<(u32, u32)> {
        let mut pieces = Vec::new();
        let mut from = first;
        while last + 1 - from > longest {
            let cut = self.best(from, last, shortest, longest);
            pieces.push((from, cut - 1));
            from = cut;
        }
        if from <= last {
            pieces.push((from, last));
        }
        pieces
    }

    /// The best line to cut before, for a piece that starts at `from`.
    fn best(&self, from: u32, last: u32, shortest: u32, longest: u32) -> u32 {
        let left = last + 1 - from;
        // What remains should not be a scrap either.
        let (shortest, longest) = if left < shortest + longest {
            (left / 3, (left * 2 / 3).min(longest))
        } else {
            (shortest, longest)
        };
        let middle = from + (shortest + longest) / 2;
        let among = |shortest: u32, longest: u32| {
            (from + shortest.max(1)..=(from + longest).min(last))
                .map(|line| {
                    let cost = self.costs.get(line as usize).copied().unwrap_or(u32::MAX);
                    (cost, line.abs_diff(middle), line)
                })
                .min()
        };
        let near = among(shortest, longest);
        // Better a piece of an odd length than one that starts inside a statement.
        let best = near
            .filter(|best| best.0 < BEFORE_A_CLOSING_LINE)
            .or_else(|| among(shortest / 2, longest * 4 / 3));
        best.map_or(from + longest.max(1), |(_, _, line)| line)
    }
}
