//! Markdown by its headings: a section is a unit, an outline is the headings.
//!
//! Read line by line, without a grammar: headings, fences and front matter are all that counts.

use super::cuts::Cuts;
use super::frames::frame;
use super::lines::indentation;
use super::units::{self, unit};
use super::{Fold, Frame, FrameKind, Lines, Scope, Syntax, Unit, UnitKind};

/// A longer section is cut into parts.
const LONGEST: u32 = 60;
const PART: (u32, u32) = (20, 50);
/// A text this short stays in the outline.
const SHORT: u32 = 3;

/// Reads the sections of a document.
pub(super) fn read(lines: &Lines<'_>) -> Syntax {
    let (headings, frames) = headings(lines);
    if headings.is_empty() {
        return units::windows(lines, frames);
    }
    let cuts = Cuts::of_text(lines, &frames);
    let mut syntax = Syntax {
        frames,
        ..Syntax::default()
    };
    let first = headings.first().map_or(1, |heading| heading.line);
    for (first, last) in cuts.pieces(1, first - 1, PART.0, PART.1) {
        syntax.units.push(unit(first, last, UnitKind::Code));
    }
    // The headings that are open at the present line, by their index among the scopes.
    let mut open: Vec<(u32, u32)> = Vec::new();
    for (index, heading) in headings.iter().enumerate() {
        let end = headings
            .get(index + 1)
            .map_or(lines.count(), |next| next.line - 1);
        // A heading closes all of its own level and below.
        open.retain(|&(level, _)| level < heading.level);
        let parent = open.last().map(|&(_, scope)| scope);
        let scope = u32::try_from(index).unwrap_or(u32::MAX);
        let section = headings
            .iter()
            .skip(index + 1)
            .find(|next| next.level <= heading.level);
        syntax.scopes.push(Scope {
            name: heading.title.clone(),
            first: heading.line,
            signature: heading.last,
            last: section.map_or(lines.count(), |next| next.line - 1),
            parent,
        });
        let names = open
            .iter()
            .filter_map(|&(_, scope)| syntax.scopes.get(scope as usize));
        let parents: Vec<String> = names.map(|scope| scope.name.clone()).collect();
        // A section up to the bound stays one piece; a longer one is cut into shorter parts.
        let longest = if end + 1 - heading.line > LONGEST {
            PART.1
        } else {
            LONGEST
        };
        let pieces = cuts.pieces(heading.line, end, PART.0, longest);
        let cut = pieces.len() > 1;
        for (first, last) in pieces {
            let is_first = first == heading.line;
            syntax.units.push(Unit {
                name: heading.title.clone(),
                parents: parents.clone(),
                part: cut,
                signature: is_first.then_some((heading.line, heading.last)),
                scope: if is_first { parent } else { Some(scope) },
                ..unit(first, last, UnitKind::Section)
            });
        }
        fold(lines, heading.last + 1, end, &mut syntax.folds);
        open.push((heading.level, scope));
    }
    syntax
}

struct Heading {
    level: u32,
    title: String,
    line: u32,
    /// The same line, or the line that underlines it.
    last: u32,
}

/// The headings of a document, and what stands whole in it: fenced code, comments, front matter.
fn headings(lines: &Lines<'_>) -> (Vec<Heading>, Vec<Frame>) {
    let mut headings: Vec<Heading> = Vec::new();
    let mut frames = Vec::new();
    let mut line = 1;
    while line <= lines.count() {
        if let Some(end) = end_of_block(lines, line) {
            // What is not closed reaches to the end, and is broken anyway.
            if let Some(end) = end.filter(|end| line < *end) {
                frames.push(frame(line, end, FrameKind::Whole));
            }
            line = end.unwrap_or(lines.count());
        } else if let Some(heading) = marked(lines, line).or_else(|| underlined(lines, line)) {
            line = heading.last;
            headings.push(heading);
        }
        line += 1;
    }
    (headings, frames)
}

/// The last line of the block without headings that starts on a line, if one does; nothing if it
/// has no end.
fn end_of_block(lines: &Lines<'_>, line: u32) -> Option<Option<u32>> {
    let find = |is_end: &dyn Fn(&str) -> bool| {
        (line + 1..=lines.count()).find(|&line| is_end(lines.get(line).trim()))
    };
    let text = lines.get(line).trim();
    // Front matter is no heading, though it is underlined.
    if line == 1 && lines.get(1).trim_end() == "---" {
        return find(&|text| text == "---").map(Some);
    }
    if let Some(comment) = text.strip_prefix("<!--") {
        let end = if comment.contains("-->") {
            Some(line)
        } else {
            find(&|text| text.contains("-->"))
        };
        return Some(end);
    }
    let sign = text
        .chars()
        .next()
        .filter(|sign| matches!(sign, '`' | '~'))?;
    let rest = text.trim_start_matches(sign);
    let fence = text.strip_suffix(rest)?;
    // Code in a line is written with the same signs.
    if fence.len() < 3 || (sign == '`' && rest.contains(sign)) {
        return None;
    }
    Some(find(&|text| {
        text.starts_with(fence) && text.trim_start_matches(sign).is_empty()
    }))
}

/// A heading with signs before it: `## Title`.
fn marked(lines: &Lines<'_>, line: u32) -> Option<Heading> {
    let text = lines.get(line);
    // Four blanks begin a block of code in Markdown.
    if indentation(text).len() > 3 {
        return None;
    }
    let text = text.trim();
    let title = text.trim_start_matches('#');
    let level = u32::try_from(text.len() - title.len()).ok()?;
    let is_heading =
        (1..=6).contains(&level) && (title.is_empty() || title.starts_with([' ', '\t']));
    is_heading.then(|| Heading {
        level,
        title: title.trim().trim_end_matches('#').trim_end().to_owned(),
        line,
        last: line,
    })
}

/// A heading that the next line underlines.
fn underlined(lines: &Lines<'_>, line: u32) -> Option<Heading> {
    let text = lines.get(line).trim();
    let above = lines.get(line.saturating_sub(1)).trim();
    let rule = lines.get(line + 1).trim_end();
    let plain = above.is_empty()
        && text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '[' | '`' | '*' | '_'))
        && !text.starts_with("* ");
    let mut levels = [(1, '='), (2, '-')].into_iter();
    let (level, _) = levels.find(|(_, sign)| rule.chars().all(|c| c == *sign))?;
    (plain && rule.len() >= 3).then(|| Heading {
        level,
        title: text.to_owned(),
        line,
        last: line + 1,
    })
}

/// Leaves out the text of a section, but not the blank lines around it.
fn fold(lines: &Lines<'_>, first: u32, last: u32, folds: &mut Vec<Fold>) {
    let blank = |line: &u32| lines.get(*line).trim().is_empty();
    let first = (first..=last).find(|line| !blank(line));
    let last = (1..=last).rev().find(|line| !blank(line));
    if let (Some(first), Some(last)) = (first, last)
        && first + SHORT <= last
    {
        folds.push(Fold { first, last });
    }
}
