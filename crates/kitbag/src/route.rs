//! Routing: which model answers a message, by rules or by a cheap model that names its class.
//!
//! Rules are looked at first, and cost nothing. A model that was asked for by name is never changed. A choice
//! that cannot be followed (no provider, no key, a file of the folder that may not choose it) and a
//! classifier that fails, takes too long or talks nonsense leave the usual model, and are reported.
//!
//! ```
//! use kitbag::Engine;
//! use kitbag::core::context::Context;
//! use kitbag::layout::config::{RouteRule, Routing};
//! use kitbag::provider::ScriptProvider;
//!
//! let mut rule = RouteRule::default();
//! rule.words = vec!["stack trace".into()];
//! rule.model = "claude-opus-4-8".into();
//! let mut routing = Routing::default();
//! routing.rules.push(rule);
//! let folder = tempfile::tempdir()?;
//! let answers = folder.path().join("answers.jsonl");
//! std::fs::write(&answers, r#"{"text": "A null pointer."}"#)?;
//! let provider = ScriptProvider::new("script", answers);
//! let engine = Engine::builder().provider(provider).routing(routing).build()?;
//!
//! let message = "Explain this stack trace.";
//! let route = pollster::block_on(engine.route(&engine.task(message))).ok_or("no routing")?;
//! let mut context = Context::new(message);
//! context.model = route.record.model.clone();
//! assert_eq!(context.model.as_deref(), Some("claude-opus-4-8"));
//! assert_eq!(route.record.reason, "the message has `stack trace`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod classify;
mod rule;

use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::record::{InferenceRecord, RouteBy, RouteRecord};
use kitbag_layout::config::{RouteClassifier, Routing};

use crate::engine::{Engine, TurnRequest};

/// The choice of the model for a turn.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Route {
    /// The choice, as the record of the turn keeps it.
    pub record: RouteRecord,
    /// The cost of asking the classifier, where it was asked.
    pub inference: Option<InferenceRecord>,
    /// The engine that asks the chosen model.
    pub(crate) engine: Option<Box<Engine>>,
}

/// A choice before anybody was asked.
enum Choice<'r> {
    Made(RouteRecord),
    Ask(&'r RouteClassifier),
}

impl Engine {
    /// Chooses the model of a turn; none where there is no routing, or where the model was named. The
    /// classifier is asked if no rule holds. [`answer`](Self::answer) does this by itself.
    pub async fn route(&self, turn: &TurnRequest) -> Option<Route> {
        let routing = self.routing_of(turn)?;
        Some(match self.choice(routing, turn) {
            Choice::Made(record) => self.open(routing, record, None),
            Choice::Ask(classifier) => {
                let asked = classify::ask(self, routing, classifier, turn);
                let (record, inference) = Box::pin(asked).await;
                self.open(routing, record, inference)
            }
        })
    }

    /// The same as far as it is known without asking anybody: where a classifier would be asked, the usual
    /// model, with a reason that says so.
    #[must_use]
    pub fn planned_route(&self, turn: &TurnRequest) -> Option<Route> {
        let routing = self.routing_of(turn)?;
        let record = match self.choice(routing, turn) {
            Choice::Made(record) => record,
            Choice::Ask(classifier) => {
                let classes: Vec<&str> = routing.classes.keys().map(String::as_str).collect();
                let (model, classes) = (&classifier.model, classes.join(", "));
                let reason = format!("{model} would be asked to choose among {classes}");
                RouteRecord::new(RouteBy::Usual, None, reason)
            }
        };
        Some(self.open(routing, record, None))
    }

    /// The routing of a turn whose model nobody has named.
    fn routing_of(&self, turn: &TurnRequest) -> Option<&Routing> {
        let is_named = turn.prompt.model != self.model;
        self.routing.as_deref().filter(|_| !is_named)
    }

    fn choice<'r>(&self, routing: &'r Routing, turn: &TurnRequest) -> Choice<'r> {
        let seen = rule::RoutedMessage::of(self, turn);
        let mut rules = routing.rules.iter();
        let held = rules.find_map(|rule| Some((rule, seen.reason(rule)?)));
        match (held, &routing.classifier) {
            (Some((rule, reason)), _) => {
                let mut record = RouteRecord::new(RouteBy::Rule, Some(rule.model.clone()), reason);
                record.name.clone_from(&rule.name);
                Choice::Made(record)
            }
            (None, Some(classifier)) => Choice::Ask(classifier),
            (None, None) => Choice::Made(RouteRecord::new(RouteBy::Usual, None, "no rule holds")),
        }
    }

    /// The engine of a choice. One that cannot be followed leaves the usual model.
    fn open(
        &self,
        routing: &Routing,
        record: RouteRecord,
        inference: Option<InferenceRecord>,
    ) -> Route {
        let opened = record.model.as_deref().map(|model| {
            let routed = self.routed_to(model, routing.declared);
            let routed = routed.map_err(|error| error.to_string())?;
            match routed.provider.as_ref().map(|provider| provider.check()) {
                Some(Err(error)) => Err(error.to_string()),
                _ => Ok(Box::new(routed)),
            }
        });
        let (record, engine) = match opened {
            Some(Ok(engine)) => (record, Some(engine)),
            None => (record, None),
            Some(Err(problem)) => {
                let reason = format!("{record} cannot be asked");
                let mut usual = RouteRecord::new(RouteBy::Usual, None, reason);
                usual.problem = Some(problem);
                (usual, None)
            }
        };
        tracing::debug!(event = "routed", route = %record, problem = record.problem);
        Route {
            record,
            inference,
            engine,
        }
    }
}

impl Route {
    /// The problem that kept another choice from being made.
    pub(crate) fn problem(&self) -> Option<Problem> {
        let problem = self.record.problem.as_ref()?;
        let (model, reason) = (&self.record.model, &self.record.reason);
        let model = model.as_deref().unwrap_or("the usual model");
        let message = format!("{reason}, so {model} answers: {problem}");
        Some(Problem::new("routing", ProblemKind::Failed, message))
    }
}
