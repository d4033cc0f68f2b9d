//! Renders chosen units of a file with what a reader needs around them.
//!
//! It works from the text and its [`Syntax`]; its cost is that of the lines it shows.

use std::collections::BTreeSet;

use super::frames::widen;
use super::rendered::render;
use super::{Import, Lines, Rendered, Syntax};

/// The most lines of imports that a slice shows.
const MOST_IMPORTS: u32 = 12;

/// Renders the chosen units whole, with the signatures around them and the imports that they use.
///
/// Units are given by their index in [`Syntax::units`]; indices beyond it count for nothing.
///
/// ```
/// use kitbag_workspace::{language::Language, syntax};
///
/// let text = "import os\nimport re\n\n\ndef a():\n    return 1\n\n\ndef b():\n    return os.name\n";
/// let parsed = syntax::parse(Language::Python, text);
/// let rendered = syntax::slice(&syntax::Lines::of(text), &parsed, &[2]);
/// assert_eq!(rendered.content, "import os\n# ... (7 lines)\ndef b():\n    return os.name\n");
/// assert_eq!(rendered.lines, [(1, 1), (9, 10)]);
/// ```
#[must_use]
pub fn slice(lines: &Lines<'_>, syntax: &Syntax, chosen: &[usize]) -> Rendered {
    let units = chosen.iter().filter_map(|&index| syntax.units.get(index));
    let mut stretches = Vec::new();
    let mut scopes = BTreeSet::new();
    for unit in units {
        stretches.push((unit.first, unit.last));
        enter(syntax, unit.scope, &mut scopes);
    }
    around(lines, syntax, stretches, &scopes)
}

/// Renders a stretch of lines, with the signatures around it and the imports that it uses.
#[must_use]
pub fn excerpt(lines: &Lines<'_>, syntax: &Syntax, first: u32, last: u32) -> Rendered {
    let mut stretches = vec![(first, last)];
    let mut scopes = BTreeSet::new();
    let from = syntax.units.partition_point(|unit| unit.last < first);
    for unit in syntax
        .units
        .iter()
        .skip(from)
        .take_while(|unit| unit.first <= last)
    {
        stretches.extend(unit.signature);
        enter(syntax, unit.scope, &mut scopes);
    }
    around(lines, syntax, stretches, &scopes)
}

/// Notes a scope and all scopes around it.
fn enter(syntax: &Syntax, scope: Option<u32>, scopes: &mut BTreeSet<u32>) {
    let mut next = scope;
    while let Some(index) = next {
        // A scope that is noted has noted its own.
        if !scopes.insert(index) {
            return;
        }
        next = syntax
            .scopes
            .get(index as usize)
            .and_then(|scope| scope.parent);
    }
}

fn around(
    lines: &Lines<'_>,
    syntax: &Syntax,
    mut stretches: Vec<(u32, u32)>,
    scopes: &BTreeSet<u32>,
) -> Rendered {
    let imports = used_imports(lines, syntax, &stretches);
    let scopes = scopes
        .iter()
        .filter_map(|&index| syntax.scopes.get(index as usize));
    stretches.extend(scopes.map(|scope| (scope.first, scope.signature)));
    stretches.extend(imports);
    let stretches = widen(&syntax.frames, stretches);
    render(lines, syntax, stretches)
}

/// The lines of the imports whose names occur in these stretches, up to a bound.
fn used_imports(lines: &Lines<'_>, syntax: &Syntax, stretches: &[(u32, u32)]) -> Vec<(u32, u32)> {
    if syntax.imports.is_empty() {
        return Vec::new();
    }
    let words: BTreeSet<&str> = stretches
        .iter()
        .flat_map(|&(first, last)| lines.span(first, last).split(is_no_name))
        .filter(|word| !word.is_empty())
        .collect();
    let is_used = |import: &&Import| {
        let is_known = import.within.is_none_or(|(first, last)| {
            let mut shown = stretches.iter();
            shown.any(|stretch| stretch.0 <= last && first <= stretch.1)
        });
        is_known
            && import
                .names
                .iter()
                .any(|name| words.contains(name.as_str()))
    };
    let mut left = MOST_IMPORTS;
    let mut shown = Vec::new();
    for import in syntax.imports.iter().filter(is_used) {
        let length = import.last + 1 - import.first;
        let stretch = (import.first, import.last);
        if length <= left && shown.last() != Some(&stretch) {
            left -= length;
            shown.push(stretch);
        }
    }
    shown
}

fn is_no_name(c: char) -> bool {
    !c.is_alphanumeric() && c != '_' && c != '$'
}
