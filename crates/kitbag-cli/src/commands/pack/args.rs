//! The options of a pack, shared by the commands that make one.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::ValueEnum;
use kitbag::core::assembly::{FitStrategy, OutputForm};
use kitbag::core::budget::parse_input;
use kitbag::core::envelope::{TaskEnvelope, TaskType};
use kitbag::core::tokens::Tokens;
use kitbag::gather::OpenApi;
use kitbag::layout::FileProblem;
use kitbag::pack::PackRequest;
use kitbag::tokens::{Counter, ModelProfile};
use kitbag::wire::Dialect;
use kitbag::workspace::git::{Changes, Repository};

use super::place::place;
use super::task::{Stdin, TaskArgs};
use super::{envelope, pins, remote};
use crate::counter::CounterArgs;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::project;

/// The options of a pack, for `pack` and `explain`.
#[derive(clap::Args)]
pub(crate) struct PackArgs {
    #[command(flatten)]
    task: TaskArgs,
    /// The folder of the project
    #[arg(
        short = 'C',
        long,
        value_name = "FOLDER",
        default_value = ".",
        help_heading = FILES
    )]
    root: PathBuf,
    /// Pack another repository, which git fetches into the cache: a URL, or `owner/name` on GitHub
    #[arg(long, value_name = "URL", conflicts_with = "root", help_heading = FILES)]
    remote: Option<String>,
    /// The folder that was fetched.
    #[arg(skip)]
    fetched: OnceLock<PathBuf>,
    /// Allow the root to be your home folder or the root of the file system
    #[arg(short, long, help_heading = FILES)]
    yes: bool,
    /// Limit the prompt to this many tokens, such as 8000, 32k (32,000) or 32ki (32,768), or to the
    /// input's share of a window, such as `total=8000,input=70%`. For forms that are JSON, the limit is
    /// for all of the output [default: the input budget of --envelope, else `pack:` in kitbag.yaml, else
    /// 32k or the model's limit if that is smaller]
    #[arg(
        short,
        long,
        value_name = "TOKENS",
        value_parser = parse_input,
        allow_negative_numbers = true,
        help_heading = PROMPT
    )]
    budget: Option<Tokens>,
    /// Read the task, its type, its budget, its tools and the context gathered so far from this
    /// `TaskEnvelope` in JSON; `-` is stdin
    #[arg(long, value_name = "FILE", conflicts_with = "task_file", help_heading = TASK)]
    envelope: Option<PathBuf>,
    #[command(flatten)]
    counter: CounterArgs,
    /// Type of the task: implement, debug, refactor, test, analyze or review [default: inferred from
    /// the task; with --diff and --staged, review unless the task says otherwise]
    #[arg(long, value_name = "TYPE", help_heading = TASK)]
    task_type: Option<TaskType>,
    /// Consider only files that match this pattern, as in a .gitignore file; may be repeated
    #[arg(short, long, value_name = "GLOB", help_heading = FILES)]
    include: Vec<String>,
    /// Leave out files that match this pattern; may be repeated
    #[arg(short = 'x', long, value_name = "GLOB", help_heading = FILES)]
    exclude: Vec<String>,
    /// Always show this: a file, its lines such as `a.rs:10-40`, a definition such as `a.rs#main`, a folder
    /// or a pattern; may be repeated
    #[arg(short, long, value_name = "FILE", help_heading = FILES)]
    pin: Vec<String>,
    /// Show as many whole files as fit, whether they match the task or not, and name the others
    #[arg(short, long, conflicts_with_all = ["diff", "staged", "max_files"], help_heading = FILES)]
    all: bool,
    /// Pack the changes since the last commit for review, or those since REV, as in `--diff=main`
    #[arg(
        long,
        value_name = "REV",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = TASK
    )]
    diff: Option<String>,
    /// Pack the staged changes for review
    #[arg(long, conflicts_with_all = ["diff", "no_git"], help_heading = TASK)]
    staged: bool,
    /// Form of the prompt
    #[arg(
        short,
        long,
        value_enum,
        default_value_t = FormatArg::Prompt,
        help_heading = PROMPT
    )]
    format: FormatArg,
    /// Limit the answer to this many tokens; only for forms that are requests
    #[arg(
        long,
        value_name = "TOKENS",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = PROMPT
    )]
    max_output: Option<u32>,
    /// Number the lines of code
    #[arg(long, help_heading = PROMPT)]
    line_numbers: bool,
    /// Do not run git: no history is used, and only .gitignore files say what is ignored
    #[arg(long, conflicts_with = "diff", help_heading = FILES)]
    no_git: bool,
    /// Way of choosing chunks
    #[arg(
        long,
        value_enum,
        default_value_t = StrategyArg::Optimal,
        help_heading = PROMPT
    )]
    strategy: StrategyArg,
    /// Parse at most this many files [default: as many as the budget could show]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = FILES
    )]
    max_files: Option<u64>,
    /// Show the project's tree down to this depth
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = PROMPT)]
    depth: usize,
    /// Show this many of the latest commits if the task needs them
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = PROMPT)]
    commits: usize,
    /// Add a summary of this OpenAPI description, a file below the root; may be repeated
    #[arg(long, value_name = "FILE", help_heading = FILES)]
    openapi: Vec<String>,
    /// Folder for the cache
    #[arg(
        long,
        value_name = "FOLDER",
        env = "KITBAG_CACHE_DIR",
        hide_env_values = true,
        help_heading = FILES
    )]
    cache_dir: Option<PathBuf>,
}

