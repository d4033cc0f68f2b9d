//! A text with a table of its lines, made once and used by every rendering.

use crate::language::Comment;

/// A text that can be asked for its lines by number.
///
/// Lines are counted from 1 and end at `\n`; a `\r` before it belongs to the line. A final `\n`
/// ends the last line and opens no further one.
#[derive(Debug, Clone)]
pub struct Lines<'t> {
    text: &'t str,
    /// The start of each line, and last the end of the text.
    starts: Vec<u32>,
}

impl<'t> Lines<'t> {
    /// Finds the lines of a text.
    #[must_use]
    pub fn of(text: &'t str) -> Self {
        // A guess at the number of lines, to save growing the table.
        let mut starts = Vec::with_capacity(text.len() / 32 + 2);
        starts.push(0);
        starts.extend(
            memchr::memchr_iter(b'\n', text.as_bytes())
                .map(|at| at + 1)
                .filter(|&at| at < text.len())
                .map(|at| u32::try_from(at).unwrap_or(u32::MAX)),
        );
        if !text.is_empty() {
            starts.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
        }
        Self { text, starts }
    }

    /// The number of lines; none in an empty text.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.starts.len() - 1).unwrap_or(u32::MAX)
    }

    /// One line without its `\n`; empty if there is no such line.
    #[must_use]
    pub fn get(&self, line: u32) -> &'t str {
        let span = self.span(line, line);
        span.strip_suffix('\n').unwrap_or(span)
    }

    /// The lines `first..=last` as they stand in the text.
    #[must_use]
    pub fn span(&self, first: u32, last: u32) -> &'t str {
        let start = |line: u32| self.starts.get(line as usize).map(|&at| at as usize);
        let Some(from) = first.checked_sub(1).and_then(start) else {
            return "";
        };
        let to = start(last).unwrap_or(self.text.len());
        self.text.get(from..to).unwrap_or("")
    }

    /// The whole text.
    #[must_use]
    pub const fn text(&self) -> &'t str {
        self.text
    }
}

/// The white space that a line starts with.
pub(super) fn indentation(line: &str) -> &str {
    let rest = line.trim_start_matches([' ', '\t']);
    line.get(..line.len() - rest.len()).unwrap_or("")
}

/// Tells if a line says nothing of its own: blank, or only the end of something.
pub(super) fn is_trivial(line: &str) -> bool {
    let line = line.trim();
    matches!(line, "end" | "fi" | "done" | "esac") || line.chars().all(|c| "})];,".contains(c))
}

/// Tells if a line is a comment, as far as it shows by itself.
pub(super) fn is_remark(line: &str, comment: Comment) -> bool {
    let line = line.trim();
    let has_blocks = comment.before == "// ";
    line.starts_with(comment.before.trim_end())
        || has_blocks && (line.starts_with("/*") || line.starts_with('*'))
}

/// Tells if a line closes or continues something from above, so that no cut may stand before it.
pub(super) fn is_closing(line: &str) -> bool {
    let line = line.trim_start();
    let word = line
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next()
        .unwrap_or("");
    let mut words =
        "end else elsif elif rescue ensure catch finally except fi done esac".split(' ');
    line.starts_with(['}', ')', ']'])
        || words.any(|closing| closing == word)
        || ["#else", "#elif", "#endif"]
            .iter()
            .any(|mark| line.starts_with(mark))
}
