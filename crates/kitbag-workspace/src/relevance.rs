//! The relevance of each file to a task, from several kinds of evidence.
//!
//! Two steps. All files are judged by what a scan and git tell; the best few hundred are parsed,
//! and judged again with what their units, definitions and imports tell. Each kind of evidence is
//! divided by its own greatest value before the weighted sum, so that an exact hit in one of them
//! cannot be drowned by length or size in another. Pure.

pub(crate) mod field;
pub(crate) mod imports;
pub(crate) mod units;
mod weights;

use kitbag_core::rank::Score;

use crate::walk::FileRole;
pub use weights::RelevanceWeights;

/// The evidence for a file, each part from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) text: f64,
    pub(crate) units: f64,
    pub(crate) path: f64,
    pub(crate) commits: f64,
    pub(crate) definitions: f64,
    pub(crate) name: f64,
    pub(crate) tail: f64,
    pub(crate) dotted: f64,
    pub(crate) imported: f64,
    pub(crate) recency: f64,
    pub(crate) activity: f64,
    pub(crate) changed: f64,
    pub(crate) companion: f64,
}

impl Evidence {
    /// The parts with their weights, in thousandths.
    fn parts(&self, weights: &RelevanceWeights) -> [(&'static str, f64); 12] {
        [
            ("text", self.text * weights.text),
            ("units", self.units * weights.units),
            ("path", self.path * weights.path),
            ("commits", self.commits * weights.commits),
            ("definitions", self.definitions * weights.definitions),
            ("name", self.name * weights.name),
            ("tail", self.tail * weights.tail),
            ("dotted", self.dotted * weights.dotted),
            ("imported", self.imported * weights.imported),
            ("recency", self.recency * weights.recency),
            ("activity", self.activity * weights.activity),
            ("changed", self.changed * weights.changed),
        ]
    }

    /// The weighted sum, before it is rounded. What a file brings as a companion counts whatever its
    /// role is: most companions are tests.
    pub(crate) fn total(&self, weights: &RelevanceWeights, role: FileRole, keeps: Keeps) -> f64 {
        let sum: f64 = self.parts(weights).iter().map(|(_, value)| value).sum();
        sum * keeps.factor(weights, role) + self.companion * weights.companion
    }

    /// The way in which the task leads to the file.
    pub(crate) fn reach(&self) -> Reach {
        // From the surest way to the weakest: priorities are taken from it.
        if self.name + self.tail + self.dotted + self.changed > 0.0 {
            Reach::Named
        } else if self.text + self.path + self.commits + self.companion > 0.0 {
            Reach::Words
        } else {
            Reach::Imports
        }
    }

    /// The score in thousandths of the best possible hit in contents, each part visible. What a
    /// role takes away is a part of its own.
    pub(crate) fn score(&self, weights: &RelevanceWeights, role: FileRole, keeps: Keeps) -> Score {
        let parts = self.parts(weights);
        let score = parts
            .into_iter()
            .fold(Score::default(), |score, (name, value)| {
                score.plus(name, thousandths(value))
            });
        #[expect(clippy::cast_precision_loss, reason = "scores are small numbers")]
        let total = score.total() as f64;
        let lost = total * (1.0 - keeps.factor(weights, role));
        score
            .plus("role", -libm::round(lost) as i64)
            .plus("companion", thousandths(self.companion * weights.companion))
    }
}

/// The way in which a task leads to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reach {
    /// The task names it, or it is part of the change under review.
    Named,
    /// It has words of the task, or its commits do.
    Words,
    /// Only through an import of another file.
    Imports,
}

/// The roles that keep their whole score: tests do when the task is about them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keeps {
    pub(crate) tests: bool,
}

impl Keeps {
    fn factor(self, weights: &RelevanceWeights, role: FileRole) -> f64 {
        match role {
            FileRole::Source => 1.0,
            FileRole::Test if self.tests => 1.0,
            FileRole::Test => weights.test,
            FileRole::Example => weights.example,
            FileRole::Docs => weights.document,
            FileRole::Manifest | FileRole::Config | FileRole::Data => weights.data,
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "parts are small, and the conversion saturates"
)]
fn thousandths(value: f64) -> i64 {
    libm::round(value * 1_000.0) as i64
}
