//! Token counters: exact where a model's vocabulary is public, an honest estimate where it is not.
//!
//! [`Counter`] implements [`TokenCounter`] for a [`Vocabulary`] or for a model of the catalogue
//! ([`ModelProfile`]). Texts are ordinary text: a special token's name counts as the characters it is
//! written with. Tokens that a provider adds around messages are not counted here.

mod char_class;
mod known_lines;
mod known_texts;
mod long_text;
mod model;
mod reader;
mod shared_lines;
mod vocabulary;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use kitbag_core::calibration::Calibration;
use kitbag_core::tokens::{Exactness, TokenCounter, Tokens};
use rayon::prelude::*;

pub use model::{Estimate, ModelProfile, Price, PriceStep, UnknownModel, dollars};
pub use reader::{StreamCount, StreamError};
pub use vocabulary::{Vocabulary, VocabularyError};

use known_lines::KnownLines;
use known_texts::KnownTexts;

/// The number of texts that one thread counts: about the levels of a file, which have lines in common.
const SIDE_BY_SIDE: usize = 32;

/// Counts tokens with one vocabulary, loaded when it is first needed and once for the process.
///
/// Cheap to make and to clone.
///
/// ```
/// use kitbag::core::tokens::{TokenCounter, Tokens};
/// use kitbag::tokens::Counter;
///
/// let counter = Counter::for_model("gpt-4o")?;
/// assert_eq!(counter.count("The quick brown fox"), Tokens(4));
/// # Ok::<(), kitbag::tokens::CounterError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Counter {
    vocabulary: Vocabulary,
    estimate: Option<Estimate>,
    /// The number of answers that the estimate was calibrated by.
    answers: u32,
    name: Arc<str>,
    lines: Option<Arc<KnownLines>>,
    texts: Option<Arc<KnownTexts>>,
}

impl Counter {
    /// The counter of a vocabulary, or an error if this build does not have it.
    pub fn for_vocabulary(vocabulary: Vocabulary) -> Result<Self, VocabularyError> {
        vocabulary.require()?;
        Ok(Self {
            vocabulary,
            estimate: None,
            answers: 0,
            name: vocabulary.name().into(),
            lines: None,
            texts: None,
        })
    }

    /// The counter of a model: exact, or the estimate that the catalogue gives for it.
    ///
    /// A model whose vocabulary is public but not in this build is an error, not an estimate.
    pub fn for_model(model: &str) -> Result<Self, CounterError> {
        Ok(Self::for_profile(ModelProfile::find(model)?)?)
    }

    /// The counter that a profile asks for.
    pub fn for_profile(profile: &ModelProfile) -> Result<Self, VocabularyError> {
        let vocabulary: Vocabulary = profile.tokenizer.parse()?;
        let exact = Self::for_vocabulary(vocabulary)?;
        Ok(match &profile.estimate {
            None => exact,
            Some(estimate) => exact.estimating(estimate.clone(), 0),
        })
    }

    /// The same counter with the factor that bills have shown. One that is exact, or that counts with
    /// another vocabulary, stays as it is; so does any until there are enough answers.
    #[must_use]
    pub fn calibrated(&self, calibration: &Calibration) -> Self {
        let is_for_this = calibration.tokenizer == self.vocabulary.name();
        match &self.estimate {
            Some(usual) if is_for_this && calibration.is_usable() => {
                let mut estimate = usual.clone();
                estimate.factor_permille = calibration.factor_permille;
                estimate.error_permille = calibration.error_permille(usual.error_permille);
                self.clone().estimating(estimate, calibration.answers)
            }
            _ => self.clone(),
        }
    }

    fn estimating(self, estimate: Estimate, answers: u32) -> Self {
        Self {
            // The factor is part of the name: counts with different names never mix.
            name: format!("{}*{}/1000", self.vocabulary, estimate.factor_permille).into(),
            estimate: Some(estimate),
            answers,
            ..self
        }
    }

    /// The same counter, which keeps the counts of the lines that it [learns](Self::learn_lines). Its clones share
    /// them.
    #[must_use]
    pub fn keeping_lines(self) -> Self {
        Self {
            lines: Some(Arc::default()),
            ..self
        }
    }

    /// The same counter, which keeps the counts of texts: a prompt begins with most of the one before it. Its
    /// clones share them, also those with another factor.
    #[must_use]
    pub fn keeping_texts(self) -> Self {
        Self {
            texts: Some(Arc::default()),
            ..self
        }
    }

    /// Counts the lines of a text ahead, as far as counts are [kept](Self::keeping_lines): texts that have
    /// them are counted in a fraction of the time later. Counts stay the same.
    pub fn learn_lines(&self, text: &str) {
        if let Some(known) = &self.lines {
            shared_lines::learn(self.vocabulary, text, known);
        }
    }

    /// The vocabulary that is counted with.
    #[must_use]
    pub fn vocabulary(&self) -> Vocabulary {
        self.vocabulary
    }

    fn scale(&self, base: u64) -> u64 {
        let estimate = self.estimate.as_ref();
        estimate.map_or(base, |estimate| estimate.scale(base))
    }

    fn scaled(&self, base: usize) -> Tokens {
        Tokens(u32::try_from(self.scale(base as u64)).unwrap_or(u32::MAX))
    }

    /// Loads the vocabulary now, which takes about a tenth of a second: a caller with other work to do
    /// can load it on a thread meanwhile.
    pub fn load(&self) {
        self.vocabulary.table();
    }
}

impl TokenCounter for Counter {
    fn name(&self) -> &str {
        &self.name
    }

    fn count(&self, text: &str) -> Tokens {
        let count = || long_text::count(self.vocabulary, text);
        self.scaled(match &self.texts {
            Some(texts) => texts.count(text, count),
            None => count(),
        })
    }

    fn count_all(&self, texts: &[&str]) -> Vec<Tokens> {
        texts
            .par_chunks(SIDE_BY_SIDE)
            .flat_map_iter(|texts| {
                let counts = shared_lines::count(self.vocabulary, texts, self.lines.as_deref());
                counts.into_iter().map(|count| self.scaled(count))
            })
            .collect()
    }

    fn exactness(&self) -> Exactness {
        match &self.estimate {
            None => Exactness::Exact,
            Some(estimate) => Exactness::Estimated {
                base: self.vocabulary.name().into(),
                factor_permille: estimate.factor_permille,
                error_permille: estimate.error_permille,
                answers: self.answers,
            },
        }
    }
}

/// An error of choosing a counter for a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CounterError {
    /// The catalogue does not know the model.
    #[error(transparent)]
    Model(#[from] UnknownModel),
    /// The model's vocabulary is not in this build.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
}

impl CounterError {
    /// Advice for the user.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Model(error) => error.hint(),
            Self::Vocabulary(error) => error.hint(),
        }
    }
}
