//! `kitbag ask`: a message is answered by a model, and the exchange is remembered.
//!
//! The prompt is the one that `kitbag context` shows; `--dry-run` prints the request and sends nothing.

mod message;
mod report;

use std::pin::pin;

use jiff::Timestamp;
use kitbag::answer::{Answer, AnswerError, Answering};
use kitbag::core::assembly::{AssemblySettings, ModelTraits, OutputForm};
use kitbag::engine::{PromptRequest, Sources, TurnRequest};
use kitbag::project::Project;
use kitbag::provider::{ChosenProvider, ProviderError, Providers, ReplyEvent};
use kitbag::store::MemoryRequest;
use kitbag::tokens::{Counter, ModelProfile, Vocabulary};

use crate::asked::{AskedArgs, variable};
use crate::commands::pack::summary::{say_problems, say_redacted};
use crate::failure::Failure;
use crate::model::with_chosen_model;
use crate::output::{self, one_line};
use crate::progress::Progress;
use crate::project::{ProjectArgs, find_agent};
use crate::store::{self, StoreArgs};

use message::MessageArgs;

/// Asks a model, with the context that the message needs, and remembers the exchange
///
/// The prompt holds what is remembered, the agent's own prompt and documents, and with --pack the code of
/// the folder you are in, as `kitbag context` shows it. The answer is printed as it comes; a line on
/// stderr tells its tokens and its time.
///
/// A model is named as `provider/model`, or alone where the catalogue knows its provider: anthropic
/// (ANTHROPIC_API_KEY), openai (OPENAI_API_KEY), openrouter (OPENROUTER_API_KEY), ollama, and those under
/// `providers:` in kitbag.yaml. Keys come from the environment, from a file or from a program, never from
/// an option.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    message: MessageArgs,
    #[command(flatten)]
    asked: AskedArgs,
    /// The model that answers, such as claude-opus-4-8 or ollama/llama3.2 [default: the agent's, or
    /// that of `settings: {model: …}` in kitbag.yaml]
    #[arg(
        long,
        value_name = "NAME",
        env = "KITBAG_MODEL",
        hide_env_values = true
    )]
    model: Option<String>,
    /// Remembers nothing of it, and recalls nothing
    #[arg(long)]
    no_memory: bool,
    /// Prints the request that would be sent, byte for byte, and sends nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    project: ProjectArgs,
    /// Prints the answer with its usage and its turn as JSON, when all of it has come
    #[arg(long, conflicts_with = "dry_run")]
    json: bool,
}

