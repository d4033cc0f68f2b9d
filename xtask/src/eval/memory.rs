//! `cargo xtask eval memory`: whether `kitbag memory recall` finds the turns that hold an answer.
//!
//! Each conversation goes into a store of its own, and all its questions are asked in one call, as a
//! user would do it. No model is asked: what is judged is the ranking of the turns.

mod conversation;
mod figures;
mod long;
mod program;
mod score;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use crate::metadata::Metadata;
use crate::release;
use conversation::Conversation;
use figures::{Figures, Groups, Report};
use program::{Program, Times};

/// What is evaluated and how.
#[derive(Args)]
pub(crate) struct Options {
    /// The conversations and their questions, one JSON document
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// The program [default: the release build of this project]
    #[arg(long, value_name = "PATH")]
    kitbag: Option<PathBuf>,
    /// Shows each category of questions too
    #[arg(long)]
    by_category: bool,
    /// Evaluates the same conversations with long messages of an assistant too
    #[arg(long)]
    long: bool,
    /// Where the figures go as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Further arguments for `kitbag memory recall`, separated by spaces
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    args: String,
}

/// Shows the figures of the data as they are, then those of their long variant.
pub(super) fn memory(options: &Options) -> Result<()> {
    let conversations = conversation::read(&options.data)?;
    let target = Metadata::load()?.target_directory;
    let program = Program {
        path: release::given_or_built(options.kitbag.as_ref(), &target)?,
        recall_arguments: options.args.split_whitespace().collect(),
    };
    let groups = match options.by_category {
        true => Groups::EachCategory,
        false => Groups::AdversarialApart,
    };

    let figures = evaluate(&program, &conversations, groups)?;
    print!("{figures}");
    let mut long_figures = None;
    if options.long {
        let long = long::lengthened(&conversations)?;
        let figures = evaluate(&program, &long, groups)?;
        println!("\nlong messages: {}", long::lengths(&long));
        print!("{figures}");
        long_figures = Some(figures);
    }
    if let Some(file) = &options.json {
        let long = long_figures;
        let written = fs::write(file, Report { figures, long }.to_json()?);
        written.with_context(|| format!("could not write {}", file.display()))?;
    }
    Ok(())
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
    Ok(Figures::new(&rows, groups, times))
}
