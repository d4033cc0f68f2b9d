//! Asking a node: its prompt, its answer, and the second try where that is of no use.

use kitbag_core::assembly::Epoch;
use kitbag_core::inject::ContextMessage;
use kitbag_core::message::Message;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::role::{Role, Visibility};
use kitbag_core::view::View;

use super::answers::{self, NodeAnswer};
use super::{Node, Nodes, instructions};
use crate::answer::AnswerError;
use crate::answer::exchange::Exchange;
use crate::answer::rounds::Rounds;
use crate::engine::{Engine, TurnError, TurnPrompt};
use crate::provider::{Reply, ReplyEvent, StopReason};
use crate::wire::Request;

/// The answer of a node whose JSON is read.
pub(super) enum Answered<T> {
    Read(T),
    /// It cannot be read, also when it was asked for again: the words, and what is wrong with them.
    Unreadable(String, String),
    Refused,
}

impl Nodes {
    /// Asks a node, and reads its JSON. One that cannot be read is asked for again, once.
    pub(super) async fn read<T: NodeAnswer>(
        &mut self,
        node: Node,
        asked: String,
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<Answered<T>, AnswerError> {
        self.ask(node, asked, rounds, exchange).await?;
        let mut said = String::new();
        for is_last in [false, true] {
            let reply = &exchange.reply;
            if reply.stop == Some(StopReason::Refusal) {
                return Ok(Answered::Refused);
            }
            let text = reply.text();
            let problem = match answers::read::<T>(&text) {
                Ok(answer) => return Ok(Answered::Read(answer)),
                Err(problem) => problem,
            };
            if !text.trim().is_empty() {
                said = text;
            }
            if is_last || !self.ask_again(&problem, rounds, exchange).await? {
                return Ok(Answered::Unreadable(said, problem));
            }
        }
        Ok(Answered::Refused)
    }

    /// Asks a node for its answer; Act may use tools before it gives one.
    pub(super) async fn ask(
        &mut self,
        node: Node,
        asked: String,
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(), AnswerError> {
        self.keep_steps(rounds);
        exchange.reply = Reply::default();
        exchange.is_quiet = node != Node::Reply;
        if !std::mem::take(&mut self.is_prepared) {
            let assembly = &rounds.prompt.composed.assembly;
            // The reply reports a limit that was reached, and the faults of extensions.
            let is_of_turn = |one: &&Problem| {
                let is_limit = one.source == "tools" && one.kind == ProblemKind::LeftOut;
                is_limit || one.source.starts_with("extension ")
            };
            let told = assembly.ledger.problems.iter().filter(is_of_turn);
            self.problems.extend(told.cloned());
            let epoch = assembly.epoch.clone();
            let (prompt, request) = self.prompt(node, asked, Some(&epoch))?;
            let tokens = prompt.composed.assembly.tokens.0;
            // Nothing that borrows the words may outlive this line: it would keep the turn on its thread.
            exchange
                .stages
                .end("prompt", format_args!("{tokens} tokens"));
            rounds.go_on_with(prompt, request);
            rounds.begin_step(exchange).await?;
            self.inject(rounds)?;
        }
        rounds.purpose = (node != Node::Reply).then(|| node.as_str());
        (exchange.show)(&ReplyEvent::Typing);
        self.send(node, rounds, exchange).await?;
        match node {
            // The reply is whole, whoever ends the run now.
            Node::Reply => Ok(()),
            _ => rounds.check_ended(),
        }
    }

    /// Puts what extensions inject behind the prompt of a node, if there is room.
    fn inject(&mut self, rounds: &mut Rounds<'_>) -> Result<(), AnswerError> {
        if !rounds.host.has_pending() {
            return Ok(());
        }
        match rounds.compose(None, &self.counter) {
            Err(AnswerError::Turn(TurnError::Assemble(error))) => {
                let problem = format!("a message has to wait: {error}");
                let problem = Problem::new("extension messages", ProblemKind::LeftOut, problem);
                self.problems.push(problem);
                Ok(())
            }
            other => other,
        }
    }

    async fn send(
        &self,
        node: Node,
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(), AnswerError> {
        match node {
            Node::Act => {
                rounds.refs = Some(self.state.conversation.id_registry.clone());
                Box::pin(rounds.run(exchange)).await
            }
            _ => rounds.infer_alone(exchange).await,
        }
    }

    /// Asks again for an answer that can be used, and tells if there was room for that. No tool is called
    /// any more.
    pub(super) async fn ask_again(
        &self,
        problem: &str,
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<bool, AnswerError> {
        let reply = std::mem::take(&mut exchange.reply);
        let text = reply.text();
        let said = match text.trim() {
            "" => "(no words)",
            _ => &text,
        };
        rounds.begin_step(exchange).await?;
        let before = rounds.steps.len();
        rounds.steps.push(Message::assistant(said));
        rounds
            .steps
            .push(Message::user(instructions::again(problem)));
        match rounds.compose(None, &self.counter) {
            Ok(()) => {}
            // Without room for another try, the first one stands.
            Err(AnswerError::Turn(TurnError::Assemble(_))) => {
                rounds.steps.truncate(before);
                exchange.reply = reply;
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        exchange.stages.end("prompt", "once more");
        (exchange.show)(&ReplyEvent::Typing);
        rounds.infer_alone(exchange).await?;
        rounds.check_ended()?;
        Ok(true)
    }

    pub(super) fn prompt(
        &self,
        node: Node,
        asked: String,
        previous: Option<&Epoch>,
    ) -> Result<(TurnPrompt, Request), AnswerError> {
        let view = view(&self.engine, node)?;
        let asked = ContextMessage::suffix_system("kitbag.node", asked);
        let seen = (&view, &self.state);
        let counter = self.counter.as_ref();
        let mut prompt =
            self.material
                .prompt_of_node(seen, asked, (previous, self.room), counter)?;
        let request = prompt.make_request().ok_or(AnswerError::NoRequest)?;
        let request = self.engine.asked_provider()?.prepared(request);
        Ok((prompt, request))
    }

    /// Takes the tool steps of a node, without what was said when it was asked again.
    pub(super) fn keep_steps(&mut self, rounds: &mut Rounds<'_>) {
        let steps = std::mem::take(&mut rounds.steps).into_iter();
        let is_step = |step: &Message| step.role == Role::Tool || !step.calls().is_empty();
        // What Act says between its calls is for the other nodes, and for nobody else.
        let steps = steps.filter(is_step);
        let steps = steps.map(|step| step.with_visibility(Visibility::Internal));
        self.steps.extend(steps);
    }
}

/// The view of a node, as the project has it.
pub(super) fn view(engine: &Engine, node: Node) -> Result<View, AnswerError> {
    let name = node.as_str();
    let view = match engine.project() {
        Some(project) => project.config.node(name),
        None => View::builtin(name),
    };
    view.cloned().ok_or(AnswerError::NoView { node: name })
}
