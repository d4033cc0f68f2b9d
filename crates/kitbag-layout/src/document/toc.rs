//! Extracts the headings and the prose of a Markdown text.

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

/// Returns the headings of a Markdown text as an indented list; empty if it has none.
///
/// ```
/// use kitbag_layout::document::table_of_contents;
///
/// let text = "# Guide\n\n## `set` up\n\n```sh\n# no heading\n```\n\nUse\n---\n";
/// assert_eq!(table_of_contents(text), "- Guide\n  - set up\n  - Use");
/// ```
#[must_use]
pub fn table_of_contents(markdown: &str) -> String {
    let mut toc = String::new();
    let mut heading: Option<String> = None;
    // A parser and not a search for `#`: a comment in a shell script is no heading.
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                heading = Some("  ".repeat(depth(level) - 1) + "- ");
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some(line) = heading.take() {
                    let gap = if toc.is_empty() { "" } else { "\n" };
                    toc.push_str(gap);
                    toc.push_str(line.trim_end());
                }
            }
            event => {
                if let Some(line) = &mut heading {
                    push_text(line, &event);
                }
            }
        }
    }
    toc
}

/// The sentences of a Markdown text: its paragraphs without headings, code blocks and tables.
pub(super) fn prose(markdown: &str) -> String {
    let mut prose = String::new();
    let mut in_paragraph = false;
    for event in Parser::new(markdown) {
        match event {
            Event::Start(Tag::Paragraph) => in_paragraph = true,
            Event::End(TagEnd::Paragraph) => {
                in_paragraph = false;
                prose.push('\n');
            }
            Event::Code(code) if in_paragraph => prose.push_str(&format!("`{code}`")),
            event if in_paragraph => push_text(&mut prose, &event),
            _ => {}
        }
    }
    prose
}

fn push_text(line: &mut String, event: &Event<'_>) {
    match event {
        Event::Text(text) | Event::Code(text) => line.push_str(text),
        Event::SoftBreak | Event::HardBreak => line.push(' '),
        _ => {}
    }
}

fn depth(level: HeadingLevel) -> usize {
    level as usize
}
