//! The model that recall uses: the user's choice, its file, and opening the model.
//!
//! The choice is in Kitbag's configuration folder and not in a store: it names a folder of this machine,
//! and other machines may use the store. No vectors are stored, so one choice works for all stores.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use etcetera::BaseStrategy as _;
use kitbag::store::{Embedder, EmbeddingError, Store};

use crate::failure::Failure;
use crate::output::{self, one_line};

/// The store with the chosen model. If the model cannot be read, a warning says so, and recall compares
/// words alone.
pub(crate) fn with_chosen_model(store: Store) -> Store {
    let folder = match chosen() {
        Ok(Some(folder)) => folder,
        Ok(None) => return store,
        Err(failure) => {
            failure.warn("recall continues without a model");
            return store;
        }
    };
    match open(&folder) {
        Ok(embedder) => store.with_embedder(Arc::new(embedder)),
        Err(failure) => {
            let hint = "`kitbag memory model use FOLDER` chooses another, `kitbag memory model off` uses none";
            failure.hint(hint).warn("recall continues without a model");
            store
        }
    }
}

/// Reads the model in a folder.
pub(crate) fn open(folder: &Path) -> Result<Embedder, Failure> {
    let failure = |error: EmbeddingError| {
        let told = one_line(&error.to_string());
        Failure::new(told).hint(error.hint())
    };
    Embedder::open(folder).map_err(failure)
}

/// The folder of the chosen model.
pub(crate) fn chosen() -> Result<Option<PathBuf>, Failure> {
    let file = file()?;
    match fs::read_to_string(&file) {
        // Only the newline: a path may begin or end with blanks.
        Ok(text) => Ok(Some(PathBuf::from(text.trim_end_matches('\n')))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => {
            let file = file.display();
            Err(Failure::new(format_args!("cannot read `{file}`: {error}")))
        }
    }
}

/// Stores the choice of a folder as an absolute path, for commands in any folder.
pub(crate) fn choose(folder: &Path) -> Result<PathBuf, Failure> {
    let unusable = |problem: &dyn std::fmt::Display| {
        let folder = folder.display();
        Failure::new(format_args!(
            "cannot choose the folder `{folder}`: {problem}"
        ))
    };
    let folder = fs::canonicalize(folder).map_err(|error| unusable(&error))?;
    // The file holds one line, so a name with a newline could not be read back.
    let name = folder.to_str().filter(|name| !name.contains('\n'));
    let Some(name) = name else {
        return Err(unusable(&"its name is not one line of UTF-8"));
    };
    let file = file()?;
    fs::create_dir_all(output::folder_of(&file)).map_err(|error| {
        Failure::new(format_args!("cannot make a folder for the choice: {error}"))
    })?;
    output::write_file(&file, &format!("{name}\n"))?;
    Ok(folder)
}

/// Removes the choice. Returns whether there was one.
pub(crate) fn choose_none() -> Result<bool, Failure> {
    let file = file()?;
    match fs::remove_file(&file) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => {
            let file = file.display();
            Err(Failure::new(format_args!(
                "cannot remove `{file}`: {error}"
            )))
        }
    }
}

/// The file that holds the choice.
fn file() -> Result<PathBuf, Failure> {
    let folders = etcetera::choose_base_strategy().map_err(|error| {
        Failure::new(format_args!(
            "this system has no configuration folder: {error}"
        ))
    })?;
    Ok(folders.config_dir().join("kitbag").join("model"))
}
