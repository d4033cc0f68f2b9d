//! `kitbag fit`: fits chunks or a request from JSON into a budget and prints the prompt, or why it is so.

mod read;
mod received;

use std::path::PathBuf;

use kitbag::core::assembly::{AssemblySettings, ModelTraits, OutputForm};
use kitbag::core::budget::parse_input;
use kitbag::core::chunk::{ContextChunk, Relevance};
use kitbag::core::envelope::{TaskType, ending};
use kitbag::core::rank::{RankTask, ScoreWeights, rank};
use kitbag::core::tokens::Tokens;
use kitbag::engine::{Contribution, PromptRequest, compose};
use kitbag::pack::truncatable;

use super::pack::{StrategyArg, envelope};
use crate::counter::CounterArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::prompt::{Show, deliver};
use read::Input;

/// Fits chunks, or a request, into a token budget and prints the prompt
///
/// FILE holds chunks: a JSON array. A chunk has `source`, `chunk_type`, `priority` (CRITICAL, HIGH, MEDIUM,
/// LOW, MINIMAL, or 1000, 800, 500, 200, 100) and either `content` or `levels`, the most detailed
/// first: [{"level": "full", "content": "…"}, {"level": "outline", "content": "…", "coverage": 300}].
/// Levels are full, slice, outline, line (or path) and handle. A `chunk_type` is file, structure,
/// dependency, history, document, tool_result, fact, turn, summary, entity, step, reminder, or your
/// own. Optional: `relevance` (0 to 1,000,000), `band` (session, volatile), `metadata` (`language`
/// names the fence, `last_modified` counts for recency). Code that comes with `content` alone may be shown
/// in parts or in outline. Secrets are replaced. At most 64 MiB are read.
///
/// Or FILE holds a request to the Anthropic Messages, OpenAI Chat Completions or OpenAI Responses API:
/// a JSON object. It is printed with as many of its latest messages as fit; the messages before them
/// are counted and summarised. Everything else in it stays as it is, byte for byte.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  kitbag fit chunks.json --budget 8k
  kitbag fit chunks.json -b 8k --explain
  kitbag fit request.json -b 100k > shorter.json")]
