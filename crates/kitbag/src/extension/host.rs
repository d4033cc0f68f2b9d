//! The extensions of one run: each phase is entered one extension after the other, and what they do is gathered for the
//! engine to follow.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kitbag_core::inject::{
    ContextMessage, CooldownReading, EntryAction, Held, InjectionPlan, ThrottleState, plan,
};
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_store::{ExtensionChange, ExtensionState, TurnId};
use serde_json::Value;

use super::run::{About, Action};
use super::worker::{Outcome, Worker};
use super::{AnyExtension, Phase, Run, StateScope};
use crate::engine::TurnRequest;
use crate::tool::Tools;

/// The extensions of an engine.
#[derive(Clone)]
pub(crate) struct Extensions {
    all: Vec<Arc<dyn AnyExtension>>,
    /// The longest that one may take for a phase.
    pub(crate) time: Duration,
}

impl Default for Extensions {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            time: Duration::from_secs(5),
        }
    }
}

impl fmt::Debug for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

impl Extensions {
    pub(crate) fn add(&mut self, extension: Arc<dyn AnyExtension>) {
        self.all.push(extension);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|one| one.name())
    }
}

/// An extension in one run.
struct Member {
    extension: Arc<dyn AnyExtension>,
    worker: Option<Worker>,
    run: Run,
    /// Set when it has panicked or taken too long.
    is_out: bool,
}

/// The extension that ended a run, and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) extension: String,
    pub(crate) reason: String,
}

/// The actions of an extension in a phase, for the record.
pub(crate) struct PhaseNote {
    pub(crate) result: String,
    pub(crate) time: Duration,
}

/// The extensions of one run, and what they have asked for.
pub(crate) struct ExtensionHost {
    members: Vec<Member>,
    time: Duration,
    step: u32,
    throttle: ThrottleState,
    /// Messages for the next request.
    pending: Vec<ContextMessage>,
    excluded: BTreeSet<String>,
    only: Option<BTreeSet<String>>,
    refused: Option<String>,
    /// The model, and the extension that has set it.
    pub(crate) model: Option<(String, String)>,
    pub(crate) parameters: BTreeMap<String, Value>,
    pub(crate) ended: Option<Ended>,
    /// Problems that were not reported yet.
    pub(crate) problems: Vec<Problem>,
    /// Actions that the record does not tell yet.
    pub(crate) told: Vec<PhaseNote>,
}

impl ExtensionHost {
    /// The extensions of a turn, with what they have kept and what was injected when.
    pub(crate) fn new(
        extensions: &Extensions,
        turn: &TurnRequest,
        id: Option<TurnId>,
        tools: &Tools,
        (kept, throttle): (ExtensionState, ThrottleState),
    ) -> Self {
        let incoming = turn.memory.as_ref().map(|memory| &memory.incoming);
        let specs = tools.specs().into_iter();
        let about = Arc::new(About {
            message: turn.prompt.current.content.text().into_owned(),
            sender: incoming.map(|incoming| incoming.sender.clone()),
            channel: incoming.map(|incoming| incoming.channel.clone()),
            agent: turn.agent.as_ref().and_then(|agent| agent.agent.clone()),
            turn: id,
            tools: specs.map(|spec| spec.definition).collect(),
        });
        let member = |extension: &Arc<dyn AnyExtension>| {
            let of = |values: &kitbag_store::ExtensionValues| {
                values.get(extension.name()).cloned().unwrap_or_default()
            };
            let values = [
                (StateScope::Run, BTreeMap::new()),
                (StateScope::Conversation, of(&kept.conversation)),
                (StateScope::Tenant, of(&kept.tenant)),
            ];
            Member {
                extension: Arc::clone(extension),
                worker: None,
                run: Run {
                    about: Arc::clone(&about),
                    step: 0,
                    values: values.into(),
                    changes: BTreeMap::new(),
                    actions: Vec::new(),
                },
                is_out: false,
            }
        };
        Self {
            members: extensions.all.iter().map(member).collect(),
            time: extensions.time,
            step: 0,
            throttle,
            pending: Vec::new(),
            excluded: BTreeSet::new(),
            only: None,
            refused: None,
            model: None,
            parameters: BTreeMap::new(),
            ended: None,
            problems: Vec::new(),
            told: Vec::new(),
        }
    }

