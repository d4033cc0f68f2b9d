//! `cargo xtask eval memory`: the share of the turns with an answer that `kitbag memory recall` finds.
//!
//! Each conversation goes into a store of its own, and all its questions are asked in one call, as a
//! user would do it. No model is asked: the ranking of the turns is judged.

mod conversation;
mod figures;
mod index;
mod long;
mod program;
mod score;
mod tune;
mod updates;
mod weights;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;

use crate::metadata::Metadata;
use crate::release;
use conversation::Conversation;
use figures::{Figures, Groups, Report, Table};
use program::{Program, Times};

pub(super) use tune::{Options as TuneOptions, tune};
pub(super) use updates::{Options as UpdateOptions, updates};

/// Data and settings of the evaluation.
#[derive(Args)]
pub(crate) struct Options {
    /// Conversations and their questions, one JSON document; may be given several times
    #[arg(long, value_name = "FILE", required = true)]
    data: Vec<PathBuf>,
    /// The program [default: the release build of this project]
    #[arg(long, value_name = "PATH")]
    kitbag: Option<PathBuf>,
    /// The model that helps recall; none unless it is given
    #[arg(long, value_name = "FOLDER")]
    model: Option<PathBuf>,
    /// Shows each category of questions too
    #[arg(long)]
    by_category: bool,
    /// Evaluates the same conversations with long messages of an assistant too
    #[arg(long)]
    long: bool,
    /// Writes the figures to this file as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Further arguments for `kitbag memory recall`, separated by spaces
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    args: String,
}

/// Shows the figures of each set as it is and of its long variant: those of one set with the time they
/// took, those of several as a table.
pub(super) fn memory(options: &Options) -> Result<()> {
    let target = Metadata::load()?.target_directory;
    let path = release::given_or_built(options.kitbag.as_ref(), &target)?;
    // No quoting: these are flags and numbers that are tried by hand.
    let arguments = options.args.split_whitespace().collect();
    let program = Program::new(path, arguments, options.model.as_deref())?;
    let groups = groups(options.by_category);
    let mut reports = BTreeMap::new();
    let mut table = Table::default();
    for file in &options.data {
        let set = set_name(file)?;
        let conversations = conversation::read(file)?;
        let figures = evaluate(&program, &conversations, groups)?;
        table.add(&set, &figures);
        let mut long = None;
        let mut lengths = String::new();
        if options.long {
            let variant = long::lengthened(&conversations)?;
            let figures = evaluate(&program, &variant, groups)?;
            table.add(&format!("{set}, long"), &figures);
            lengths = long::lengths(&variant);
            long = Some(figures);
        }
        // With several sets a line each is easier to compare.
        if options.data.len() == 1 {
            print!("{figures}");
            if let Some(long) = &long {
                println!("\nlong messages: {lengths}");
                print!("{long}");
            }
        }
        reports.insert(set, Report { figures, long });
    }
    if options.data.len() > 1 {
        print!("{table}");
    }
    if let Some(file) = &options.json {
        let json = match reports.first_key_value() {
            // One set has no name around its figures, as earlier versions wrote them.
            Some((_, report)) if reports.len() == 1 => figures::to_json(report)?,
            _ => figures::to_json(&reports)?,
        };
        let written = fs::write(file, json);
        written.with_context(|| format!("could not write {}", file.display()))?;
    }
    Ok(())
}

fn groups(by_category: bool) -> Groups {
    match by_category {
        true => Groups::EachCategory,
        false => Groups::AdversarialApart,
    }
}

/// The name of a file of conversations, by which its figures are known.
fn set_name(file: &Path) -> Result<String> {
    let name = file
        .file_stem()
        // The title of a row is the name of its file.
        .context("a folder is no file of conversations");
    Ok(name?.to_string_lossy().into_owned())
}

fn evaluate(
    program: &Program<'_>,
    conversations: &[Conversation],
    groups: Groups,
) -> Result<Figures> {
    let (mut rows, mut times) = (Vec::new(), Times::default());
    for conversation in conversations {
        let answers = program.answers(conversation, &mut times)?;
        let scored = score::rows(conversation, &answers);
        rows.extend(scored.with_context(|| format!("conversation `{}`", conversation.name))?);
    }
    Ok(Figures::new(&rows, groups, Some(times)))
}
