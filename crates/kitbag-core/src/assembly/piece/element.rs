//! Elements: verbatim text between tags that nothing inside can spell.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::newline;
use crate::chunk::{ChunkType, ContextChunk, Detail, Level};
use crate::neutral::{after_tag_name, is_blank};

/// Writes a level of a chunk as an element named after the chunk's kind.
pub(super) fn piece(chunk: &ContextChunk, level: &Level) -> String {
    let mut attributes = Vec::new();
    let name = match &chunk.chunk_type {
        ChunkType::Structure => "structure",
        ChunkType::File => {
            attributes.push(("path", chunk.source.as_str()));
            "file"
        }
        other => {
            attributes.push(("type", other.as_str()));
            attributes.push(("source", chunk.source.as_str()));
            "chunk"
        }
    };
    if level.level != Detail::Full {
        attributes.push(("level", level.level.as_str()));
    }
    // An outline is not made of whole lines, so their numbers would say little.
    let lines = match level.level {
        Detail::Full | Detail::Slice => ranges(&level.lines),
        Detail::Outline | Detail::Line | Detail::Handle => String::new(),
    };
    if !lines.is_empty() {
        attributes.push(("lines", &lines));
    }
    let is_only_named = level.level == Detail::Line && level.content.trim() == chunk.source;
    if is_only_named && name != "structure" {
        return format!("<{name}{}/>\n", written(&attributes));
    }
    element(name, &attributes, &level.content)
}

/// Writes an element with `content` as it is, and a newline where that does not end in one.
///
/// The name gets a number if tags of that name stand in the content.
pub(in crate::assembly) fn element(
    name: &str,
    attributes: &[(&str, &str)],
    content: &str,
) -> String {
    let number = match free_number(content, name) {
        0 => String::new(),
        number => format!("-{number}"),
    };
    let (attributes, newline) = (written(attributes), newline(content));
    format!("<{name}{number}{attributes}>\n{content}{newline}</{name}{number}>\n")
}

/// Returns the least number whose tags do not stand in `content`; 0 is the name without a number.
fn free_number(content: &str, name: &str) -> usize {
    let taken: BTreeSet<usize> = content
        .split('<')
        // Before the first bracket there is no tag.
        .skip(1)
        .filter_map(|after| number(after_tag_name(after, name)?))
        .collect();
    // A text has a finite number of tags, so one number is always free.
    (0..).find(|number| !taken.contains(number)).unwrap_or(0)
}

/// Returns the number behind a tag's name; none if this is another name.
fn number(mut after: impl Iterator<Item = char>) -> Option<usize> {
    match after.next() {
        Some('-') => {
            let digits: String = after.take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        }
        Some(other) if other.is_alphanumeric() => None,
        _ => Some(0),
    }
}

fn ranges(lines: &[(u32, u32)]) -> String {
    let ranges = lines.iter().map(|(first, last)| format!("{first}-{last}"));
    ranges.collect::<Vec<_>>().join(",")
}

fn written(attributes: &[(&str, &str)]) -> String {
    let mut written = String::new();
    for (name, value) in attributes {
        written.push_str(&format!(" {name}=\""));
        for c in value.chars() {
            match c {
                '&' => written.push_str("&amp;"),
                '"' => written.push_str("&quot;"),
                '<' => written.push_str("&lt;"),
                '>' => written.push_str("&gt;"),
                // Line breaks and invisible characters would change where a reader sees the tag
                // end.
                c if c != ' ' && is_blank(c) => {
                    written.push_str(&format!("&#x{:x};", u32::from(c)));
                }
                c => written.push(c),
            }
        }
        written.push('"');
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p10_the_name_grows_when_tags_of_it_stand_in_the_text() {
        for (content, name) in [
            ("plain", "file"),
            ("<files>", "file"),
            ("<filed", "file"),
            ("a file, </fil e>", "file"),
            ("</file>", "file-1"),
            ("<FILE path=\"x\">", "file-1"),
            ("<\u{200b}/ f\u{200b}iLe\n>", "file-1"),
            ("< /file", "file-1"),
            ("<file-1>", "file"),
            ("</file></file-1>", "file-2"),
            ("</file></file-2>", "file-1"),
            ("</file></file-99999999999999999999>", "file-1"),
        ] {
            let text = element("file", &[], content);
            assert_eq!(text, format!("<{name}>\n{content}\n</{name}>\n"));
        }
    }

    #[test]
    fn p10_attributes_cannot_leave_their_quotes() {
        let text = element("file", &[("path", "a\"><b>&\n\u{202e}c d")], "x");
        assert_eq!(
            text,
            "<file path=\"a&quot;&gt;&lt;b&gt;&amp;&#xa;&#x202e;c d\">\nx\n</file>\n"
        );
    }

    #[test]
    fn p10_a_file_says_its_level_and_its_lines() {
        let file = |level: Level| {
            let chunk = ContextChunk::new(ChunkType::File, "src/a.rs", "");
            piece(&chunk, &level)
        };
        let mut slice = Level::new(Detail::Slice, "fn a() {}\n");
        slice.lines = alloc::vec![(10, 80), (95, 120)];
        assert_eq!(
            file(slice),
            "<file path=\"src/a.rs\" level=\"slice\" lines=\"10-80,95-120\">\nfn a() {}\n</file>\n"
        );
        assert_eq!(
            file(Level::new(Detail::Line, "src/a.rs")),
            "<file path=\"src/a.rs\" level=\"line\"/>\n"
        );
        assert_eq!(
            file(Level::new(Detail::Handle, "file h1, 90 lines")),
            "<file path=\"src/a.rs\" level=\"handle\">\nfile h1, 90 lines\n</file>\n"
        );
    }

    #[test]
    fn p10_other_chunks_name_their_type_and_source() {
        let fact = ContextChunk::new(ChunkType::Fact, "fact/name", "Ann\n## Your Task");
        assert_eq!(
            piece(&fact, &fact.levels[0]),
            "<chunk type=\"fact\" source=\"fact/name\">\nAnn\n## Your Task\n</chunk>\n"
        );
        let tree = ContextChunk::new(ChunkType::Structure, "workspace", "src/");
        assert_eq!(
            piece(&tree, &tree.levels[0]),
            "<structure>\nsrc/\n</structure>\n"
        );
    }
}
