//! The places at which a long stretch may be cut: between the statements of the parse tree, best at a blank line.

use super::grammar::Role;
use super::lines::is_closing;
use super::{Frame, Lines};

/// The quality of a cut before each line. It is weighed only where something is cut.
pub(super) struct Cuts<'t> {
    lines: &'t Lines<'t>,
    marks: Marks,
}

const INSIDE_A_STATEMENT: u32 = 400;
const BEFORE_A_BLANK_LINE: u32 = 300;
const BEFORE_A_CLOSING_LINE: u32 = 200;
const AFTER_A_COMMENT: u32 = 100;
const PER_LEVEL: u32 = 4;
/// A blank line outweighs one level and a half: a body has about two nodes per level.
const NO_BLANK_LINE: u32 = 12;

impl<'t> Cuts<'t> {
    /// By what the nodes of a tree say.
    pub(super) const fn new(lines: &'t Lines<'t>, marks: Marks) -> Self {
        Self { lines, marks }
    }

    /// Without a tree, blank lines and indentation are all there is, and what is known to be whole.
    pub(super) fn of_text(lines: &'t Lines<'t>, frames: &[Frame]) -> Self {
        let count = lines.count() as usize;
        let mut depth = vec![0; count + 2];
        for (line, slot) in (0_u32..).zip(depth.iter_mut()) {
            let text = lines.get(line);
            let indented = text.len() - text.trim_start().len();
            // Halved, so that two blanks of indentation count as one level.
            *slot = u32::try_from(indented.min(40)).unwrap_or(0) / 2;
        }
        let mut marks = Marks::new(lines);
        marks.depth = depth;
        for frame in frames {
            let inside = frame.first as usize + 1..=frame.last as usize;
            if let Some(clean) = marks.clean.get_mut(inside) {
                clean.fill(false);
            }
        }
        Self::new(lines, marks)
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
                // Among equal costs the cut nearest the middle wins, then the first: the order is
                // total.
                .map(|line| (self.cost(line), line.abs_diff(middle), line))
                .min()
        };
        let near = among(shortest, longest);
        // Better a piece of an odd length than one that starts inside a statement.
        let best = near
            .filter(|best| best.0 < BEFORE_A_CLOSING_LINE)
            .or_else(|| among(shortest / 2, longest * 4 / 3));
        best.map_or(from + longest.max(1), |(_, _, line)| line)
    }

    /// The cost of a cut before a line.
    fn cost(&self, line: u32) -> u32 {
        let at = |table: &[bool], line: u32| table.get(line as usize).copied().unwrap_or(false);
        let depth = self.marks.depth.get(line as usize);
        let above = self.lines.get(line.saturating_sub(1)).trim();
        let below = self.lines.get(line);
        let mut cost = depth.copied().unwrap_or(0) * PER_LEVEL;
        if !at(&self.marks.clean, line) {
            cost += INSIDE_A_STATEMENT;
        }
        if below.trim().is_empty() {
            cost += BEFORE_A_BLANK_LINE;
        } else if is_closing(below) {
            cost += BEFORE_A_CLOSING_LINE;
        }
        if !above.is_empty() {
            cost += NO_BLANK_LINE;
            if at(&self.marks.comment, line.saturating_sub(1)) {
                cost += AFTER_A_COMMENT;
            }
        }
        cost
    }
}

/// The evidence of the nodes of a tree for each line.
pub(super) struct Marks {
    /// The number of nodes that a cut before the line would part.
    depth: Vec<u32>,
    /// True if the innermost of those is a list.
    clean: Vec<bool>,
    /// True if it is a comment or an attribute.
    comment: Vec<bool>,
    /// The lines of nodes that may still be looked at.
    left: usize,
}

impl Marks {
    pub(super) fn new(lines: &Lines<'_>) -> Self {
        let count = lines.count() as usize;
        Self {
            depth: vec![0; count + 2],
            clean: vec![true; count + 2],
            comment: vec![false; count + 2],
            // Deeply nested code marks each line once per level; the bound keeps that from growing
            // with the square.
            left: 1_000_000 + count * 100,
        }
    }

    /// Notes a node; outer nodes come before those inside. None if there are too many.
    pub(super) fn note(&mut self, role: Role, first: u32, last: u32) -> Option<()> {
        let (from, to) = (first as usize, last as usize);
        self.left = self.left.checked_sub(to - from + 1)?;
        if matches!(role, Role::Comment | Role::Attribute)
            && let Some(lines) = self.comment.get_mut(from..=to)
        {
            lines.fill(true);
        }
        if from < to
            && let (Some(depth), Some(clean)) = (
                self.depth.get_mut(from + 1..=to),
                self.clean.get_mut(from + 1..=to),
            )
        {
            depth.iter_mut().for_each(|depth| *depth += 1);
            clean.fill(role.is_list());
        }
        Some(())
    }
}