pub(crate) struct Args {
    /// The chunks, or the request; `-` for stdin
    #[arg(required_unless_present = "envelope")]
    file: Option<PathBuf>,
    /// Read the request, its type, its budget, its tools and further chunks from this `TaskEnvelope`
    /// as JSON; `-` is stdin. Options override it
    #[arg(long, value_name = "FILE")]
    envelope: Option<PathBuf>,
    /// Limit the prompt to this many tokens, such as 8000, 32k (32,000) or 32ki (32,768), or to the
    /// input's share of a window, such as `total=8000,input=70%`. In a request its texts count, not the
    /// JSON around them [default: the input budget of --envelope]
    #[arg(
        short, long, value_name = "TOKENS", value_parser = parse_input, allow_negative_numbers = true,
        required_unless_present = "envelope"
    )]
    budget: Option<Tokens>,
    /// Form of the prompt: pack (or prompt; the default), markdown (a document for people), xml
    /// (tags), flat, node, anthropic, openai, responses or json; a request keeps its own form
    #[arg(short, long, value_name = "FORM")]
    format: Option<OutputForm>,
    /// The request to answer; the forms flat, node, anthropic, openai and responses need one
    #[arg(long, value_name = "TEXT")]
    request: Option<String>,
    /// The system prompt, which comes first
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
    /// Type of the task: implement, debug, refactor, test, analyze or review
    #[arg(long, value_name = "TYPE")]
    task_type: Option<TaskType>,
    #[command(flatten)]
    counter: CounterArgs,
    /// Way of choosing chunks
    #[arg(long, value_enum, default_value_t = StrategyArg::Optimal)]
    strategy: StrategyArg,
    /// Leave out chunks whose relevance is below this, in parts per million
    #[arg(long, value_name = "PPM", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    floor: u32,
    /// Print the ledger as a table: every chunk, in or out, with the reason
    #[arg(long)]
    explain: bool,
    /// Print the prompt and the ledger as JSON
    #[arg(long, conflicts_with = "explain")]
    json: bool,
    /// Copy the prompt to the clipboard instead of printing it
    #[arg(short, long, conflicts_with_all = ["explain", "json"])]
    copy: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let envelope = args.envelope.as_deref().map(envelope::read).transpose()?;
    let said = envelope.as_ref().map(|envelope| &envelope.user_request);
    let request = args.request.as_ref().or(said);
    let request = request.map(String::as_str).unwrap_or_default();
    let form = args.format.unwrap_or(OutputForm::Pack);
    // Before the chunks are read: this is a mistake in the arguments.
    if request.trim().is_empty() && form.needs_message() {
        let form = form.as_str();
        let what = format!("the form `{form}` ends with a request, and none is given");
        return Err(Failure::usage(what).hint("give it with `--request TEXT`"));
    }
    let mut chunks = match args.file.as_deref().map(read::input).transpose()? {
        // A request brings its own messages and form, and goes another way from here.
        Some(Input::Request(request)) => return received::run(args, &request),
        Some(Input::Chunks(chunks)) => chunks,
        None => Vec::new(),
    };
    let known = envelope.as_ref().map(|envelope| &envelope.context.chunks);
    // Chunks of the file first, so that they win over equal ones of the envelope.
    chunks.extend(known.into_iter().flatten().cloned());
    let (counter, traits) = args.counter.counter()?;

    let progress = Progress::start("ranking chunks");
    let of = envelope.as_ref();
    let budget = of.map(|envelope| envelope.token_budget.input());
    let settings = args.settings(form, budget, traits)?;
    let mut prompt = PromptRequest::new(request, settings);
    let task_type = args.task_type.or(of.map(|envelope| envelope.task_type));
    prompt.ending = task_type.map(|task_type| ending(Some(task_type), request).to_owned());
    prompt.model = args.counter.model().map(String::from);
    // A chunk with one level could only be in or out; with shorter ones a part of it can be shown.
    chunks.iter_mut().for_each(truncatable);
    let mut task = RankTask::new(task_type, request, &chunks);
    task.envelope = envelope.clone();
    let mut contribution = ranked(chunks, &task);
    contribution.draft.identity.clone_from(&args.system);
    progress.stage("fitting chunks");
    let composed = compose(&prompt, vec![contribution], &counter, None)
        .map_err(|error| Failure::new(&error).hint(error.hint()))?;
    drop(progress);
    deliver(args.show(), &composed, &composed.body(), &counter)
}

impl Args {
    fn show(&self) -> Show {
        match (self.json, self.explain, self.copy) {
            (true, ..) => Show::Json,
            (_, true, _) => Show::Ledger,
            (_, _, true) => Show::Copy,
            _ => Show::Prompt,
        }
    }

    fn settings(
        &self,
        form: OutputForm,
        of_envelope: Option<Tokens>,
        traits: Option<ModelTraits>,
    ) -> Result<AssemblySettings, Failure> {
        // The command line asks for one of them, but a request may come with an envelope.
        let budget = self.budget.or(of_envelope);
        let budget = budget.ok_or_else(|| Failure::usage("no budget is given"))?;
        Ok(AssemblySettings::new(form, budget)
            .with_strategy(self.strategy.into())
            .with_floor(Relevance::from_ppm(self.floor))
            .with_traits(traits.unwrap_or_default()))
    }
}

/// The chunks with their scores, and the tools of the envelope.
fn ranked(chunks: Vec<ContextChunk>, task: &RankTask) -> Contribution {
    let mut contribution = Contribution::default();
    let ranked = rank(chunks, task, &ScoreWeights::default()).into_iter();
    ranked.for_each(|chunk| contribution.add(chunk));
    if let Some(envelope) = &task.envelope {
        contribution.draft.tools.clone_from(&envelope.tools);
    }
    contribution
}
