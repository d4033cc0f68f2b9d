//! `kitbag fit`: fits chunks or a request from JSON into a budget and prints the prompt, or why it is so.

mod explain;
mod read;
mod received;

use std::io;
use std::path::PathBuf;

use clap::ValueEnum;
use kitbag::core::assembly::{
    Assembly, AssemblySettings, Breakpoint, FitStrategy, Ledger, ModelTraits, OutputForm,
    OutputFormError,
};
use kitbag::core::budget::parse_tokens;
use kitbag::core::chunk::{ContextChunk, Relevance};
use kitbag::core::envelope::TaskType;
use kitbag::core::rank::{RankTask, RankedChunk, ScoreWeights, rank};
use kitbag::core::tokens::{Exactness, TokenCounter, Tokens};
use kitbag::engine::{Composed, Contribution, PromptRequest, Redaction, compose};
use kitbag::tokens::Counter;
use serde::Serialize;

use crate::clipboard;
use crate::counter::{CounterArgs, say_exactness};
use crate::failure::Failure;
use crate::output::{self, grouped};
use crate::progress::Progress;

use super::pack::summary::{say_problems, say_redacted};

/// Fits chunks, or a request, into a token budget and prints the prompt
///
/// FILE holds chunks: a JSON array. A chunk has `source`, `chunk_type`, `priority` (CRITICAL, HIGH, MEDIUM,
/// LOW, MINIMAL, or 1000, 800, 500, 200, 100) and either `content` or `levels`, the most detailed
/// first: [{"level": "full", "content": "…"}, {"level": "outline", "content": "…", "coverage": 300}].
/// Levels are full, slice, outline, line (or path) and handle. A `chunk_type` is file, structure,
/// dependency, history, document, tool_result, fact, turn, summary, entity, step, reminder, or your
/// own. Optional: `relevance` (0 to 1,000,000), `band` (session, volatile), `metadata` (`language`
/// names the fence, `last_modified` counts for recency). At most 64 MiB are read.
///
/// Or FILE holds a request to the Anthropic Messages, OpenAI Chat Completions or OpenAI Responses API:
/// a JSON object. It is printed with as many of its latest messages as fit; of those before them the
/// request tells in short, and how many they are. Everything else in it stays as it is, byte for byte.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The chunks, or the request; `-` for stdin
    file: PathBuf,
    /// The most tokens that the prompt may have, such as 8000, 32k (32,000) or 32ki (32,768); of a
    /// request in JSON its texts count, not the JSON around them
    #[arg(long, value_name = "TOKENS", value_parser = parse_tokens, allow_negative_numbers = true)]
    budget: Tokens,
    /// The form of the prompt: pack (or prompt; the default), markdown (a document for people), xml
    /// (tags), flat, node, anthropic, openai, responses or json; a request keeps its own
    #[arg(long, value_name = "FORM", value_parser = parse_form)]
    format: Option<OutputForm>,
    /// What is asked; flat, node, anthropic, openai and responses cannot do without
    #[arg(long, value_name = "TEXT")]
    request: Option<String>,
    /// The base prompt
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// What kind of task it is: implement, debug, refactor, test or analyze
    #[arg(long, value_name = "TYPE", value_parser = |text: &str| text.parse::<TaskType>())]
    task_type: Option<TaskType>,
    #[command(flatten)]
    counter: CounterArgs,
    /// How chunks are chosen
    #[arg(long, value_enum, default_value_t = StrategyArg::Optimal)]
    strategy: StrategyArg,
    /// Leaves out chunks whose relevance is below this, in parts per million
    #[arg(long, value_name = "PPM", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    floor: u32,
    /// Prints the ledger as a table: every chunk, in or out, and why
    #[arg(long)]
    explain: bool,
    /// Prints the prompt and the ledger as JSON
    #[arg(long, conflicts_with = "explain")]
    json: bool,
    /// Copies the prompt to the clipboard instead of printing it
    #[arg(long, conflicts_with_all = ["explain", "json"])]
    copy: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum StrategyArg {
    /// The greatest worth within the budget
    Optimal,
    /// In the order of the scores, each as detailed as still fits
    Greedy,
}

