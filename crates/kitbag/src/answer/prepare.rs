//! Everything between a message that is kept and its first request: extensions, the choice of the model, and the prompt.

use kitbag_core::inject::ThrottleState;
use kitbag_core::record::{RouteBy, RouteRecord};
use kitbag_layout::Declared;
use kitbag_store::{ExtensionState, StoreError};

use super::nodes::Nodes;
use super::{AnswerError, Kept, Stages};
use crate::engine::{Contribution, Engine, TurnPrompt, TurnRequest};
use crate::extension::{ExtensionHost, Phase};
use crate::provider::Provider;
use crate::route::Route;
use crate::wire::Request;

/// The first request of a turn, and whom it is for.
pub(super) struct Prepared {
    /// The engine for the chosen model, if it is another one.
    pub(super) engine: Option<Box<Engine>>,
    /// The nodes that follow, where nodes answer.
    pub(super) nodes: Option<Box<Nodes>>,
    pub(super) prompt: TurnPrompt,
    pub(super) request: Request,
    pub(super) route: Option<Route>,
}

impl Engine {
    /// The extensions of a turn, with what they have kept.
    pub(super) async fn extension_host(
        &self,
        turn: &TurnRequest,
        kept: Option<&Kept<'_>>,
    ) -> Result<ExtensionHost, StoreError> {
        let (mut values, mut throttle) = (ExtensionState::default(), ThrottleState::default());
        if let Some(kept) = kept.filter(|_| !self.extensions.is_empty()) {
            let id = kept.lease.turn.conversation();
            values = kept.store.extension_state(id).await?;
            throttle = kept.store.state(id).await?.throttle;
        }
        let tools = &self.toolbox.tools;
        let id = kept.map(|kept| kept.lease.turn);
        let kept = (values, throttle);
        Ok(ExtensionHost::new(&self.extensions, turn, id, tools, kept))
    }

    /// Makes the first request of a turn that was sanitised.
    pub(super) async fn prepare(
        &self,
        mut turn: TurnRequest,
        host: &mut ExtensionHost,
        stages: &mut Stages,
    ) -> Result<Box<Prepared>, AnswerError> {
        for phase in [Phase::RunStart, Phase::StepStart, Phase::BeforeInference] {
            Box::pin(host.enter(phase)).await;
        }
        stages.tell_extensions(host);
        if let Some(ended) = host.ended.take() {
            return Err(ended.into());
        }
        let route = match host.model.take() {
            Some((model, extension)) => Some(self.set_by_extension(model, extension)),
            None => Box::pin(self.route(&turn)).await,
        };
        if let Some(route) = &route {
            stages.end("route", &route.record);
        }
        let tools = host.tools(&self.toolbox.tools);
        let engine = match (route.as_ref().and_then(|route| route.engine.clone()), tools) {
            (Some(engine), Some(tools)) => Some(Box::new(engine.with_tools(tools))),
            (None, Some(tools)) => Some(Box::new(self.clone().with_tools(tools))),
            (engine, None) => engine,
        };
        let mut told = Contribution::default();
        told.problems = std::mem::take(&mut host.problems);
        turn.contributions.push(told);
        turn.injected.extend(host.take_first());
        let asked = engine.as_deref().unwrap_or(self);
        let made = Box::pin(asked.request_routed(turn, self, route.as_ref()));
        let (nodes, prompt, request) = made.await?;
        // Boxed: handed on as it is, it would take most of a small thread's stack.
        Ok(Box::new(Prepared {
            engine,
            nodes,
            prompt,
            request,
            route,
        }))
    }

    /// The request of a turn that was made for another engine, `from` which its model was routed here.
    pub(super) async fn request_routed(
        &self,
        mut turn: TurnRequest,
        from: &Self,
        route: Option<&Route>,
    ) -> Result<(Option<Box<Nodes>>, TurnPrompt, Request), AnswerError> {
        let prompt = &mut turn.prompt;
        // What the program has set for this turn stays as it is.
        if prompt.model == from.model {
            prompt.model.clone_from(&self.model);
        }
        if prompt.settings.traits == from.traits {
            prompt.settings.traits.clone_from(&self.traits);
        }
        if prompt.settings.budget == from.budget {
            prompt.settings.budget = self.budget;
        }
        let mut told = Contribution::default();
        told.problems.extend(route.and_then(Route::problem));
        turn.contributions.push(told);
        let (nodes, mut prompt, request) = Box::pin(self.first_request(turn)).await?;
        prompt.route = route.map(|route| route.record.clone());
        Ok((nodes, prompt, request))
    }

    /// The choice of an extension, which is the program's own. One that cannot be followed leaves the usual model.
    fn set_by_extension(&self, model: String, extension: String) -> Route {
        let opened = self.routed_to(&model, Declared::ByUser);
        let opened = opened
            .map_err(|error| error.to_string())
            .and_then(|engine| {
                let provider = engine.provider.as_deref();
                let checked = provider.map_or(Ok(()), |provider: &dyn Provider| provider.check());
                checked.map_err(|error| error.to_string()).map(|()| engine)
            });
        let (model, engine, problem) = match opened {
            Ok(engine) => (Some(model), Some(Box::new(engine)), None),
            Err(problem) => (None, None, Some(problem)),
        };
        let mut record = RouteRecord::new(RouteBy::Extension, model, "it asked for the model");
        record.name = Some(extension);
        record.problem = problem;
        Route {
            record,
            inference: None,
            engine,
        }
    }
}
