//! Reasons why a folder is no model.

use std::path::PathBuf;

/// A folder from which no model can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EmbeddingError {
    /// There is no such folder.
    #[error("there is no model folder {}", folder.display())]
    NoFolder {
        /// The folder as given.
        folder: PathBuf,
    },
    /// A file is missing.
    #[error("the model folder {} has no `{name}`", folder.display())]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The file that it should have.
        name: &'static str,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {problem}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The system's own words.
        problem: String,
    },
    /// The tokenizer cannot be understood.
    #[error("{} is not a tokenizer: {problem}", file.display())]
    Tokenizer {
        /// The file.
        file: PathBuf,
        /// The problem with it.
        problem: String,
    },
    /// The weights cannot be understood.
    #[error("{} holds no tensors: {problem}", file.display())]
    Weights {
        /// The file.
        file: PathBuf,
        /// The problem with it.
        problem: String,
    },
    /// The weights have no table of vectors.
    #[error(
        "{} has no tensor `embeddings` or `embedding.weight`, but {}", file.display(), names(found)
    )]
    NoTable {
        /// The file.
        file: PathBuf,
        /// The tensors that it has.
        found: Vec<String>,
    },
    /// The table is not one row of numbers for each token.
    #[error("tensor `{tensor}` of {} has the shape {shape:?}, not rows and columns", file.display())]
    Shape {
        /// The file.
        file: PathBuf,
        /// The table.
        tensor: String,
        /// The size of each dimension.
        shape: Vec<usize>,
    },
    /// The numbers of the table are of another kind.
    #[error("tensor `{tensor}` of {} holds {kind}, neither F32 nor F16", file.display())]
    Kind {
        /// The file.
        file: PathBuf,
        /// The table.
        tensor: String,
        /// The kind of its numbers.
        kind: String,
    },
    /// The rows of the table are not the tokens' own.
    #[error("{} has a tensor `{tensor}`: its rows are shared or weighted", file.display())]
    Indirect {
        /// The file.
        file: PathBuf,
        /// The tensor that redirects its rows.
        tensor: String,
    },
    /// The tokenizer is that of another model.
    #[error("{} has {rows} rows, but its tokenizer has {tokens} tokens", file.display())]
    TooFewRows {
        /// The file.
        file: PathBuf,
        /// The number of vectors.
        rows: usize,
        /// The number of tokens.
        tokens: usize,
    },
}

impl EmbeddingError {
    /// A remedy for the user.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NoFolder { .. } | Self::Missing { .. } => {
                "a model is a folder with `tokenizer.json` and `model.safetensors`"
            }
            Self::Unreadable { .. } => "check the rights of the file",
            Self::Tokenizer { .. } | Self::Weights { .. } => {
                "copy the file again, whole: a pointer of a large-file store is not the file"
            }
            Self::NoTable { .. } | Self::Shape { .. } => {
                "only static models do, with one vector for each token"
            }
            Self::Kind { .. } | Self::Indirect { .. } => {
                "save the model as a plain table in single or half precision"
            }
            Self::TooFewRows { .. } => "take both files from the same model",
        }
    }
}

fn names(found: &[String]) -> String {
    if found.is_empty() {
        return "nothing".to_owned();
    }
    let quoted: Vec<String> = found.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