fn parse_form(text: &str) -> Result<OutputForm, String> {
    text.parse()
        .map_err(|error: OutputFormError| error.to_string())
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let request = args.request.as_deref().unwrap_or_default();
    let form = args.format.unwrap_or(OutputForm::Pack);
    if request.trim().is_empty() && form.needs_message() {
        let form = form.as_str();
        return Err(Failure::usage(format_args!(
            "the form `{form}` ends in a message, and there is none"
        ))
        .hint("say what is asked with `--request TEXT`"));
    }
    let input = read::input(&args.file)?;
    if let Some(received) = &input.request {
        return received::run(args, received);
    }
    let (counter, traits) = args.counter.counter()?;
    let chunks = input.chunks()?;

    let progress = if args.json {
        Progress::hidden()
    } else {
        Progress::start("ranking chunks")
    };
    let ranked = ranked(chunks, args);
    progress.stage("fitting chunks");
    let mut prompt = PromptRequest::new(request, settings(args, form, traits));
    prompt.task_type = args.task_type;
    prompt.model = args.counter.model().map(String::from);
    let mut contribution = Contribution::default();
    contribution.draft.identity.clone_from(&args.system);
    for ranked in ranked {
        contribution.add(ranked);
    }
    let composed = compose(&prompt, vec![contribution], &counter, None)
        .map_err(|error| Failure::new(&error).hint(error.hint()))?;
    drop(progress);
    deliver(args, &composed, &composed.body(), &counter)
}

/// Prints the prompt, or why it is as it is.
fn deliver(args: &Args, composed: &Composed, body: &str, counter: &Counter) -> Result<(), Failure> {
    let assembly = &composed.assembly;
    log(assembly);
    if args.json {
        return Ok(output::print_json(&Report::of(composed, body))?);
    }
    say_exactness(counter);
    if args.explain {
        output::print(&explain::table(&assembly.ledger))?;
    } else if args.copy {
        clipboard::copy(body)?;
    } else {
        print_prompt(assembly, body, counter)?;
    }
    say_problems(&assembly.ledger.problems);
    say_redacted(&composed.redacted);
    say_summary(assembly);
    Ok(())
}

/// Prints the prompt, and a newline at its end unless that were a token too many: the budget is the
/// size of what is printed.
fn print_prompt(assembly: &Assembly, body: &str, counter: &Counter) -> io::Result<()> {
    let ended = format!("{body}\n");
    let is_text = assembly.form.is_text();
    if is_text && counter.count(&ended) > assembly.ledger.fit.budget {
        output::print_exactly(body)
    } else {
        output::print_exactly(&ended)
    }
}

fn settings(args: &Args, form: OutputForm, traits: Option<ModelTraits>) -> AssemblySettings {
    let strategy = match args.strategy {
        StrategyArg::Optimal => FitStrategy::Optimal,
        StrategyArg::Greedy => FitStrategy::Greedy,
    };
    let settings = AssemblySettings::new(form, args.budget)
        .with_strategy(strategy)
        .with_floor(Relevance::from_ppm(args.floor));
    match traits {
        Some(traits) => settings.with_traits(traits),
        None => settings,
    }
}

fn ranked(chunks: Vec<ContextChunk>, args: &Args) -> Vec<RankedChunk> {
    let request = args.request.as_deref().unwrap_or_default();
    let task = RankTask::new(args.task_type, request, &chunks);
    rank(chunks, &task, &ScoreWeights::default())
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    format: OutputForm,
    prompt: &'a str,
    tokens: Tokens,
    budget: Tokens,
    tokenizer: &'a str,
    exactness: &'a Exactness,
    estimated: Tokens,
    breakpoints: &'a [Breakpoint],
    redacted: &'a [Redaction],
    ledger: &'a Ledger,
}

impl<'a> Report<'a> {
    fn of(composed: &'a Composed, body: &'a str) -> Self {
        let assembly = &composed.assembly;
        Self {
            format: assembly.form,
            prompt: body,
            tokens: assembly.tokens,
            budget: assembly.ledger.fit.budget,
            tokenizer: &assembly.tokenizer,
            exactness: &assembly.exactness,
            estimated: assembly.estimated,
            breakpoints: &assembly.breakpoints,
            redacted: &composed.redacted,
            ledger: &assembly.ledger,
        }
    }
}

/// Logs how much of what was there came to stand in the prompt.
fn log(assembly: &Assembly) {
    let fit = &assembly.ledger.fit;
    let share = f64::from(assembly.tokens.0) / f64::from(fit.budget.0.max(1));
    tracing::debug!(
        event = "context_compressed",
        chunks_in = fit.chunks_in,
        chunks_out = fit.chunks_out,
        tokens = assembly.tokens.0,
        budget = fit.budget.0,
        utilization = (share * 1_000.0).round() / 1_000.0,
    );
}

fn say_summary(assembly: &Assembly) {
    let fit = &assembly.ledger.fit;
    output::say(format_args!(
        "{} of {} tokens, {} of {} chunks, {}{}.{} % of the best possible worth",
        grouped(assembly.tokens.0),
        grouped(fit.budget.0),
        grouped(fit.chunks_out as u64),
        grouped(fit.chunks_in as u64),
        if fit.worth == fit.bound {
            ""
        } else {
            "at least "
        },
        fit.ratio_ppm / 10_000,
        fit.ratio_ppm % 10_000 / 1_000,
    ));
}
