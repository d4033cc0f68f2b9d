//! `kitbag memory model`: chooses the model that helps recall.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use kitbag::store::Embedder;
use serde::Serialize;

use crate::failure::Failure;
use crate::model;
use crate::output::{self, grouped, one_line};

/// Shows, chooses or removes the model that helps recall
///
/// Recall needs no model. With a static one it also finds messages that say the same in other words, or in
/// another language if the model covers both. A model is a folder with `tokenizer.json` and
/// `model.safetensors`, a table with a vector for each token, as model2vec makes them. Nothing is downloaded,
/// and no vectors are stored: the choice is one line in Kitbag's configuration folder, for all stores.
#[derive(clap::Args)]
#[command(after_help = "Example: kitbag memory model use ~/models/potion-base-8M")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Chooses the model in a folder
    #[command(after_help = "Example: kitbag memory model use ~/models/potion-base-8M")]
    Use {
        /// The folder with `tokenizer.json` and `model.safetensors`
        folder: PathBuf,
    },
    /// Stops using a model
    #[command(after_help = "Example: kitbag memory model off")]
    Off,
}

/// The description of a model.
#[derive(Serialize)]
struct ModelReport {
    folder: String,
    dimensions: usize,
    tokens: usize,
}

pub(super) fn run(args: &Args) -> Result<(), Failure> {
    match &args.command {
        Some(Command::Use { folder }) => {
            // Opened first, so that a folder without a model is never chosen.
            let embedder = model::open(folder)?;
            let folder = model::choose(folder)?;
            show(args, &folder, &embedder)
        }
        Some(Command::Off) => {
            let was_chosen = model::choose_none()?;
            if args.json {
                return Ok(output::print_json(&None::<ModelReport>)?);
            }
            output::say(match was_chosen {
                true => "recall no longer uses a model",
                false => "recall used no model",
            });
            Ok(())
        }
        None => match model::chosen()? {
            Some(folder) => {
                let embedder = model::open(&folder)?;
                show(args, &folder, &embedder)
            }
            None if args.json => Ok(output::print_json(&None::<ModelReport>)?),
            None => {
                output::say("no model is chosen; `kitbag memory model use FOLDER` chooses one");
                Ok(())
            }
        },
    }
}

fn show(args: &Args, folder: &Path, embedder: &Embedder) -> Result<(), Failure> {
    let shown = ModelReport {
        folder: folder.display().to_string(),
        dimensions: embedder.dimensions(),
        tokens: embedder.vocabulary(),
    };
    if args.json {
        return Ok(output::print_json(&shown)?);
    }
    let tokens = grouped(shown.tokens as u64);
    Ok(output::print(&format!(
        "{}: {tokens} tokens, {} dimensions",
        one_line(&shown.folder),
        shown.dimensions
    ))?)
}