/// Headings of the help, in which thirty options would be one list otherwise.
pub(super) const TASK: &str = "Task";
const FILES: &str = "Files";
pub(super) const PROMPT: &str = "Prompt";

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
    /// The greatest sum of worths within the budget
    Optimal,
    /// By score, each chunk as detailed as still fits
    Greedy,
}

impl PackArgs {
    /// The counter and the request.
    pub(crate) fn request(
        &self,
        given: Option<&str>,
        stdin: Stdin,
    ) -> Result<(Counter, PackRequest), Failure> {
        let (counter, traits) = self.counter.counter()?;
        // Before anything is read: a walk of a home folder takes minutes.
        self.check_root()?;
        self.check_max_output()?;
        let root = self.root();
        // What a repository elsewhere says of itself is not what its reader asks for.
        let configured = match self.remote {
            Some(_) => Path::new(""),
            None => root,
        };
        let (config, mut problems) = project::config_in(configured);
        // What is wrong with agents and layouts is for the commands that use them to say.
        problems.retain(|problem| problem.key.is_empty() || problem.key.starts_with("pack"));
        project::say_problems(&problems);
        // A prompt leaves the machine: no file may be in it because its exclusion could not be read.
        if problems.iter().any(FileProblem::is_error) {
            let what = "nothing was packed: the configuration has errors, and may exclude files";
            return Err(Failure::new(what));
        }
        let habits = config.pack;
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
        let (task, attachment) = self.task.read(given, stdin)?;
        // Options win over the envelope, and the envelope over the configuration, since it is nearer to this
        // task.
        let of = envelope.as_ref();
        let budget = self
            .budget
            .or(of.map(|envelope| envelope.token_budget.input()))
            .or(habits.budget);
        let model = self.counter.model().map(ModelProfile::find);
        let usual = || ModelProfile::default_budget(model.and_then(Result::ok));
        let budget = budget.unwrap_or_else(usual);
        let mut request = PackRequest::new(root, task).with_budget(budget);
        let survey = &mut request.survey;
        survey.attachment = attachment;
        survey.task_type = self.task_type.or(of.map(|envelope| envelope.task_type));
        survey.envelope = envelope;
        survey.include.clone_from(&self.include);
        // Patterns add up: an option leaves out more, and never less than the configuration.
        survey.exclude = habits.exclude;
        survey.exclude.extend_from_slice(&self.exclude);
        let pins = self.pin.iter().map(|pin| pins::pin(root, pin, "--pin"));
        let habitual = habits.pins.iter();
        let habitual = habitual.map(|pin| pins::pin(root, pin, "`pin:` in the configuration"));
        // The configuration first: its pins are in every prompt, and stable text belongs to the front.
        survey.pins = habitual.chain(pins).collect::<Result<_, Failure>>()?;
        survey.is_all = self.all;
        survey.changes = self.changes();
        survey.use_git = !self.no_git;
        survey.cache_folder.clone_from(&self.cache_dir);
        let most = self.max_files.map(usize::try_from);
        survey.limits.max_files = most.map(|most| most.unwrap_or(usize::MAX));
        survey.limits.depth = self.depth;
        survey.limits.commits = self.commits;
        for path in &self.openapi {
            let path = place(root, path).map_err(|misplaced| misplaced.of("--openapi"))?;
            survey.gatherers.push(Arc::new(OpenApi::new(path)));
        }
        let options = &mut request.options;
        options.form = self.format.into();
        options.line_numbers = self.line_numbers;
        options.instructions = habits.instructions;
        options.max_output = self.max_output;
        options.strategy = self.strategy.into();
        options.model = self.counter.model().map(String::from);
        options.traits = traits.unwrap_or_default();
        // Checked last, when the task file, stdin and the envelope have been read.
        if options.form.needs_message() && request.survey.task.trim().is_empty() && !is_change {
            let form = request.options.form.as_str();
            let what = format!("the form `{form}` ends in a message, and there is no task");
            let hint = "say what is to be done: `kitbag pack \"…\"`";
            return Err(Failure::usage(what).hint(hint));
        }
        Ok((counter, request))
    }

