//! Marks that name a speaker in prompts, in any spelling.

use std::borrow::Cow;
use std::sync::LazyLock;

use kitbag_core::flat;
use kitbag_layout::reserved::{as_read, has_tag};

use super::Line;

/// The lines that have such a mark, counted from 1, with the mark as it is usually spelled.
pub(super) fn find(lines: &[Line<'_>]) -> Vec<(usize, &'static str)> {
    let lines = (1..).zip(lines);
    lines
        .filter_map(|(number, line)| Some((number, mark_in(line)?)))
        .collect()
}

fn mark_in(line: &Line<'_>) -> Option<&'static str> {
    if matches!(flat::neutralise(line.text), Cow::Owned(_)) {
        return Some("a heading such as [System]");
    }
    // Closed with `>`, since a tag may begin at the end of this line and end on the next.
    if has_tag(&format!("{}>", line.text)) {
        return Some("a tag of a prompt such as <system-reminder>");
    }
    // Without blanks, because `< | im_start | >` is the same mark to a reader.
    let read: String = line.read.chars().filter(|c| !c.is_whitespace()).collect();
    let label = read.trim_start_matches(is_ornament);
    let token = MARKS.tokens.iter().find(|mark| read.contains(&mark.read));
    let labelled = || {
        MARKS.labels.iter().find(|mark| {
            let behind = label.strip_prefix(mark.read.as_str());
            let behind = behind.map(|behind| behind.trim_start_matches(is_ornament));
            // A label counts only with its colon: "system" alone begins many harmless lines.
            behind.is_some_and(|behind| behind.starts_with(':'))
        })
    };
    token.or_else(labelled).map(|mark| mark.written)
}

/// Signs that Markdown puts around words.
fn is_ornament(c: char) -> bool {
    matches!(
        c,
        '#' | '*' | '_' | '>' | '-' | '[' | ']' | '(' | ')' | '`' | '~' | '"'
    )
}

struct Mark {
    written: &'static str,
    /// As a reader sees it, without blanks.
    read: String,
}

struct Marks {
    labels: Vec<Mark>,
    tokens: Vec<Mark>,
}

static MARKS: LazyLock<Marks> = LazyLock::new(|| {
    let of = |kind: &str| {
        let lines = include_str!("marks.txt").lines();
        let marks = lines.filter_map(move |line| line.strip_prefix(kind)?.strip_prefix(' '));
        marks
            .map(|written| Mark {
                written,
                read: as_read(written.trim_end_matches(':')),
            })
            .collect()
    };
    Marks {
        labels: of("label"),
        tokens: of("token"),
    }
});
