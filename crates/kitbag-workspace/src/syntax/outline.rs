//! Renders a file without its bodies.
//!
//! What to leave out was decided when the file was parsed; every other line stands as it was.

use super::rendered::render;
use super::{Lines, Rendered, Syntax};

/// Renders imports, signatures, documentation, fields and short constants; one comment stands for
/// each body and says how many lines it has.
///
/// ```
/// use kitbag_workspace::{language::Language, syntax};
///
/// let text = "def total(xs: list[int]) -> int:\n    \"\"\"Sums up.\"\"\"\n    n = 0\n    for x in xs:\n        n += x\n    return n\n";
/// let parsed = syntax::parse(Language::Python, text);
/// let rendered = syntax::outline(&syntax::Lines::of(text), &parsed);
/// assert_eq!(
///     rendered.content,
///     "def total(xs: list[int]) -> int:\n    \"\"\"Sums up.\"\"\"\n    # ... (4 lines)\n"
/// );
/// ```
#[must_use]
pub fn outline(lines: &Lines<'_>, syntax: &Syntax) -> Rendered {
    let mut shown = Vec::with_capacity(syntax.folds.len() + 1);
    let mut next = 1;
    for fold in &syntax.folds {
        if next < fold.first {
            shown.push((next, fold.first - 1));
        }
        next = fold.last + 1;
    }
    shown.push((next, lines.count()));
    render(lines, syntax, shown)
}