    /// Fails where the limit of the answer would be lost: only a request can carry it.
    fn check_max_output(&self) -> Result<(), Failure> {
        let form = OutputForm::from(self.format);
        if self.max_output.is_none() || Dialect::of(form).is_some() {
            return Ok(());
        }
        let form = form.as_str();
        let what = format!("`--max-output` limits an answer, and the form `{form}` is no request");
        let hint = "leave it out, or choose `--format anthropic`, `openai` or `responses`";
        Err(Failure::usage(what).hint(hint))
    }

    fn read_envelope(&self, given: Option<&str>) -> Result<Option<TaskEnvelope>, Failure> {
        let Some(file) = &self.envelope else {
            return Ok(None);
        };
        if given.is_some() {
            let message = "the task is given twice: here and in the file of `--envelope`";
            return Err(Failure::usage(message).hint("leave out one of them"));
        }
        envelope::read(file).map(Some)
    }

    /// Fails where a revision was meant and would be taken for the task, as in `--diff HEAD~2`.
    pub(crate) fn check_revision(&self, given: Option<&str>) -> Result<(), Failure> {
        // Only `--diff` without a value can have lost its revision to the task.
        let given = given.filter(|_| self.diff.as_deref() == Some(""));
        let Some(word) = given.filter(|given| !given.contains(char::is_whitespace)) else {
            return Ok(());
        };
        // Where git is not to be had, whoever asks for the change says so.
        let is_revision = match Repository::discover(self.root()) {
            Ok(Some(repository)) => repository.diff(&Changes::Since(word.to_owned())).is_ok(),
            _ => false,
        };
        if !is_revision {
            return Ok(());
        }
        let what = format!("`{word}` is a revision, but it stands in the place of the task");
        let hint = format!("`--diff={word}` packs the changes since then");
        Err(Failure::usage(what).hint(hint))
    }

    /// Returns true if the options alone say what to do.
    pub(crate) fn has_task(&self) -> bool {
        self.has_task_file() || self.diff.is_some() || self.staged
    }

    /// Returns true if the task is in a file, alone or in an envelope.
    pub(crate) fn has_task_file(&self) -> bool {
        self.task.task_file.is_some() || self.envelope.is_some()
    }

    /// The folder of the cache, where it is named.
    pub(crate) fn cache_dir(&self) -> Option<&Path> {
        self.cache_dir.as_deref()
    }

    /// The folder of the project.
    pub(crate) fn root(&self) -> &Path {
        self.fetched.get().unwrap_or(&self.root)
    }

    /// Fetches the repository that is meant, if it is elsewhere.
    pub(crate) fn fetch(&self) -> Result<(), Failure> {
        if let Some(remote) = &self.remote {
            let _progress = Progress::start("fetching the repository");
            let folder = remote::fetch(remote, self.cache_dir())?;
            // Nobody else sets it.
            let _ = self.fetched.set(folder);
        }
        Ok(())
    }

    /// Refuses a root that nobody means: a whole computer, or all that a person has.
    fn check_root(&self) -> Result<(), Failure> {
        // A root that does not exist is reported when it is opened, with a better error.
        let Ok(root) = self.root().canonicalize() else {
            return Ok(());
        };
        let home = etcetera::home_dir().ok();
        let home = home.and_then(|home| home.canonicalize().ok());
        let what = match root.parent() {
            None => "the root of the file system",
            Some(_) if home.as_ref() == Some(&root) => "your home folder",
            Some(_) => return Ok(()),
        };
        if self.yes {
            return Ok(());
        }
        let what = format!("`{}` is {what}", root.display());
        Err(Failure::usage(what)
            .hint("name the folder of a project with `--root`, or pass `--yes` to pack all of it"))
    }

    fn changes(&self) -> Option<Changes> {
        match self.diff.as_deref() {
            // `--staged` excludes `--diff`, which clap has checked.
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
