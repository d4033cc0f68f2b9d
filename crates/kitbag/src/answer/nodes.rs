//! The loop of four nodes: Understand curates what the conversation is about, Think plans, Act executes the
//! plan with tools, Reply answers.
//!
//! Each node sees its own view of the layers. All that they have in common stands first in their requests,
//! so that one call reads from the provider's cache what another sent. Answers that a program reads are JSON;
//! one that cannot be read is asked for once more, then the node's fall-back holds, so that a turn ends with
//! a reply or with an error of the provider. What the turn said and did enters the layers when it ends.

mod act;
mod answers;
mod ask;
mod instructions;
mod limits;
mod register;

use std::sync::Arc;
use std::time::{Duration, Instant};

use kitbag_core::entity::{CurationDecision, Retention};
use kitbag_core::inject::ContextMessage;
use kitbag_core::message::Message;
use kitbag_core::neutral::one_line;
use kitbag_core::problem::{Problem, ProblemKind};
use kitbag_core::stored::ConversationContext;
use kitbag_core::tokens::{TokenCounter, Tokens};
use kitbag_core::view::TurnState;

use super::AnswerError;
use super::exchange::Exchange;
use super::rounds::Rounds;
use crate::engine::{Engine, Material, TurnPrompt, TurnRequest};
use crate::provider::{Reply, ReplyEvent, StopReason};
use crate::wire::Request;
use crate::words::{beginning, counted};
use answers::{Curated, Decision, Planned};
use ask::{Answered, view};
pub use limits::NodeLimits;

/// A node of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Understand,
    Think,
    Act,
    Reply,
}

impl Node {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Understand => "understand",
            Self::Think => "think",
            Self::Act => "act",
            Self::Reply => "reply",
        }
    }
}

/// A turn of the loop.
pub(super) struct Nodes {
    engine: Engine,
    limits: NodeLimits,
    material: Material,
    counter: Arc<dyn TokenCounter>,
    /// The room that each prompt leaves for tool steps.
    room: Tokens,
    /// The turn as its nodes have left it.
    pub(super) state: TurnState,
    /// The tool steps so far, each with its results.
    pub(super) steps: Vec<Message>,
    problems: Vec<Problem>,
    /// The words that the reply is given besides its view.
    for_reply: Vec<String>,
    /// True while the prompt of the first node was made and not sent yet.
    is_prepared: bool,
}

/// The longest goal, description or outcome, in characters.
const LONGEST: usize = 600;

impl Nodes {
    /// Gathers the material of a turn, and makes the prompt of its first node.
    pub(super) async fn begin(
        engine: &Engine,
        limits: NodeLimits,
        mut turn: TurnRequest,
    ) -> Result<(Box<Self>, TurnPrompt, Request), AnswerError> {
        let provider = engine.asked_provider()?;
        turn.prompt.settings.form = provider.dialect().form();
        turn.node = Some(view(engine, Node::Understand)?);
        if turn.memory.is_none() && turn.state.is_none() {
            turn.state = Some(TurnState::new(ConversationContext::new(), 1));
        }
        let (mut material, counter, room) = engine.material(turn).await?;
        let state = material.take_layers();
        let state = state.unwrap_or_else(|| TurnState::new(ConversationContext::new(), 1));
        let instructions = ContextMessage::system("kitbag.loop", instructions::all(limits.steps));
        material.inject(instructions);
        let nodes = Box::new(Self {
            engine: engine.clone(),
            limits,
            material,
            counter,
            room,
            state,
            steps: Vec::new(),
            problems: Vec::new(),
            for_reply: Vec::new(),
            is_prepared: true,
        });
        let (node, asked) = match nodes.has_entities() {
            true => (Node::Understand, instructions::understand()),
            false => (Node::Think, instructions::think()),
        };
        let epoch = nodes.material.epoch().cloned();
        let (prompt, request) = nodes.prompt(node, asked, epoch.as_ref())?;
        Ok((nodes, prompt, request))
    }

