//! The options of a pack, shared by the commands that make one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use kitbag::core::assembly::{FitStrategy, OutputForm};
use kitbag::core::budget::parse_input;
use kitbag::core::envelope::{TaskEnvelope, TaskType};
use kitbag::core::tokens::Tokens;
use kitbag::gather::OpenApi;
use kitbag::pack::PackRequest;
use kitbag::tokens::{Counter, ModelProfile};
use kitbag::workspace::git::{Changes, Repository};

use super::place::place;
use super::task::{Stdin, TaskArgs};
use super::{envelope, pins};
use crate::counter::CounterArgs;
use crate::failure::Failure;

/// What to pack, and how.
#[derive(clap::Args)]
pub(crate) struct PackArgs {
    #[command(flatten)]
    task: TaskArgs,
    /// The folder of the project
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
    /// Limit the prompt to this many tokens, such as 8000, 32k (32,000), 32ki (32,768), or the
    /// input's share of a window, as `total=8000,input=70%`; of a form in JSON all that is printed
    /// counts [default: the input of the envelope's budget, or 32k, or less where the model takes less]
    #[arg(long, value_name = "TOKENS", value_parser = parse_input, allow_negative_numbers = true)]
    budget: Option<Tokens>,
    /// Reads the task, its type, its budget, its tools and the context gathered so far from this
    /// `TaskEnvelope` as JSON; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "task_file")]
    envelope: Option<PathBuf>,
    #[command(flatten)]
    counter: CounterArgs,
    /// Type of the task: implement, debug, refactor, test or analyze [default: inferred from
    /// the task]
    #[arg(long, value_name = "TYPE")]
    task_type: Option<TaskType>,
    /// Looks only at files that match this pattern, as in a .gitignore file; may be repeated
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    /// Leaves out files that match this pattern; may be repeated
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Shows this file in any case; may be repeated
    #[arg(long, value_name = "FILE")]
    pin: Vec<String>,
    /// Packs what was changed, for review: since the last commit, or since REV, which follows after
    /// `=` as in `--diff=main`
    #[arg(long, value_name = "REV", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    diff: Option<String>,
    /// Packs what is staged, for review
    #[arg(long, conflicts_with_all = ["diff", "no_git"])]
    staged: bool,
    /// The form of the prompt
    #[arg(long, value_enum, default_value_t = FormatArg::Prompt)]
    format: FormatArg,
    /// Puts its number before each line of code
    #[arg(long)]
    line_numbers: bool,
    /// Runs no git: there is no history, and only .gitignore files say what is ignored
    #[arg(long, conflicts_with = "diff")]
    no_git: bool,
    /// Strategy that chooses chunks
    #[arg(long, value_enum, default_value_t = StrategyArg::Optimal)]
    strategy: StrategyArg,
    /// Looks closely at no more files than this; without it, at as many as the budget could show
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_files: Option<u64>,
    /// Shows the tree of the project down to this depth
    #[arg(long, value_name = "N", default_value_t = 3)]
    depth: usize,
    /// Shows this many of the last commits, where the task needs them
    #[arg(long, value_name = "N", default_value_t = 5)]
    commits: usize,
    /// Adds a summary of this OpenAPI description, a file below the root; may be repeated
    #[arg(long, value_name = "FILE")]
    openapi: Vec<String>,
    /// The folder of the cache
    #[arg(long, value_name = "FOLDER", env = "KITBAG_CACHE_DIR")]
    cache_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum FormatArg {
    /// A text that ends in the request
    Prompt,
    /// A Markdown document
    Markdown,
    /// A text in tags
    Xml,
    /// The parts of the prompt as JSON
    Json,
    /// A request to the Anthropic Messages API
    Anthropic,
    /// A request to the OpenAI Chat Completions API
    Openai,
    /// A request to the OpenAI Responses API
    Responses,
}

/// The ways to choose chunks.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum StrategyArg {
    /// The greatest worth within the budget
    Optimal,
    /// In the order of the scores, each as detailed as still fits
    Greedy,
}

/// What is asked of a change when nothing else is.
const REVIEW: &str = "Review this change.";