    /// Returns true if there is nobody to enter a phase.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Lets each extension work in a phase.
    pub(crate) async fn enter(&mut self, phase: Phase) {
        for at in 0..self.members.len() {
            let member = self.members.get_mut(at).filter(|member| !member.is_out);
            let Some(member) = member else {
                continue;
            };
            let begun = Instant::now();
            let name = member.extension.name().to_owned();
            member.run.step = self.step;
            match member.enter(&phase, self.time).await {
                Ok(actions) => {
                    if !actions.is_empty() {
                        let told: Vec<String> = actions.iter().map(Action::to_string).collect();
                        let result = format!("{name}, {}: {}", phase.as_str(), told.join(", "));
                        let time = begun.elapsed();
                        self.told.push(PhaseNote { result, time });
                    }
                    for action in actions {
                        self.follow(&name, action);
                    }
                }
                Err(problem) => {
                    tracing::error!(
                        event = "extension_failed",
                        extension = name,
                        phase = phase.as_str(),
                        problem
                    );
                    let message = format!("{problem} at {}", phase.as_str());
                    let source = format!("extension {name}");
                    self.problems
                        .push(Problem::new(source, ProblemKind::Failed, message.clone()));
                    let result = format!("{name}: {message}");
                    let time = begun.elapsed();
                    self.told.push(PhaseNote { result, time });
                }
            }
        }
    }

    fn follow(&mut self, extension: &str, action: Action) {
        match action {
            Action::Inject(message) => self.pending.push(message),
            Action::ExcludeTool(name) => drop(self.excluded.insert(name)),
            Action::OnlyTools(names) => {
                let names: BTreeSet<String> = names.into_iter().collect();
                // Two that choose leave what both chose.
                self.only = Some(match self.only.take() {
                    Some(before) => before.intersection(&names).cloned().collect(),
                    None => names,
                });
            }
            Action::SetModel(name) => self.model = Some((name, extension.to_owned())),
            Action::SetParameter(name, value) => drop(self.parameters.insert(name, value)),
            Action::RefuseCall(reason) => drop(self.refused.get_or_insert(reason)),
            Action::Stop(reason) => {
                let extension = extension.to_owned();
                self.ended.get_or_insert(Ended { extension, reason });
            }
        }
    }

    /// The next step begins.
    pub(crate) fn next_step(&mut self) {
        self.step = self.step.saturating_add(1);
    }

    /// The messages that the first request of the run is to hold, which are planned with all others.
    pub(crate) fn take_first(&mut self) -> Vec<ContextMessage> {
        std::mem::take(&mut self.pending)
    }

    /// The messages that a later request is to hold, and those that are not due yet. What is to be consumed
    /// waits until it is due.
    pub(crate) fn take_due(&mut self) -> (Vec<ContextMessage>, Vec<Held>) {
        let pending = std::mem::take(&mut self.pending);
        let InjectionPlan { emitted, held, .. } =
            plan(&pending, &self.throttle, CooldownReading::default());
        let is_held = |message: &ContextMessage| held.iter().any(|one| one.key == message.key);
        let waits = |message: &ContextMessage| message.consume_after_emit && is_held(message);
        self.pending = pending.into_iter().filter(waits).collect();
        (emitted, held)
    }

    /// Puts messages back that [`take_due`](Self::take_due) gave and that no request held.
    pub(crate) fn put_back(&mut self, messages: Vec<ContextMessage>) {
        self.pending.splice(..0, messages);
    }

