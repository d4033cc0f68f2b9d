//! A budget and its explanation, without a store, a provider or a workspace.
//!
//! `cargo run -p kitbag --no-default-features --example budget_only`

use std::error::Error;
use std::io::Write as _;

use kitbag::core::assembly::{AssemblySettings, OutputForm};
use kitbag::core::chunk::{ChunkType, ContextChunk, ContextPriority, Relevance};
use kitbag::core::tokens::Tokens;
use kitbag::engine::{Composed, Contribution, PromptRequest, compose};
use kitbag::tokens::Counter;

/// Fits three notes into a budget that two of them fill.
pub(crate) fn fitted() -> Result<Composed, Box<dyn Error>> {
    let mut notes = Contribution::default();
    for (source, percent) in [("oven", 90), ("flour", 60), ("weather", 5)] {
        let text = format!(
            "About the {source}: {}",
            "it is written down here. ".repeat(9)
        );
        let chunk = ContextChunk::new(ChunkType::Fact, source, text);
        let chunk = chunk.with_priority(ContextPriority::Medium);
        notes.add(chunk.with_relevance(Relevance::from_ppm(percent * 10_000)));
    }
    let settings = AssemblySettings::new(OutputForm::OpenAi, Tokens(160));
    let request = PromptRequest::new("Why is the crust pale?", settings);
    Ok(compose(
        &request,
        vec![notes],
        &Counter::for_model("gpt-4o")?,
        None,
    )?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let prompt = fitted()?;
    let mut stdout = std::io::stdout();
    for entry in &prompt.assembly.ledger.entries {
        let (tokens, source, reason) = (entry.tokens, &entry.source, entry.reason);
        writeln!(stdout, "{tokens:>4}  {source:<8}  {reason}")?;
    }
    let budget = prompt.settings.budget;
    writeln!(stdout, "{} of {budget} tokens", prompt.assembly.tokens)?;
    Ok(())
}
