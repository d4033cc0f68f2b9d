//! The vocabularies: their names, and which of them this build holds.

use std::fmt;
use std::str::FromStr;

use tiktoken::CoreBpe;

use super::char_class::{FormatChars, LetterCase};

/// A public vocabulary, under the name by which tokenizer libraries know it.
///
/// Only those are listed whose counts add up over the joins that Kitbag makes; the older
/// `p50k_base` and `r50k_base` split white space otherwise and are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Vocabulary {
    /// `o200k_base`: GPT-4o and every OpenAI model since; gpt-oss.
    O200kBase,
    /// `cl100k_base`: GPT-4, GPT-3.5, embeddings.
    Cl100kBase,
    /// `llama3`: Llama 3 to 3.3; feature `vocab-llama3`.
    Llama3,
    /// `qwen2`: Qwen 2 to 3; feature `vocab-qwen2`.
    Qwen2,
    /// `deepseek_v3`: DeepSeek V3, R1, V4; feature `vocab-deepseek`.
    DeepseekV3,
    /// `mistral_v3`: Mistral's Tekken; feature `vocab-mistral`.
    MistralV3,
    /// `kimi_k2`: Kimi K2, K3; feature `vocab-kimi`.
    KimiK2,
    /// `glm4`: GLM 4.5 to 4.7; feature `vocab-glm`.
    Glm4,
    /// `glm5`: GLM 5; feature `vocab-glm`.
    Glm5,
    /// `minimax_m2`: MiniMax M2; feature `vocab-minimax`.
    MinimaxM2,
}

impl Vocabulary {
    /// Every vocabulary, in this build or not.
    pub const ALL: [Self; 10] = [
        Self::O200kBase,
        Self::Cl100kBase,
        Self::Llama3,
        Self::Qwen2,
        Self::DeepseekV3,
        Self::MistralV3,
        Self::KimiK2,
        Self::Glm4,
        Self::Glm5,
        Self::MinimaxM2,
    ];

    /// The vocabularies in this build.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|v| v.is_available())
    }

    /// Its name, such as `o200k_base`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.description().0
    }

    /// The cargo feature that brings it into a build; `None` for the two that are always there.
    #[must_use]
    pub const fn feature(self) -> Option<&'static str> {
        self.description().1
    }

    /// Tells whether this build holds the vocabulary.
    #[must_use]
    pub const fn is_available(self) -> bool {
        self.description().2
    }

    /// Fails when this build does not hold it.
    pub(super) fn require(self) -> Result<(), VocabularyError> {
        match self.feature() {
            Some(feature) if !self.is_available() => Err(VocabularyError::NotInBuild {
                name: self.name(),
                feature,
            }),
            _ => Ok(()),
        }
    }

    /// The loaded table.
    #[expect(
        clippy::expect_used,
        reason = "a counter is made only of a vocabulary that is in the build"
    )]
    pub(super) fn table(self) -> &'static CoreBpe {
        tiktoken::get_encoding(self.name()).expect("the vocabulary is in the build")
    }

    /// The treatment of case in its pre-tokenizer.
    pub(super) const fn letter_case(self) -> LetterCase {
        self.description().3
    }

    /// The treatment of format characters in its pre-tokenizer.
    pub(super) const fn format_chars(self) -> FormatChars {
        match self {
            // Signs are `[\p{P}\p{S}]+` in its pattern, and whatever is no letter, number or white space in others.
            Self::DeepseekV3 => FormatChars::Apart,
            _ => FormatChars::Together,
        }
    }

    /// Name, feature, whether that feature is on, and what case means.
    const fn description(self) -> (&'static str, Option<&'static str>, bool, LetterCase) {
        use LetterCase::{Ignored, Splits};
        macro_rules! behind {
            ($name:literal, $feature:literal, $case:expr) => {
                ($name, Some($feature), cfg!(feature = $feature), $case)
            };
        }
        match self {
            Self::O200kBase => ("o200k_base", None, true, Splits),
            Self::Cl100kBase => ("cl100k_base", None, true, Ignored),
            Self::Llama3 => behind!("llama3", "vocab-llama3", Ignored),
            Self::Qwen2 => behind!("qwen2", "vocab-qwen2", Ignored),
            Self::DeepseekV3 => behind!("deepseek_v3", "vocab-deepseek", Ignored),
            Self::MistralV3 => behind!("mistral_v3", "vocab-mistral", Splits),
            Self::KimiK2 => behind!("kimi_k2", "vocab-kimi", Splits),
            Self::Glm4 => behind!("glm4", "vocab-glm", Ignored),
            Self::Glm5 => behind!("glm5", "vocab-glm", Ignored),
            Self::MinimaxM2 => behind!("minimax_m2", "vocab-minimax", Splits),
        }
    }
}

impl fmt::Display for Vocabulary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Vocabulary {
    type Err = VocabularyError;

    /// Reads a name of a vocabulary that is in this build.
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|v| v.name() == name);
        let vocabulary = known.ok_or_else(|| VocabularyError::Unknown {
            name: name.to_owned(),
        })?;
        // A name that is known but not built in needs another answer than an unknown one.
        vocabulary.require()?;
        Ok(vocabulary)
    }
}

/// An error of choosing a vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VocabularyError {
    /// No vocabulary has this name.
    #[error("unknown tokenizer `{name}`")]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
    /// The vocabulary was left out of this build.
    #[error("the tokenizer `{name}` is not in this build")]
    NotInBuild {
        /// The name that was asked for.
        name: &'static str,
        /// The cargo feature that adds it.
        feature: &'static str,
    },
}

impl VocabularyError {
    /// Advice for the user: the names there are, and the features that add others.
    #[must_use]
    pub fn hint(&self) -> String {
        let available: Vec<&str> = Vocabulary::available().map(Vocabulary::name).collect();
        let available = available.join(", ");
        match self {
            Self::NotInBuild { feature, .. } => {
                format!("build with the feature `{feature}`; this build has {available}")
            }
            Self::Unknown { .. } => {
                let missing: Vec<String> = Vocabulary::ALL
                    .into_iter()
                    .filter(|v| !v.is_available())
                    .filter_map(|v| Some(format!("{v} (feature `{}`)", v.feature()?)))
                    .collect();
                match missing.as_slice() {
                    // A build with all features has nothing to add.
                    [] => format!("use one of {available}"),
                    _ => format!(
                        "use one of {available}; not in this build: {}",
                        missing.join(", ")
                    ),
                }
            }
        }
    }
}
