//! Turns a text into a vector of its meaning, by a model in a local folder.
//!
//! The models are tables with one vector for each token, as `model2vec` makes them: a text is the
//! mean of its tokens' vectors. Nothing is downloaded, no neural network runs and nothing is
//! stored, so the same folder and text give the same numbers.

mod compare;
mod error;
mod near;
mod table;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;
use tokenizers::Tokenizer;

pub(crate) use compare::likenesses;
pub use error::EmbeddingError;
use table::Table;

/// The file that describes how a text is cut into tokens.
const TOKENIZER: &str = "tokenizer.json";
/// The file with the vectors.
const WEIGHTS: &str = "model.safetensors";

/// A model that was read from a folder.
pub struct Embedder {
    tokenizer: Tokenizer,
    table: Table,
    /// Tokens without a meaning: the unknown one, single bytes, and marks such as that of a
    /// beginning.
    meaningless: BTreeSet<u32>,
}

impl Embedder {
    /// Reads `tokenizer.json` and `model.safetensors` of a folder.
    ///
    /// The weights are a tensor `embeddings` or `embedding.weight` of two dimensions, in single or
    /// half precision, with a row for each token.
    ///
    /// # Errors
    /// When a file is missing or malformed.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, EmbeddingError> {
        let folder = folder.as_ref();
        let description = read(folder, TOKENIZER)?;
        let wrong = |problem: String| EmbeddingError::Tokenizer {
            file: folder.join(TOKENIZER),
            problem,
        };
        let mut tokenizer =
            Tokenizer::from_bytes(&description).map_err(|error| wrong(error.to_string()))?;
        let meaningless = meaningless(&tokenizer, &description).map_err(wrong)?;
        // The settings of models cut or fill texts to one length. Then likeness would depend on the
        // length of a text.
        tokenizer.with_padding(None);
        tokenizer
            .with_truncation(None)
            .map_err(|error| wrong(error.to_string()))?;
        let table = Table::read(&folder.join(WEIGHTS), read(folder, WEIGHTS)?)?;
        // With fewer rows than tokens, the two files belong to different models.
        let tokens = tokenizer.get_vocab_size(false);
        if tokens > table.rows() {
            return Err(EmbeddingError::TooFewRows {
                file: folder.join(WEIGHTS),
                rows: table.rows(),
                tokens,
            });
        }
        Ok(Self {
            tokenizer,
            table,
            meaningless,
        })
    }

    /// Returns the direction of a text's meaning: a vector of length 1, or zeros if no token of the
    /// text is known.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let mut sum = vec![0.0; self.dimensions()];
        for token in self.tokens(text) {
            self.table.add_row(token, 1.0, &mut sum);
        }
        // The mean of the vectors has the direction of their sum, so no division by their number is
        // needed.
        let length = length(&sum);
        if length > 0.0 {
            for value in &mut sum {
                *value /= length;
            }
        }
        sum
    }

    /// The numbers in a vector.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.table.dimensions()
    }

    /// The number of tokens that have a vector.
    #[must_use]
    pub fn vocabulary(&self) -> usize {
        self.table.rows()
    }

    /// The meaningful tokens of a text. The tokenizer fails at a text that its vocabulary cannot
    /// spell; such a text has none.
    fn tokens(&self, text: &str) -> Vec<u32> {
        let encoding = self.tokenizer.encode_fast(text, false);
        let mut ids = encoding.map_or_else(|_| Vec::new(), |found| found.get_ids().to_vec());
        ids.retain(|id| !self.meaningless.contains(id));
        ids
    }
}

impl fmt::Debug for Embedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Embedder")
            .field("tokens", &self.table.rows())
            .field("dimensions", &self.table.dimensions())
            .finish_non_exhaustive()
    }
}

fn length(vector: &[f32]) -> f32 {
    product(vector, vector).sqrt()
}

/// The dot product, in eight sums: floating-point numbers must be added in order, so a single sum
/// cannot be vectorised and takes several times as long.
fn product(one: &[f32], other: &[f32]) -> f32 {
    let (ones, one_rest) = one.as_chunks::<8>();
    let (others, other_rest) = other.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (one, other) in ones.iter().zip(others) {
        for ((sum, a), b) in sums.iter_mut().zip(one).zip(other) {
            *sum += a * b;
        }
    }
    let rest: f32 = one_rest.iter().zip(other_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

fn read(folder: &Path, name: &'static str) -> Result<Vec<u8>, EmbeddingError> {
    fs::read(folder.join(name)).map_err(|error| match error.kind() {
        ErrorKind::NotFound if folder.is_dir() => EmbeddingError::Missing {
            folder: folder.to_owned(),
            name,
        },
        ErrorKind::NotFound => EmbeddingError::NoFolder {
            folder: folder.to_owned(),
        },
        _ => EmbeddingError::Unreadable {
            file: folder.join(name),
            problem: error.to_string(),
        },
    })
}

/// The part of a tokenizer's description that all kinds of models share.
#[derive(Deserialize)]
struct Description {
    model: Unknown,
}

/// The model's name or number for the token that stands for unknown characters.
#[derive(Deserialize)]
struct Unknown {
    unk_token: Option<String>,
    unk_id: Option<u32>,
}

fn meaningless(tokenizer: &Tokenizer, description: &[u8]) -> Result<BTreeSet<u32>, String> {
    let unknown: Description =
        serde_json::from_slice(description).map_err(|error| error.to_string())?;
    let Unknown { unk_token, unk_id } = unknown.model;
    let unknown = unk_token.and_then(|token| tokenizer.token_to_id(&token));
    let added = tokenizer.get_added_tokens_decoder().into_iter();
    let special = added.filter_map(|(id, token)| token.special.then_some(id));
    // A character missing in the vocabulary is spelled in bytes, which mean nothing alone.
    let bytes = (0..=u8::MAX).filter_map(|byte| tokenizer.token_to_id(&format!("<0x{byte:02X}>")));
    let meaningless = special.chain(unknown).chain(unk_id).chain(bytes);
    Ok(meaningless.collect())
}
