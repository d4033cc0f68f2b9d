//! The model by which meanings are compared, in builds that can.

use std::path::PathBuf;
use std::sync::Arc;

use kitbag::store::{Embedder, EmbeddingError};

use crate::failure::Failure;

#[derive(clap::Args)]
pub(super) struct EmbeddingArgs {
    /// Compares meanings too, by the model in a folder: `tokenizer.json` and `model.safetensors` with a
    /// vector for each token
    #[arg(
        long,
        value_name = "FOLDER",
        env = "KITBAG_EMBEDDINGS",
        hide_env_values = true
    )]
    embeddings: Option<PathBuf>,
}

impl EmbeddingArgs {
    /// The model, if one is named; an empty variable names none.
    pub(super) fn embedder(&self) -> Result<Option<Arc<Embedder>>, Failure> {
        let folder = self.embeddings.as_ref();
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty());
        let failure = |error: EmbeddingError| Failure::new(&error).hint(error.hint());
        folder
            .map(|folder| Embedder::open(folder).map(Arc::new).map_err(failure))
            .transpose()
    }
}
