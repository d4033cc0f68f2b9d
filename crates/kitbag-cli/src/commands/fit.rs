//! `kitbag fit`: fits chunks from JSON into a budget and prints the prompt, or why it is so.

mod read;

use std::io;
use std::path::PathBuf;

use clap::ValueEnum;
use kitbag::core::assembly::{
    Assembly, AssemblySettings, Breakpoint, FitStrategy, Ledger, ModelTraits, OutputForm,
    OutputFormError,
};
use kitbag::core::budget::parse_input;
use kitbag::core::chunk::{ContextChunk, Relevance};
use kitbag::core::envelope::{TaskEnvelope, TaskType};
use kitbag::core::rank::{RankTask, ScoreWeights, rank};
use kitbag::core::tokens::{Exactness, TokenCounter, Tokens};
use kitbag::engine::{Contribution, PromptRequest, compose};
use kitbag::pack::truncatable;
use kitbag::tokens::Counter;
use serde::Serialize;

use super::pack::envelope;
use crate::clipboard;
use crate::counter::{CounterArgs, say_exactness};
use crate::failure::Failure;
use crate::output::{self, grouped, ledger_table};
use crate::progress::Progress;

/// Fits chunks into a token budget and prints the prompt
///
/// CHUNKS is a JSON array. A chunk has `source`, `chunk_type`, `priority` (CRITICAL, HIGH, MEDIUM,
/// LOW, MINIMAL, or 1000, 800, 500, 200, 100) and either `content` or `levels`, the most detailed
/// first: [{"level": "full", "content": "…"}, {"level": "outline", "content": "…", "coverage": 300}].
/// Levels are full, slice, outline, line (or path) and handle. A `chunk_type` is file, structure,
/// dependency, history, document, tool_result, fact, turn, summary, entity, step, reminder, or your
/// own. Optional: `relevance` (0 to 1,000,000), `band` (session, volatile), `metadata` (`language`
/// names the fence, `last_modified` counts for recency). At most 64 MiB are read. Code that comes with
/// `content` alone may be shown in parts or in outline. Secrets are replaced.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The chunks; `-` for stdin
    #[arg(required_unless_present = "envelope")]
    chunks: Option<PathBuf>,
    /// Reads the request, its type, its budget, its tools and further chunks from this `TaskEnvelope`
    /// as JSON; `-` is stdin. Options come first
    #[arg(long, value_name = "FILE")]
    envelope: Option<PathBuf>,
    /// The most tokens that the prompt may have, such as 8000, 32k (32,000), 32ki (32,768), or the
    /// input's share of a window, as `total=8000,input=70%`; of a request in JSON its texts count, not
    /// the JSON around them [default: the input of the envelope's budget]
    #[arg(
        long, value_name = "TOKENS", value_parser = parse_input, allow_negative_numbers = true,
        required_unless_present = "envelope"
    )]
    budget: Option<Tokens>,
    /// The form of the prompt: pack (or prompt), markdown (a document for people), xml (tags), flat,
    /// node, anthropic, openai or json
    #[arg(long, value_name = "FORM", default_value = "pack", value_parser = parse_form)]
    format: OutputForm,
    /// What is asked; flat, node, anthropic and openai cannot do without
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
    let (counter, traits) = args.counter.counter()?;
    let envelope = args.envelope.as_deref().map(envelope::read).transpose()?;
    let said = envelope.as_ref().map(|envelope| &envelope.user_request);
    let request = args.request.as_ref().or(said);
    let request = request.map(String::as_str).unwrap_or_default();
    if request.trim().is_empty() && args.format.needs_message() {
        let form = args.format.as_str();
        return Err(Failure::usage(format_args!(
            "the form `{form}` ends in a message, and there is none"
        ))
        .hint("say what is asked with `--request TEXT`"));
    }
    let mut chunks = match &args.chunks {
        Some(file) => read::chunks(file)?,
        None => Vec::new(),
    };
    let known = envelope.as_ref().map(|envelope| &envelope.context.chunks);
    chunks.extend(known.into_iter().flatten().cloned());

    let progress = if args.json {
        Progress::hidden()
    } else {
        Progress::start("ranking chunks")
    };
    let mut asked = PromptRequest::new(request, settings(args, envelope.as_ref(), traits)?);
    let of_envelope = envelope.as_ref().map(|envelope| envelope.task_type);
    asked.task_type = args.task_type.or(of_envelope);
    asked.model = args.counter.model().map(String::from);
    let mut contribution = ranked(chunks, &asked, request, envelope.as_ref());
    contribution.draft.identity.clone_from(&args.system);
    progress.stage("fitting chunks");
    let composed = compose(&asked, vec![contribution], &counter, None)
        .map_err(|error| Failure::new(&error).hint(error.hint()))?;
    let assembly = composed.assembly;
    drop(progress);
    log(&assembly);

    if args.json {
        return Ok(output::print_json(&Report::of(&assembly))?);
    }
    say_exactness(&counter);
    if args.explain {
        output::print(&ledger_table(&assembly.ledger))?;
    } else if args.copy {
        clipboard::copy(&assembly.body)?;
    } else {
        print_prompt(&assembly, &counter)?;
    }
    say_summary(&assembly);
    Ok(())
}

