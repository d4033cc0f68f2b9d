//! The imports that a part of a file uses: those whose names occur in it.

use std::cell::OnceCell;
use std::collections::HashMap;

use crate::syntax::frames::{merged, widen};
use crate::syntax::{Frame, Import, Lines, Syntax, Unit};

/// The most lines of imports that are shown.
const MOST: u32 = 12;

/// The most lines between two imports that are shown with them.
const BRIDGED: u32 = 2;

/// The imports of a file by the names that they make known.
#[derive(Debug)]
pub(super) struct Uses<'t> {
    imports: &'t [Import],
    by_name: HashMap<&'t [u8], Vec<u32>>,
    /// By unit, what it uses; many slices show the same unit.
    by_unit: Vec<OnceCell<Vec<u32>>>,
}

impl<'t> Uses<'t> {
    pub(super) fn new(syntax: &'t Syntax) -> Self {
        let mut by_name: HashMap<&[u8], Vec<u32>> = HashMap::new();
        for (index, import) in (0..).zip(&syntax.imports) {
            for name in &import.names {
                by_name.entry(name.as_bytes()).or_default().push(index);
            }
        }
        Self {
            imports: &syntax.imports,
            by_name,
            by_unit: vec![OnceCell::new(); syntax.units.len()],
        }
    }

    /// The imports that a unit uses, by their index.
    pub(super) fn of_unit(&self, index: usize, unit: &Unit, lines: &Lines<'_>) -> &[u32] {
        let known = self.by_unit.get(index);
        known.map_or(&[], |known| {
            known.get_or_init(|| self.of_lines(unit.first, unit.last, lines))
        })
    }

    /// The imports that some lines use, by their index.
    pub(super) fn of_lines(&self, first: u32, last: u32, lines: &Lines<'_>) -> Vec<u32> {
        if self.by_name.is_empty() {
            return Vec::new();
        }
        // Bytes, not characters: a name of another script has only bytes above ASCII.
        let words = lines.span(first, last).as_bytes().split(is_no_name);
        let mut used: Vec<u32> = words
            .filter(|word| !word.is_empty())
            .filter_map(|word| self.by_name.get(word))
            .flatten()
            .copied()
            .collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The lines of those of the used imports that are known in these stretches, up to a bound.
    pub(super) fn shown(
        &self,
        mut used: Vec<u32>,
        stretches: &[(u32, u32)],
        frames: &[Frame],
    ) -> Vec<(u32, u32)> {
        used.sort_unstable();
        used.dedup();
        let is_known = |import: &&Import| {
            import.within.is_none_or(|(first, last)| {
                let mut shown = stretches.iter();
                shown.any(|stretch| stretch.0 <= last && first <= stretch.1)
            })
        };
        let used = used
            .iter()
            .filter_map(|&index| self.imports.get(index as usize));
        let mut shown = Vec::new();
        for import in used.filter(is_known) {
            // An import out of a block brings the frame of the block.
            let mut more = widen(frames, vec![(import.first, import.last)]);
            more.extend_from_slice(&shown);
            // Joined before they are measured: what lies between them is shown as well.
            let more = bridged(merged(more));
            let length: u32 = more.iter().map(|(first, last)| last + 1 - first).sum();
            // One that is too long is passed over, and a shorter one after it may still fit.
            if length <= MOST {
                shown = more;
            }
        }
        shown
    }
}

/// Joins stretches with a line or two between them: those are mostly imports, hardly longer than the comment that
/// would stand for them, and one stretch reads better than several.
fn bridged(mut shown: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    shown.dedup_by(|next, before| {
        let is_near = next.0 <= before.1.saturating_add(1 + BRIDGED);
        if is_near {
            before.1 = before.1.max(next.1);
        }
        is_near
    });
    shown
}

fn is_no_name(byte: &u8) -> bool {
    !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..))
}
