//! Tools on offer: their definitions in the prompt, and the room that is left for what they bring.

use kitbag_core::assembly::OutputForm;
use kitbag_core::context::McpServer;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::tokens::{TokenCounter, Tokens};

use super::super::{Contribution, TurnError, TurnPrompt, TurnRequest, turn};
use super::Engine;
use crate::skill::StartedServers;
use crate::tool::Tools;
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
        counter: &(dyn TokenCounter + Sync),
    ) -> Result<TurnPrompt, TurnError> {
        let form = request.prompt.settings.form;
        let again = self.starter.is_some().then(|| request.clone());
        let none = StartedServers::default();
        let prompt = Box::pin(self.prompt_offering(request, &none, counter)).await?;
        let servers = &prompt.composed.mcp_servers;
        // Which skills are active is known once the conversation was read.
        let Some(again) = again.filter(|_| !servers.is_empty()) else {
            return Ok(prompt);
        };
        let started = self.started(form, servers).await;
        if started.tools.is_empty() && started.problems.is_empty() {
            return Ok(prompt);
        }
        let mut prompt = Box::pin(self.prompt_offering(again, &started, counter)).await?;
        prompt.tools = started.tools;
        Ok(prompt)
    }

    /// The prompt of a turn, with room for steps unless it needs the whole budget itself.
    async fn prompt_offering(
        &self,
        mut request: TurnRequest,
        started: &StartedServers,
        counter: &(dyn TokenCounter + Sync),
    ) -> Result<TurnPrompt, TurnError> {
        let settings = &request.prompt.settings;
        let mut offered = self.offered(settings.form, settings.budget, &started.tools);
        let problems = &mut offered.contribution.problems;
        problems.extend(started.problems.iter().cloned());
        request.contributions.push(offered.contribution);
        let Some(room) = offered.room else {
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

    /// Starts the servers of active skills, where this form of a prompt carries calls.
    pub(super) async fn started(&self, form: OutputForm, servers: &[McpServer]) -> StartedServers {
        match &self.starter {
            Some(starter) if carries(form) && !servers.is_empty() => {
                starter.start(servers.to_vec()).await
            }
            _ => StartedServers::default(),
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

fn carries(form: OutputForm) -> bool {
    Dialect::of(form).is_some_and(|dialect| dialect != Dialect::Flat)
}