    pub(super) async fn run(
        &mut self,
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(), AnswerError> {
        let ended = self.run_all(rounds, exchange).await;
        // Also after an error: calls that were made have had their effect.
        self.keep_steps(rounds);
        if let Err(error) = &ended {
            if exchange.is_quiet {
                // The words of a node are no answer.
                exchange.reply = Reply::default();
            }
            self.block(&error.to_string());
        }
        ended
    }

    async fn run_all(
        &mut self,
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(), AnswerError> {
        match self.has_entities() {
            true => Box::pin(self.understand(rounds, exchange)).await?,
            false => exchange
                .stages
                .add("understand", "no entities yet", Duration::ZERO),
        }
        let plan = Box::pin(self.think(rounds, exchange)).await?;
        if self.state.this_turn.summary.think_decision == Decision::PlanDirect.as_str() {
            Box::pin(self.act(plan, rounds, exchange)).await?;
        }
        Box::pin(self.reply(rounds, exchange)).await
    }

    fn has_entities(&self) -> bool {
        let state = &self.state;
        let registry = &state.conversation.id_registry;
        let now = state.this_turn.summary.turn_num;
        let entities = kitbag_core::entity::get_entity_context(registry, now);
        entities.entities().next().is_some()
    }

    async fn understand(
        &mut self,
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(), AnswerError> {
        let begun = Instant::now();
        let asked = instructions::understand();
        let answer = self
            .read::<Curated>(Node::Understand, asked, rounds, exchange)
            .await?;
        let told = match answer {
            Answered::Read(curated) => self.curate(curated),
            Answered::Unreadable(_, problem) => self.fall_back(Node::Understand, &problem),
            Answered::Refused => self.fall_back(Node::Understand, REFUSED),
        };
        tell(exchange, Node::Understand, told, begun);
        Ok(())
    }

    fn curate(&mut self, curated: Curated) -> String {
        let registry = &mut self.state.conversation.id_registry;
        // Before curating, so that what the message is about counts as used in this turn.
        registry.touch_mentioned(&curated.referenced.join("\n"));
        let retain = curated.retain.into_iter();
        let applied = self.state.curate(&CurationDecision {
            retain_active: retain
                .map(|one| Retention::new(one.reference, beginning(&one.reason, LONGEST)))
                .collect(),
            demote: curated.demote,
            drop: curated.drop,
            clear_all: curated.clear_all,
            curation_summary: curated.summary.map(|text| beginning(&text, LONGEST)),
        });
        if !applied.unknown_refs.is_empty() {
            let refs = beginning(&applied.unknown_refs.join(", "), LONGEST);
            self.tell_problem(Node::Understand, format!("no entity has the ref {refs}"));
        }
        let done = applied.summary;
        format!(
            "{} kept, {} set aside, {} dropped",
            done.retained.len(),
            done.demoted.len(),
            done.dropped.len()
        )
    }

    async fn think(
        &mut self,
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<Planned, AnswerError> {
        let begun = Instant::now();
        let asked = instructions::think();
        let answer = self
            .read::<Planned>(Node::Think, asked, rounds, exchange)
            .await?;
        let (mut plan, told) = match answer {
            Answered::Read(plan) => (plan, None),
            // The message itself is the one step.
            Answered::Unreadable(_, problem) => {
                let told = self.fall_back(Node::Think, &problem);
                (Planned::of_message(), Some(told))
            }
            Answered::Refused => {
                self.block("the model refused to plan");
                let told = self.fall_back(Node::Think, REFUSED);
                (Planned::default(), Some(told))
            }
        };
        // A plan stands in every later prompt of the turn and in the summary after it.
        plan.shorten(LONGEST);
        let summary = &mut self.state.this_turn.summary;
        summary.think_decision = plan.decision.as_str().to_owned();
        summary.think_goal.clone_from(&plan.goal);
        // A plan that names a ref brings it back.
        let registry = &mut self.state.conversation.id_registry;
        registry.touch_mentioned(&plan.text());
        match plan.decision {
            Decision::PlanDirect => {}
            Decision::Propose => self.for_reply.push(instructions::proposed(&plan)),
            Decision::Clarify => self.for_reply.push(instructions::unclear(&plan.goal)),
        }
        let told = told.unwrap_or_else(|| {
            let steps = counted(plan.steps.len() as u64, "step", "steps");
            format!("{}, {steps}", plan.decision.as_str())
        });
        tell(exchange, Node::Think, told, begun);
        Ok(plan)
    }

    async fn reply(
        &mut self,
        rounds: &mut Rounds<'_>,
        exchange: &mut Exchange<'_, '_>,
    ) -> Result<(), AnswerError> {
        let asked = instructions::reply(&self.for_reply);
        self.ask(Node::Reply, asked, rounds, exchange).await?;
        let is_blank = |reply: &Reply| reply.text().trim().is_empty();
        if is_blank(&exchange.reply) && exchange.reply.stop != Some(StopReason::Refusal) {
            let problem = "it has no words for the user";
            if self.ask_again(problem, rounds, exchange).await? && is_blank(&exchange.reply) {
                self.tell_problem(Node::Reply, problem.to_owned());
            }
        }
        // Problems that are reported only now are in the ledger of the answer, though not in the archived one.
        let ledger = &mut rounds.prompt.composed.assembly.ledger;
        ledger.problems.append(&mut self.problems);
        Ok(())
    }

    fn fall_back(&mut self, node: Node, problem: &str) -> String {
        let problem = format!("its answer cannot be used: {problem}");
        self.tell_problem(node, problem.clone());
        problem
    }

    fn tell_problem(&mut self, node: Node, problem: String) {
        let problem = Problem::new(node.as_str(), ProblemKind::Failed, problem);
        self.problems.push(problem);
    }

    /// Notes why the turn could not be completed; the first reason counts.
    fn block(&mut self, reason: &str) {
        let blocked = &mut self.state.this_turn.summary.blocked_reason;
        if blocked.is_none() {
            let reason = beginning(reason, LONGEST);
            self.for_reply.push(instructions::blocked(&reason));
            *blocked = Some(reason);
        }
    }
}

const REFUSED: &str = "the model refused";

/// Tells how a node ended, in the record and to whoever waits.
fn tell(exchange: &mut Exchange<'_, '_>, node: Node, told: String, begun: Instant) {
    let time = begun.elapsed();
    exchange.stages.add(node.as_str(), &told, time);
    (exchange.show)(&ReplyEvent::Node {
        node: node.as_str(),
        told: one_line(&told).into_owned(),
        time,
    });
}
