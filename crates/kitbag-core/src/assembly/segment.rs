//! The texts of a prompt, in order, each in its band.

use alloc::string::String;
use alloc::vec::Vec;

use crate::band::Band;
use crate::role::Role;

/// A stretch of the prompt. The tokens of the prompt are the sum over its segments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Segment {
    /// Place in the prompt.
    pub band: Band,
    /// The speaker, if the output has messages.
    pub role: Option<Role>,
    pub text: String,
    /// Tokens that the provider adds around it.
    pub overhead: u32,
}

/// Writes the segments of a text output: the prompt is their concatenation.
#[derive(Default)]
pub(super) struct TextSegments {
    segments: Vec<Segment>,
}

impl TextSegments {
    /// Adds a text. One whose beginning could merge with the end of the text before becomes part
    /// of that segment, so that counting segment by segment stays exact.
    pub(super) fn push(&mut self, band: Band, text: &str) {
        // No vocabulary of the catalogue merges tokens across a newline before such a character,
        // which a property test proves for each.
        let joins_safely = |c: char| !c.is_whitespace() && c != '/';
        match (self.segments.last_mut(), text.chars().next()) {
            (_, None) => {}
            (Some(last), Some(first)) if !joins_safely(first) || !last.text.ends_with('\n') => {
                last.text.push_str(text);
            }
            _ => self.segments.push(Segment {
                band,
                role: None,
                text: text.into(),
                overhead: 0,
            }),
        }
    }

    /// Returns the segments as they are.
    pub(super) fn into_segments(self) -> Vec<Segment> {
        self.segments
    }

    /// Returns the segments without the newlines at the very end.
    pub(super) fn trimmed(mut self) -> Vec<Segment> {
        if let Some(last) = self.segments.last_mut() {
            let end = last.text.trim_end_matches('\n').len();
            last.text.truncate(end);
        }
        self.segments
    }
}

/// Concatenates the segments.
pub(super) fn concat(segments: &[Segment]) -> String {
    segments
        .iter()
        .map(|segment| segment.text.as_str())
        .collect()
}
