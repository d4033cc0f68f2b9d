//! The levels of detail that a chunk can be shown at.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// One rendering of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Level {
    /// The degree of detail.
    pub level: Detail,
    /// The text.
    pub content: String,
    /// The share of the chunk's worth that it shows.
    pub coverage: Coverage,
    /// The lines of the source that it shows, counted from 1, both ends included.
    pub lines: Vec<(u32, u32)>,
}

impl Level {
    /// Creates a level with the usual coverage of its detail.
    #[must_use]
    pub fn new(level: Detail, content: impl Into<String>) -> Self {
        Self {
            level,
            content: content.into(),
            coverage: level.usual_coverage(),
            lines: Vec::new(),
        }
    }

    /// Sets the coverage.
    #[must_use]
    pub fn with_coverage(mut self, coverage: Coverage) -> Self {
        self.coverage = coverage;
        self
    }

    /// Sets the lines of the source that it shows.
    #[must_use]
    pub fn with_lines(mut self, lines: impl Into<Vec<(u32, u32)>>) -> Self {
        self.lines = lines.into();
        self
    }
}

/// The degree of detail of a level, from everything to a mere mention.
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
    /// A note that the thing exists and can be asked for.
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
    /// Returns the coverage of a level that does not state its own.
    #[must_use]
    pub const fn usual_coverage(self) -> Coverage {
        Coverage::from_permille(match self {
            Self::Full => 1000,
            Self::Slice => 500,
            Self::Outline => 300,
            Self::Line => 30,
            // Worth nothing to the fit: handles get what the other levels leave of the budget.
            Self::Handle => 0,
        })
    }
}

/// The share of a chunk's worth that a level shows, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coverage(u16);

impl Coverage {
    /// Creates a coverage of `permille` thousandths; more than a thousand counts as a thousand.
    #[must_use]
    pub const fn from_permille(permille: u16) -> Self {
        Self(if permille > 1000 { 1000 } else { permille })
    }

    /// Returns the thousandths.
    #[must_use]
    pub const fn permille(self) -> u16 {
        self.0
    }
}