pub(crate) fn run(args: &Args, place: &StoreArgs) -> Result<(), Failure> {
    let message = args.message.read()?;
    let project = args.project.open_and_tell()?;
    let chosen = args.choose(&project)?;
    let (counter, traits) = counter_for(chosen.model.as_deref())?;
    let settings = AssemblySettings::new(OutputForm::Flat, args.asked.budget).with_traits(traits);
    let mut prompt = PromptRequest::new(message.as_str(), settings);
    prompt.model = chosen.model.clone().or_else(|| Some("script".to_owned()));

    let progress = Progress::start("looking at what is known");
    let workspace = args.asked.workspace(&message, &counter)?;
    let answering = Answering::new(chosen.provider.as_ref(), &counter, Timestamp::now);
    store::run(async {
        let store = match (args.no_memory, args.dry_run) {
            (true, _) => None,
            (false, true) => place.open_if_any().await?,
            (false, false) => {
                // Without a key nothing should be made or stored.
                chosen.provider.check().map_err(provider_failure)?;
                Some(place.open_or_make().await?)
            }
        };
        let store = store.map(with_chosen_model);
        let mut incoming = args.asked.incoming(store.as_ref()).await?;
        incoming.message = message.as_str().into();
        let mut sources = Sources::default();
        sources.agent = args.asked.agent(&project, &incoming.channel)?;
        let request = match args.no_memory {
            true => TurnRequest::without_memory(prompt),
            false => TurnRequest::new(MemoryRequest::new(incoming, Timestamp::now()), prompt),
        };
        sources.store = store.as_ref();
        sources.contributions.extend(workspace);
        if args.dry_run {
            let (_, request) = answering.request(sources, &request).await?;
            drop(progress);
            return Ok(output::print_exactly(&format!("{}\n", request.to_json()))?);
        }
        drop(progress);
        let mut shown = Shown::new(args.json);
        let interrupted = async {
            // Where no signal can be heard, the answer is simply not stopped.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let mut show = |event: &ReplyEvent| shown.show(event);
        let interrupted = pin!(interrupted);
        let answer = answering.answer(sources, request, &mut show, interrupted);
        let answer = answer.await;
        shown.end()?;
        args.tell(answer)
    })
}

impl Args {
    /// The provider of the model that is named here, by the agent, or by the project.
    fn choose(&self, project: &Project) -> Result<ChosenProvider, Failure> {
        let agent = match &self.asked.agent {
            Some(id) => Some(find_agent(project, id)?),
            None => match project.config.agents.as_slice() {
                [only] => Some(only),
                _ => None,
            },
        };
        let of_agent = agent.and_then(|agent| agent.model.as_deref());
        let named = self.model.as_deref().filter(|name| !name.is_empty());
        let providers = Providers::new(&project.config, &project.root, &variable);
        let chosen = match (named, of_agent) {
            (Some(model), _) => providers.choose(Some(model)),
            // The models of agents are also written for other programs, which know other names.
            (None, Some(model)) => match providers.choose(Some(model)) {
                Err(ProviderError::UnknownModel { .. }) => providers.choose(None),
                chosen => chosen,
            },
            (None, None) => providers.choose(None),
        };
        chosen.map_err(provider_failure)
    }

    /// Prints what there is to say about an answer, whole or not.
    fn tell(&self, answer: Result<Answer, AnswerError>) -> Result<(), Failure> {
        let (answer, failure) = match answer {
            Ok(answer) => (Some(Box::new(answer)), None),
            Err(AnswerError::Provider { error, came }) => (came, Some(provider_failure(error))),
            Err(AnswerError::Stopped { came }) => (came, Some(Failure::new("stopped"))),
            Err(other) => return Err(other.into()),
        };
        if let Some(answer) = &answer {
            if self.json {
                report::print_json(answer)?;
            }
            let assembly = &answer.prompt.composed.assembly;
            say_problems(&assembly.ledger.problems);
            say_redacted(&answer.prompt.composed.redacted);
            report::say(answer);
        }
        failure.map_or(Ok(()), Err)
    }
}

/// The counter of a model, and what its provider can do. A model that is not known is counted with the
/// usual vocabulary.
fn counter_for(model: Option<&str>) -> Result<(Counter, ModelTraits), Failure> {
    let profile = model.and_then(|model| ModelProfile::find(model).ok());
    let counter = profile.and_then(|profile| Counter::for_profile(profile).ok());
    let traits = profile.map(ModelTraits::from).unwrap_or_default();
    let usual = || Counter::for_vocabulary(Vocabulary::O200kBase);
    let counter = counter.map_or_else(usual, Ok).map_err(Failure::new)?;
    Ok((counter, traits))
}

/// Prints the pieces of an answer as they come.
struct Shown {
    is_quiet: bool,
    is_amid_line: bool,
    error: Option<std::io::Error>,
}

impl Shown {
    fn new(is_quiet: bool) -> Self {
        Self {
            is_quiet,
            is_amid_line: false,
            error: None,
        }
    }

    fn show(&mut self, event: &ReplyEvent) {
        if let ReplyEvent::Text(text) = event
            && !self.is_quiet
            && self.error.is_none()
            && !text.is_empty()
        {
            self.is_amid_line = !text.ends_with('\n');
            self.error = output::print_piece(text).err();
        }
    }

    /// Ends the last line.
    fn end(self) -> Result<(), Failure> {
        if let Some(error) = self.error {
            return Err(error.into());
        }
        if self.is_amid_line {
            output::print_piece("\n")?;
        }
        Ok(())
    }
}

impl From<AnswerError> for Failure {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Turn(error) => error.into(),
            AnswerError::Store(error) => error.into(),
            AnswerError::Provider { error, .. } => provider_failure(error),
            error => Self::new(&error),
        }
    }
}

/// A failure of a provider, and which option helps.
#[expect(clippy::needless_pass_by_value, reason = "maps an error")]
fn provider_failure(error: ProviderError) -> Failure {
    let hint = error.hint();
    let hint = match &error {
        ProviderError::NoKey { .. } => {
            let hint = hint.unwrap_or_default();
            Some(format!("{hint}; `--dry-run` shows the request without one"))
        }
        ProviderError::Untrusted { .. } => Some(
            "if you trust the file, name it with `--config` or KITBAG_CONFIG; or define the provider in \
             your own configuration, kitbag/kitbag.yaml in the configuration folder"
                .to_owned(),
        ),
        ProviderError::NoModel { .. } => {
            Some("name one with `--model`, as `provider/model`".to_owned())
        }
        _ => hint,
    };
    Failure::new(one_line(&error.to_string())).hint_if(hint.as_deref().map(one_line))
}
