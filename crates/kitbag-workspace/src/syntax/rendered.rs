//! Shows some lines of a file, with one comment for each stretch that is left out.

use super::lines::indentation;
use super::{FrameKind, Syntax, View};
use crate::language::Language;
use crate::shown::counted;

/// Some lines of a file as text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rendered {
    /// The lines shown, byte for byte, and a comment in place of each stretch left out.
    pub content: String,
    /// The stretches of lines shown, counted from 1, both ends included, in order.
    pub lines: Vec<(u32, u32)>,
}

/// Renders the given stretches, which may overlap and come in any order.
pub(super) fn render(view: &View<'_>, mut stretches: Vec<(u32, u32)>) -> Rendered {
    let lines = &view.lines;
    stretches.retain(|&(first, last)| first >= 1 && first <= last && first <= lines.count());
    stretches.sort_unstable();
    let blank = |first: u32, last: u32| (first..=last).all(|l| lines.get(l).trim().is_empty());
    let mut shown: Vec<(u32, u32)> = Vec::with_capacity(stretches.len());
    for (first, last) in stretches {
        let last = last.min(lines.count());
        match shown.last_mut() {
            // Blank lines cost less than the comment that would stand for them.
            Some(before) if first <= before.1 + 1 || blank(before.1 + 1, first - 1) => {
                before.1 = before.1.max(last);
            }
            _ => shown.push((first, last)),
        }
    }
    let mut content = String::new();
    let mut next = 1;
    for &(first, last) in &shown {
        if next < first && !blank(next, first - 1) {
            left_out(view, next, first - 1, &mut content);
        }
        content.push_str(lines.span(first, last));
        // The last line of a file may lack its end.
        if !content.ends_with('\n') {
            content.push('\n');
        }
        next = last + 1;
    }
    let end = lines.count();
    if next <= end && !blank(next, end) {
        left_out(view, next, end, &mut content);
    }
    Rendered {
        content,
        lines: shown,
    }
}

/// Writes the comment for the lines `first..=last`, indented like the first of them.
fn left_out(view: &View<'_>, first: u32, last: u32, content: &mut String) {
    let lines = &view.lines;
    // A blank line has no indentation to copy.
    let line = (first..=last).find(|&line| !lines.get(line).trim().is_empty());
    let (before, after) = if is_markup(view.syntax, first, last) {
        ("{/* ", " */}")
    } else {
        (view.comment.before, view.comment.after)
    };
    let count = counted((last + 1 - first) as usize, "line");
    content.push_str(indentation(lines.get(line.unwrap_or(first))));
    content.push_str(&format!("{before}... ({count}){after}\n"));
}

/// Tells if the innermost hole around these lines is one in markup.
fn is_markup(syntax: &Syntax, first: u32, last: u32) -> bool {
    // Only JavaScript has markup in it.
    if !matches!(syntax.language, Some(Language::JavaScript | Language::Tsx)) {
        return false;
    }
    let around =
        syntax.frames.iter().rev().find(|frame| {
            frame.kind != FrameKind::Whole && frame.first <= first && last <= frame.last
        });
    around.is_some_and(|frame| frame.kind == FrameKind::Markup)
}
