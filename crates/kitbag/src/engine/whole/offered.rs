//! Tools on offer: their definitions in the prompt, and the room that is left for what they bring.

use std::mem;
use std::sync::Arc;

use kitbag_core::assembly::OutputForm;
use kitbag_core::context::McpServer;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::super::{Contribution, TurnError, TurnPrompt, TurnRequest, turn};
use super::Engine;
use crate::skill::{StartedServers, not_started};
use crate::tool::{ResultTool, Tool as _, Tools};
use crate::wire::Dialect;

/// Tools that a prompt offers.
pub(super) struct Offered {
    /// Their definitions, or why there are none.
    pub(super) contribution: Contribution,
    /// The tokens that are kept free for steps, where any are offered.
    room: Option<Tokens>,
}

impl Offered {
    pub(super) fn room(&self) -> Tokens {
        self.room.unwrap_or(Tokens::ZERO)
    }
}

impl Engine {
    /// The prompt of a turn with the tools of the engine and those of the skills that are active in it.
    pub(super) async fn prompt_with_tools(
        &self,
        request: TurnRequest,
        counter: Arc<dyn TokenCounter>,
    ) -> Result<TurnPrompt, TurnError> {
        let form = request.prompt.settings.form;
        let sender = sender_of(&request);
        let mut none = StartedServers::default();
        self.add_reader(&mut none, sender.as_deref(), &counter);
        let again = request.clone();
        let prompt = Box::pin(self.prompt_offering(request, none, counter.as_ref())).await?;
        // Which skills are active is known once the conversation was read.
        let mut started = self.started(form, &prompt.composed.mcp_servers).await;
        if started.tools.is_empty() && started.problems.is_empty() {
            return Ok(prompt);
        }
        self.add_reader(&mut started, sender.as_deref(), &counter);
        Box::pin(self.prompt_offering(again, started, counter.as_ref())).await
    }

    /// Adds a tool that reads cut results, where there are tools to have results, the conversation is kept, and no other
    /// tool reads them.
    pub(super) fn add_reader(
        &self,
        started: &mut StartedServers,
        sender: Option<&str>,
        counter: &Arc<dyn TokenCounter>,
    ) {
        let (Some(store), Some(sender)) = (&self.store, sender) else {
            return;
        };
        let all = self.toolbox.tools.clone().and(&started.tools);
        if all.is_empty() || all.spec(ResultTool::NAME).is_some() {
            return;
        }
        started.tools = mem::take(&mut started.tools).with(ResultTool {
            store: store.clone(),
            sender: sender.to_owned(),
            counter: Arc::clone(counter),
        });
    }

    /// The prompt of a turn, with room for steps unless it needs the whole budget itself.
    async fn prompt_offering(
        &self,
        mut request: TurnRequest,
        started: StartedServers,
        counter: &(dyn TokenCounter + Sync),
    ) -> Result<TurnPrompt, TurnError> {
        let settings = &request.prompt.settings;
        let mut offered = self.offered(settings.form, settings.budget, &started.tools);
        let problems = &mut offered.contribution.problems;
        problems.extend(started.problems);
        request.contributions.push(offered.contribution);
        let mut prompt = Box::pin(self.prompt_with_room(request, offered.room, counter)).await?;
        prompt.tools = started.tools;
        Ok(prompt)
    }

    async fn prompt_with_room(
        &self,
        request: TurnRequest,
        room: Option<Tokens>,
        counter: &(dyn TokenCounter + Sync),
    ) -> Result<TurnPrompt, TurnError> {
        let Some(room) = room else {
            return Box::pin(turn(self.sources(), request, counter)).await;
        };
        let mut smaller = request.clone();
        let budget = &mut smaller.prompt.settings.budget;
        *budget = budget.saturating_sub(room);
        match Box::pin(turn(self.sources(), smaller, counter)).await {
            Ok(mut prompt) => {
                prompt.room_for_steps = room;
                Ok(prompt)
            }
            Err(TurnError::Assemble(_)) => Box::pin(turn(self.sources(), request, counter)).await,
            Err(error) => Err(error),
        }
    }

    /// Starts the servers of active skills, where this form of a prompt carries calls. A provider that is a program
    /// starts them itself.
    pub(super) async fn started(&self, form: OutputForm, servers: &[McpServer]) -> StartedServers {
        if !carries(form) || servers.is_empty() {
            return StartedServers::default();
        }
        match &self.starter {
            Some(starter) => starter.start(servers.to_vec()).await,
            None => {
                let servers = servers.iter();
                let problem =
                    |server: &McpServer| not_started(server, "nothing here starts programs");
                StartedServers::new(Tools::default(), servers.map(problem).collect())
            }
        }
    }

    /// The definitions of the engine's tools and of others; none where there are no tools, or where the form
    /// of the prompt carries no calls, which is a problem.
    pub(super) fn offered(&self, form: OutputForm, budget: Tokens, others: &Tools) -> Offered {
        let mut contribution = Contribution::default();
        let tools = self.toolbox.tools.clone().and(others);
        if tools.is_empty() {
            return Offered {
                contribution,
                room: None,
            };
        }
        if carries(form) {
            let specs = tools.specs().into_iter();
            contribution.draft.tools = specs.map(|spec| spec.definition).collect();
        } else {
            let message = "this provider takes no tools, so none are offered";
            let problem = Problem::new("tools", ProblemKind::NotCarried, message);
            let hint = "a model over HTTP or from a script can call tools";
            contribution.problems.push(problem.with_hint(hint));
        }
        Offered {
            contribution,
            room: carries(form).then_some(Tokens(budget.0 / 3)),
        }
    }
}

/// The sender of a turn that is remembered.
pub(super) fn sender_of(request: &TurnRequest) -> Option<String> {
    let memory = request.memory.as_ref();
    memory.map(|memory| memory.incoming.sender.clone())
}

fn carries(form: OutputForm) -> bool {
    Dialect::of(form).is_some_and(|dialect| dialect != Dialect::Flat)
}