/// Prints the prompt, and a newline at its end unless that were a token too many: the budget is the
/// size of what is printed.
fn print_prompt(assembly: &Assembly, counter: &Counter) -> io::Result<()> {
    let ended = format!("{}\n", assembly.body);
    let is_text = assembly.form.is_text();
    if is_text && counter.count(&ended) > assembly.ledger.fit.budget {
        output::print_exactly(&assembly.body)
    } else {
        output::print_exactly(&ended)
    }
}

fn settings(
    args: &Args,
    envelope: Option<&TaskEnvelope>,
    traits: Option<ModelTraits>,
) -> Result<AssemblySettings, Failure> {
    let of_envelope = envelope.map(|envelope| envelope.token_budget.input());
    // The command line asks for one of them.
    let budget = args.budget.or(of_envelope);
    let budget = budget.ok_or_else(|| Failure::usage("no budget is given"))?;
    let strategy = match args.strategy {
        StrategyArg::Optimal => FitStrategy::Optimal,
        StrategyArg::Greedy => FitStrategy::Greedy,
    };
    let settings = AssemblySettings::new(args.format, budget)
        .with_strategy(strategy)
        .with_floor(Relevance::from_ppm(args.floor));
    Ok(match traits {
        Some(traits) => settings.with_traits(traits),
        None => settings,
    })
}

/// The chunks with their scores, and the tools of the envelope.
fn ranked(
    mut chunks: Vec<ContextChunk>,
    asked: &PromptRequest,
    request: &str,
    envelope: Option<&TaskEnvelope>,
) -> Contribution {
    chunks.iter_mut().for_each(truncatable);
    let mut task = RankTask::new(asked.task_type, request, &chunks);
    task.envelope = envelope.cloned();
    let mut contribution = Contribution::default();
    let ranked = rank(chunks, &task, &ScoreWeights::default()).into_iter();
    ranked.for_each(|chunk| contribution.add(chunk));
    if let Some(envelope) = envelope {
        contribution.draft.tools.clone_from(&envelope.tools);
    }
    contribution
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
    ledger: &'a Ledger,
}

impl<'a> Report<'a> {
    fn of(assembly: &'a Assembly) -> Self {
        Self {
            format: assembly.form,
            prompt: &assembly.body,
            tokens: assembly.tokens,
            budget: assembly.ledger.fit.budget,
            tokenizer: &assembly.tokenizer,
            exactness: &assembly.exactness,
            estimated: assembly.estimated,
            breakpoints: &assembly.breakpoints,
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