    /// Returns true if messages wait for a request.
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// A request that held these messages was sent.
    pub(crate) fn sent<'m>(&mut self, held: impl Iterator<Item = &'m ContextMessage>) {
        // What stood in it was emitted, whether its cooldown was over or not.
        let held: Vec<ContextMessage> = held
            .map(|message| message.clone().with_cooldown_turns(0))
            .collect();
        let change = plan(&held, &self.throttle, CooldownReading::default()).change;
        // It was planned for this very state.
        let _ = self.throttle.commit(&change);
    }

    /// The tools without those that were left out; none where no tool was.
    pub(crate) fn tools(&self, tools: &Tools) -> Option<Tools> {
        let is_offered = |name: &str| self.left_out(name).is_none();
        let specs = tools.specs();
        let mut names = specs.iter().map(|spec| spec.definition.name.as_str());
        match names.all(is_offered) {
            true => None,
            false => Some(tools.clone().only(is_offered)),
        }
    }

    /// The reason why a call is not made, if one was given.
    pub(crate) fn take_refusal(&mut self, tool: &str) -> Option<String> {
        let refused = self.refused.take();
        let ended = self.ended.as_ref().map(Ended::to_string);
        ended.or(refused).or_else(|| self.left_out(tool))
    }

    fn left_out(&self, tool: &str) -> Option<String> {
        let is_chosen = self.only.as_ref().is_none_or(|only| only.contains(tool));
        let is_offered = is_chosen && !self.excluded.contains(tool);
        (!is_offered).then(|| format!("`{tool}` is left out of this turn"))
    }

    /// The leavings of a turn that has ended well: the values of extensions, and the messages that wait for a
    /// prompt to be consumed by.
    pub(crate) fn kept(&mut self) -> (Vec<ExtensionChange>, Vec<EntryAction>) {
        let members = std::mem::take(&mut self.members).into_iter();
        let members = members.filter(|member| !member.is_out);
        let changes = members.flat_map(|member| {
            let name = member.extension.name().to_owned();
            member.run.kept(&name).collect::<Vec<_>>()
        });
        let waiting = std::mem::take(&mut self.pending).into_iter();
        let waiting = waiting.filter(|one| one.consume_after_emit && one.is_prompt_injected());
        let entries = waiting.map(|message| EntryAction::Upsert { message });
        (changes.collect(), entries.collect())
    }
}

impl Member {
    /// Enters a phase, and keeps the extension's changes to its values if it succeeds.
    async fn enter(&mut self, phase: &Phase, time: Duration) -> Result<Vec<Action>, String> {
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => {
                let started = Worker::start(Arc::clone(&self.extension));
                started.map_err(|error| format!("it has no thread to run on: {error}"))?
            }
        };
        let entered = worker.enter(phase.clone(), self.run.clone());
        match tokio::time::timeout(time, entered).await {
            Ok(Outcome::Done(Ok(run))) => {
                self.worker = Some(worker);
                self.run = run;
                Ok(std::mem::take(&mut self.run.actions))
            }
            Ok(Outcome::Done(Err(error))) => {
                self.worker = Some(worker);
                Err(format!("it failed: {error}"))
            }
            Ok(Outcome::Panicked) => {
                self.is_out = true;
                Err("it stopped with a bug, and is left out of this turn".to_owned())
            }
            Err(_) => {
                self.is_out = true;
                let time = time.as_millis();
                Err(format!(
                    "it took longer than {time} ms, and is left out of this turn"
                ))
            }
        }
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { extension, reason } = self;
        write!(f, "the extension `{extension}` ended the turn: {reason}")
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inject(message) => write!(f, "injects `{}`", message.key),
            Self::ExcludeTool(name) => write!(f, "leaves out `{name}`"),
            Self::OnlyTools(names) => write!(f, "leaves only `{}`", names.join("`, `")),
            Self::SetModel(name) => write!(f, "asks {name}"),
            Self::SetParameter(name, _) => write!(f, "sets `{name}`"),
            Self::RefuseCall(_) => f.write_str("refuses the call"),
            Self::Stop(reason) => write!(f, "ends the turn: {reason}"),
        }
    }
}
