//! Shows a part of a file: units, some lines, or everything but the bodies.
//!
//! It works from the text and its [`Syntax`], without parsing. What is asked for is widened to what
//! still parses; the number of lines shown is what that takes.

mod uses;

use self::uses::Uses;
use super::frames::widen;
use super::lines::{is_remark, is_trivial};
use super::rendered::render;
use super::{Lines, Rendered, Syntax};
use crate::language::{Comment, Language};

/// A file that can be shown in parts.
///
/// ```
/// use kitbag_workspace::language::Language;
/// use kitbag_workspace::syntax::{View, parse};
///
/// let text = "import os\nimport re\n\n\ndef a():\n    return 1\n\n\ndef b():\n    return os.name\n";
/// let syntax = parse(Language::Python, text);
/// let shown = View::new(text, &syntax).slice(&[2]);
/// assert_eq!(shown.content, "import os\n# ... (7 lines)\ndef b():\n    return os.name\n");
/// assert_eq!(shown.lines, [(1, 1), (9, 10)]);
/// ```
#[derive(Debug)]
pub struct View<'t> {
    pub(super) lines: Lines<'t>,
    pub(super) syntax: &'t Syntax,
    pub(super) comment: Comment,
    uses: Uses<'t>,
}

impl<'t> View<'t> {
    /// A view of a text with this structure, line for line.
    #[must_use]
    pub fn new(text: &'t str, syntax: &'t Syntax) -> Self {
        Self {
            lines: Lines::of(text),
            syntax,
            comment: syntax
                .language
                .map_or_else(Comment::default, Language::comment),
            uses: Uses::new(syntax),
        }
    }

    /// The same view with comments of another kind, for a text in no known language.
    #[must_use]
    pub const fn with_comment(mut self, comment: Comment) -> Self {
        self.comment = comment;
        self
    }

    /// The number of lines of the file.
    #[must_use]
    pub fn line_count(&self) -> u32 {
        self.lines.count()
    }

    /// Shows the chosen units whole, with what encloses them and the imports that they use.
    ///
    /// Units are given by their index in [`Syntax::units`]; indices beyond it count for nothing.
    #[must_use]
    pub fn slice(&self, chosen: &[usize]) -> Rendered {
        let mut stretches = Vec::new();
        let mut used = Vec::new();
        for &index in chosen {
            let Some(unit) = self.syntax.units.get(index) else {
                continue;
            };
            stretches.push((unit.first, unit.last));
            used.extend_from_slice(self.uses.of_unit(index, unit, &self.lines));
            self.headings(unit.scope, &mut stretches);
        }
        self.show(stretches, used)
    }

    /// Shows a unit besides lines that are shown anyway.
    #[must_use]
    pub fn slice_besides(&self, lines: &[(u32, u32)], chosen: usize) -> Rendered {
        let Some(unit) = self.syntax.units.get(chosen) else {
            return self.show(lines.to_vec(), Vec::new());
        };
        let mut stretches = lines.to_vec();
        stretches.push((unit.first, unit.last));
        self.headings(unit.scope, &mut stretches);
        let used = self.uses.of_unit(chosen, unit, &self.lines).to_vec();
        self.show(stretches, used)
    }

    /// Shows a stretch of lines, with what encloses it and the imports that it uses.
    #[must_use]
    pub fn excerpt(&self, first: u32, last: u32) -> Rendered {
        let mut stretches = vec![(first, last)];
        let mut used = self.uses.of_lines(first, last, &self.lines);
        let units = &self.syntax.units;
        // Units divide the file in order, so those before the stretch are skipped by a search.
        let from = units.partition_point(|unit| unit.last < first);
        let units = units.iter().skip(from);
        for unit in units.take_while(|unit| unit.first <= last) {
            // Lines from the middle of a function say little without its name.
            if let Some((first, last)) = unit.signature {
                stretches.push((first, last));
                used.append(&mut self.uses.of_lines(first, last, &self.lines));
            }
            self.headings(unit.scope, &mut stretches);
        }
        self.show(stretches, used)
    }

    /// Shows imports, signatures, documentation, fields and short constants; one comment stands for
    /// each body and says how many lines it has. None if that would show no code, or all of it.
    ///
    /// ```
    /// use kitbag_workspace::language::Language;
    /// use kitbag_workspace::syntax::{View, parse};
    ///
    /// let text = "def total(xs: list[int]) -> int:\n    \"\"\"Sums up.\"\"\"\n    n = 0\n    for x in xs:\n        n += x\n    return n\n";
    /// let shown = View::new(text, &parse(Language::Python, text)).outline().unwrap();
    /// assert_eq!(
    ///     shown.content,
    ///     "def total(xs: list[int]) -> int:\n    \"\"\"Sums up.\"\"\"\n    # ... (4 lines)\n"
    /// );
    /// ```
    #[must_use]
    pub fn outline(&self) -> Option<Rendered> {
        let mut shown = Vec::with_capacity(self.syntax.folds.len() + 1);
        let mut next = 1;
        for fold in &self.syntax.folds {
            if next < fold.first {
                shown.push((next, fold.first - 1));
            }
            next = fold.last + 1;
        }
        shown.push((next, self.lines.count()));
        let rendered = render(self, shown);
        let mut lines = rendered
            .lines
            .iter()
            .flat_map(|&(first, last)| first..=last);
        let says_something = lines.any(|line| {
            let line = self.lines.get(line);
            !is_trivial(line) && !is_remark(line, self.comment)
        });
        (says_something && !self.syntax.folds.is_empty()).then_some(rendered)
    }

    /// Adds the signatures of a scope and of all scopes around it.
    fn headings(&self, scope: Option<u32>, stretches: &mut Vec<(u32, u32)>) {
        let mut next = scope;
        while let Some(scope) = next.and_then(|index| self.syntax.scopes.get(index as usize)) {
            stretches.push((scope.first, scope.signature));
            next = scope.parent;
        }
    }

    fn show(&self, mut stretches: Vec<(u32, u32)>, used: Vec<u32>) -> Rendered {
        // An import inside a function counts only where that function is shown.
        let imports = self.uses.shown(used, &stretches, &self.syntax.frames);
        stretches.extend(imports);
        render(self, widen(&self.syntax.frames, stretches))
    }
}