impl PackArgs {
    /// The counter and the request.
    pub(crate) fn request(
        &self,
        given: Option<&str>,
        stdin: Stdin,
    ) -> Result<(Counter, PackRequest), Failure> {
        let (counter, traits) = self.counter.counter()?;
        let is_change = self.diff.is_some() || self.staged;
        let stdin = match stdin {
            // A change needs no task.
            Stdin::TaskOrAttached if is_change => Stdin::Attached,
            stdin => stdin,
        };
        self.check_revision(given)?;
        let envelope = self.read_envelope(given)?;
        let (given, stdin) = match &envelope {
            Some(envelope) => (Some(envelope.user_request.as_str()), Stdin::Ignored),
            None => (given, stdin),
        };
        let (mut task, attachment) = self.task.read(given, stdin)?;
        if task.trim().is_empty() && is_change {
            task = REVIEW.to_owned();
        }
        let of = envelope.as_ref();
        let budget = self
            .budget
            .or(of.map(|envelope| envelope.token_budget.input()));
        let model = self.counter.model().map(ModelProfile::find);
        let usual = || ModelProfile::default_budget(model.and_then(Result::ok));
        let budget = budget.unwrap_or_else(usual);
        let mut request = PackRequest::new(&self.root, task).with_budget(budget);
        let survey = &mut request.survey;
        survey.attachment = attachment;
        survey.task_type = self.task_type.or(of.map(|envelope| envelope.task_type));
        survey.envelope = envelope;
        survey.include.clone_from(&self.include);
        survey.exclude.clone_from(&self.exclude);
        let pins = self.pin.iter().map(|pin| pins::pin(&self.root, pin));
        survey.pins = pins.collect::<Result<_, Failure>>()?;
        survey.changes = self.changes();
        survey.use_git = !self.no_git;
        survey.cache_folder.clone_from(&self.cache_dir);
        let most = self.max_files.map(usize::try_from);
        survey.limits.max_files = most.map(|most| most.unwrap_or(usize::MAX));
        survey.limits.depth = self.depth;
        survey.limits.commits = self.commits;
        for path in &self.openapi {
            let path = place(&self.root, path).map_err(|misplaced| misplaced.of("--openapi"))?;
            survey.gatherers.push(Arc::new(OpenApi::new(path)));
        }
        let options = &mut request.options;
        options.form = self.format.into();
        options.line_numbers = self.line_numbers;
        options.strategy = self.strategy.into();
        options.model = self.counter.model().map(String::from);
        options.traits = traits.unwrap_or_default();
        if options.form.needs_message() && request.survey.task.trim().is_empty() {
            let form = request.options.form.as_str();
            let what = format!("the form `{form}` ends in a message, and there is no task");
            let hint = "say what is to be done: `kitbag pack \"…\"`";
            return Err(Failure::usage(what).hint(hint));
        }
        Ok((counter, request))
    }

    fn read_envelope(&self, given: Option<&str>) -> Result<Option<TaskEnvelope>, Failure> {
        let Some(file) = &self.envelope else {
            return Ok(None);
        };
        if given.is_some() {
            let message = "the task is in the file of `--envelope`, and another is given";
            return Err(Failure::usage(message).hint("leave out one of them"));
        }
        envelope::read(file).map(Some)
    }

    /// Fails where a revision was meant and would be taken for the task, as in `--diff HEAD~2`.
    pub(crate) fn check_revision(&self, given: Option<&str>) -> Result<(), Failure> {
        let given = given.filter(|_| self.diff.as_deref() == Some(""));
        let Some(word) = given.filter(|given| !given.contains(char::is_whitespace)) else {
            return Ok(());
        };
        // Where git is not to be had, whoever asks for the change says so.
        let is_revision = match Repository::discover(&self.root) {
            Ok(Some(repository)) => repository.diff(&Changes::Since(word.to_owned())).is_ok(),
            _ => false,
        };
        if !is_revision {
            return Ok(());
        }
        let what = format!("`{word}` is a revision, and stands where the task does");
        let hint = format!("`--diff={word}` packs what was changed since then");
        Err(Failure::usage(what).hint(hint))
    }

    /// Whether the options alone say what to do.
    pub(crate) fn has_task(&self) -> bool {
        self.has_task_file() || self.diff.is_some() || self.staged
    }

    /// Whether the task is in a file, alone or in an envelope.
    pub(crate) fn has_task_file(&self) -> bool {
        self.task.task_file.is_some() || self.envelope.is_some()
    }

    /// The folder of the cache, where it is named.
    pub(crate) fn cache_dir(&self) -> Option<&Path> {
        self.cache_dir.as_deref()
    }

    /// The folder of the project.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn changes(&self) -> Option<Changes> {
        match self.diff.as_deref() {
            _ if self.staged => Some(Changes::Staged),
            Some("") => Some(Changes::Uncommitted),
            Some(revision) => Some(Changes::Since(revision.to_owned())),
            None => None,
        }
    }
}

impl From<FormatArg> for OutputForm {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Prompt => Self::Pack,
            FormatArg::Markdown => Self::Markdown,
            FormatArg::Xml => Self::Xml,
            FormatArg::Json => Self::Payload,
            FormatArg::Anthropic => Self::Anthropic,
            FormatArg::Openai => Self::OpenAi,
            FormatArg::Responses => Self::Responses,
        }
    }
}

impl From<StrategyArg> for FitStrategy {
    fn from(strategy: StrategyArg) -> Self {
        match strategy {
            StrategyArg::Optimal => Self::Optimal,
            StrategyArg::Greedy => Self::Greedy,
        }
    }
}
