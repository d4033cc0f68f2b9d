//! The options of a pack, shared by the commands that make one.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use kitbag::core::assembly::{FitStrategy, OutputForm};
use kitbag::core::budget::parse_tokens;
use kitbag::core::envelope::TaskType;
use kitbag::core::tokens::Tokens;
use kitbag::pack::PackRequest;
use kitbag::tokens::Counter;
use kitbag::workspace::git::{Changes, Repository};

use super::pins;
use super::task::{Stdin, TaskArgs};
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
    /// The most tokens that the prompt may have, such as 8000, 32k (32,000) or 32ki (32,768); of a
    /// form in JSON all that is printed counts
    #[arg(long, value_name = "TOKENS", default_value = "32k", value_parser = parse_tokens, allow_negative_numbers = true)]
    budget: Tokens,
    #[command(flatten)]
    counter: CounterArgs,
    /// What kind of task it is: implement, debug, refactor, test or analyze; told from the task
    /// where it is not given
    #[arg(long, value_name = "TYPE", value_parser = |text: &str| text.parse::<TaskType>())]
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
    /// Does not ask git: no history, and .gitignore files are all that is known of ignored files
    #[arg(long, conflicts_with = "diff")]
    no_git: bool,
    /// How chunks are chosen
    #[arg(long, value_enum, default_value_t = StrategyArg::Optimal)]
    strategy: StrategyArg,
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
}

#[derive(Clone, Copy, ValueEnum)]
enum StrategyArg {
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
        let (mut task, attachment) = self.task.read(given, stdin)?;
        if task.trim().is_empty() && is_change {
            task = REVIEW.to_owned();
        }
        let mut request = PackRequest::new(&self.root, task).with_budget(self.budget);
        request.attachment = attachment;
        request.task_type = self.task_type;
        request.include.clone_from(&self.include);
        request.exclude.clone_from(&self.exclude);
        let pins = self.pin.iter().map(|pin| pins::pin(&self.root, pin));
        request.pins = pins.collect::<Result<_, Failure>>()?;
        request.changes = self.changes();
        request.form = self.form();
        request.line_numbers = self.line_numbers;
        request.use_git = !self.no_git;
        request.strategy = match self.strategy {
            StrategyArg::Optimal => FitStrategy::Optimal,
            StrategyArg::Greedy => FitStrategy::Greedy,
        };
        request.model = self.counter.model().map(String::from);
        request.traits = traits.unwrap_or_default();
        request.cache_folder.clone_from(&self.cache_dir);
        let needs_message = matches!(request.form, OutputForm::Anthropic | OutputForm::OpenAi);
        if needs_message && request.task.trim().is_empty() {
            let form = request.form.as_str();
            return Err(Failure::usage(format_args!(
                "the form `{form}` ends in a message, and there is no task"
            ))
            .hint("say what is to be done: `kitbag pack \"…\"`"));
        }
        Ok((counter, request))
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
        Err(Failure::usage(format_args!(
            "`{word}` is a revision, and stands where the task does"
        ))
        .hint(format_args!(
            "`--diff={word}` packs what was changed since then"
        )))
    }

    /// Whether the options alone say what to do.
    pub(crate) fn has_task(&self) -> bool {
        self.has_task_file() || self.diff.is_some() || self.staged
    }

    /// Whether the task is in a file.
    pub(crate) fn has_task_file(&self) -> bool {
        self.task.task_file.is_some()
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

    fn form(&self) -> OutputForm {
        match self.format {
            FormatArg::Prompt => OutputForm::Pack,
            FormatArg::Markdown => OutputForm::Markdown,
            FormatArg::Xml => OutputForm::Xml,
            FormatArg::Json => OutputForm::Payload,
            FormatArg::Anthropic => OutputForm::Anthropic,
            FormatArg::Openai => OutputForm::OpenAi,
        }
    }
}
