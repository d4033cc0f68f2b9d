//! Prints a prompt that the engine made: the text, the ledger or both as JSON.

use std::io;

use kitbag::core::assembly::Assembly;
use kitbag::core::tokens::TokenCounter;
use kitbag::engine::Composed;
use kitbag::report::PromptReport;

use crate::clipboard;
use crate::commands::pack::summary::{say_problems, say_redacted};
use crate::counter::say_exactness;
use crate::failure::Failure;
use crate::output::{self, grouped};

/// The part of a prompt to show, and the place to show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// The prompt.
    Prompt,
    /// Everything that was considered, in or out, and why, as a table.
    Ledger,
    /// The prompt and the ledger as JSON.
    Json,
    /// The prompt, in the clipboard.
    Copy,
}

/// Prints a prompt whose body, as it would be sent, is `body`.
pub(crate) fn deliver(
    show: Show,
    composed: &Composed,
    body: &str,
    counter: &dyn TokenCounter,
) -> Result<(), Failure> {
    let assembly = &composed.assembly;
    if show != Show::Json {
        say_exactness(counter);
    }
    match show {
        Show::Json => return Ok(output::print_json(&PromptReport::of(composed, body))?),
        Show::Ledger => output::print(&output::ledger_table(&assembly.ledger))?,
        Show::Copy => clipboard::copy(body)?,
        Show::Prompt => print_prompt(assembly, body, counter)?,
    }
    say_problems(&assembly.ledger.problems);
    say_redacted(&composed.redacted);
    say_summary(assembly);
    Ok(())
}

/// Prints the prompt, and a newline at its end unless that were a token too many: the budget is the
/// size of what is printed.
fn print_prompt(assembly: &Assembly, body: &str, counter: &dyn TokenCounter) -> io::Result<()> {
    let ended = format!("{body}\n");
    let budget = assembly.ledger.fit.budget;
    match assembly.form.is_text() && counter.count(&ended) > budget {
        true => output::print_exactly(body),
        false => output::print_exactly(&ended),
    }
}

fn say_summary(assembly: &Assembly) {
    let fit = &assembly.ledger.fit;
    let is_best = fit.worth == fit.bound;
    let bound = if is_best { "" } else { "at least " };
    output::say(format_args!(
        "{} of {} tokens, {} of {} chunks, {}{}.{} % of the best possible worth",
        grouped(assembly.tokens.0),
        grouped(fit.budget.0),
        grouped(fit.chunks_out as u64),
        grouped(fit.chunks_in as u64),
        bound,
        fit.ratio_ppm / 10_000,
        fit.ratio_ppm % 10_000 / 1_000,
    ));
}
