//! The levels of detail that a chunk can be shown at.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// One rendering of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Level {
    /// How detailed it is.
    pub level: Detail,
    /// The text.
    pub content: String,
    /// How much of the chunk's worth it shows.
    pub coverage: Coverage,
    /// The lines of the source that it shows, counted from 1, both ends included.
    pub lines: Vec<(u32, u32)>,
}

impl Level {
    /// A level with the usual coverage of its detail.
    #[must_use]
    pub fn new(level: Detail, content: impl Into<String>) -> Self {
        Self {
            level,
            content: content.into(),
            coverage: level.usual_coverage(),
            lines: Vec::new(),
        }
    }

    /// The same level with another coverage.
    #[must_use]
    pub fn with_coverage(mut self, coverage: Coverage) -> Self {
        self.coverage = coverage;
        self
    }

    /// The same level with the lines of the source that it shows.
    #[must_use]
    pub fn with_lines(mut self, lines: impl Into<Vec<(u32, u32)>>) -> Self {
        self.lines = lines.into();
        self
    }
}

/// How detailed a level is, from everything to a mere mention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Detail {
    /// Everything.
    Full,
    /// The parts that matter.
    Slice,
    /// The shape without the bodies.
    Outline,
    /// One line; of a file its path.
    #[serde(alias = "path")]
    Line,
    /// That it exists and can be asked for.
    Handle,
}

names!(Detail {
    Full = "full",
    Slice = "slice",
    Outline = "outline",
    Line = "line",
    Handle = "handle",
});

impl Detail {
    /// The coverage of a level that does not state its own.
    #[must_use]
    pub const fn usual_coverage(self) -> Coverage {
        Coverage::from_permille(match self {
            Self::Full => 1000,
            Self::Slice => 500,
            Self::Outline => 300,
            Self::Line => 30,
            Self::Handle => 0,
        })
    }
}

/// How much of a chunk's worth a level shows, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coverage(u16);

impl Coverage {
    /// A coverage of `permille` thousandths, at most a thousand.
    #[must_use]
    pub const fn from_permille(permille: u16) -> Self {
        Self(if permille > 1000 { 1000 } else { permille })
    }

    /// Thousandths.
    #[must_use]
    pub const fn permille(self) -> u16 {
        self.0
    }
}
